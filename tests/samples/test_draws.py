"""Some of very many rows: when a part is enough, and which classes it is drawn by."""

import numpy as np

from unseen.samples.draws import draw_by_class, enough_places


def test_objects_count_as_text_in_a_draw_by_class() -> None:
    labels = np.array([1, "1", 2, 2.5, None] * 20, dtype=object)
    places = draw_by_class(labels, 30, np.random.default_rng(0))
    drawn = labels[places].astype(str).tolist()
    assert {one: drawn.count(one) for one in set(drawn)} == {"1": 7, "2": 7, "2.5": 7, "None": 7}


def test_small_classes_are_drawn_whole() -> None:
    labels = np.repeat([10, 9, 8], [50, 40, 3])
    places = draw_by_class(labels, 23, np.random.default_rng(0))
    assert np.bincount(labels[places])[8:].tolist() == [3, 10, 10]
    as_text = draw_by_class(labels.astype(object), 23, np.random.default_rng(0))
    assert np.array_equal(as_text, places)


def test_a_part_of_very_many_rows_is_enough() -> None:
    assert enough_places(40_000) == slice(None)
    places = enough_places(60_000)
    assert len(places) == 50_000
    assert np.array_equal(places, enough_places(60_000))
