"""Some of very many rows: when a part is enough, and which classes it is drawn by."""

import numpy as np

from unseen.samples.draws import _label_codes, enough_places


def test_labels_count_as_text_whatever_their_type() -> None:
    assert _label_codes(np.array([10, 9, 10])).tolist() == [0, 1, 0]
    assert _label_codes(np.array([10, 9, 10], dtype=object)).tolist() == [0, 1, 0]


def test_a_part_of_very_many_rows_is_enough() -> None:
    assert enough_places(40_000) == slice(None)
    places = enough_places(60_000)
    assert len(places) == 50_000
    assert np.array_equal(places, enough_places(60_000))
