"""Each set has the rows of the paper, and values that are known from elsewhere."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from unseen.datasets import Dataset, available_datasets, dataset_names, load_dataset
from unseen.datasets.catalogue import CATALOGUE, Rows, data_directory, fingerprint

DOWNLOADED = {"australian", "sensit", "opportunity"}
AT_HAND = [name for name in CATALOGUE if name not in DOWNLOADED]
# Training and test counts in the paper's last table.
PAPER_SIZES = {
    "australian": (350, 153),
    "banana": (2677, 1188),
    "breast_cancer": (140, 41),
    "diabetes": (389, 134),
    "german": (506, 150),
    "image": (1167, 495),
    "ionosphere": (178, 63),
    "ringnorm": (3738, 1832),
    "saheart": (234, 80),
    "splice": (1605, 763),
    "thyroid": (109, 33),
    "twonorm": (3738, 1849),
    "waveform": (2526, 824),
    "dna": (1011, 474),
    "opportunity": (1150, 300),
    "satimage": (2241, 536),
    "segment": (1167, 165),
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, Dataset]:
    return {name: load_dataset(name) for name in AT_HAND}


def test_names_are_the_papers_eighteen() -> None:
    names = dataset_names()
    assert len(names) == 18
    assert [CATALOGUE[name].classes for name in names[:13]] == [(-1, 1)] * 13
    assert names[13:] == ("sensit", "dna", "opportunity", "satimage", "segment")
    assert available_datasets() == tuple(AT_HAND)


@pytest.mark.parametrize("name", PAPER_SIZES)
def test_class_counts_give_the_papers_training_and_test_sizes(name) -> None:
    facts = CATALOGUE[name]
    counts = dict(zip(facts.classes, facts.counts, strict=True))
    sizes = (counts.pop(facts.unobserved), sum(counts.values()))
    training = [-(-505 * size // 1000) for size in sizes]
    pool = min(size - trained for size, trained in zip(sizes, training, strict=True))
    assert (sum(training), -(-100 * pool // 99)) == PAPER_SIZES[name]


@pytest.mark.parametrize("name", AT_HAND)
def test_every_set_at_hand_is_what_the_catalogue_says(loaded, name) -> None:
    data, facts = loaded[name], CATALOGUE[name]
    assert data.X.shape == (facts.n_rows, facts.n_features)
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.class_counts == dict(zip(facts.classes, facts.counts, strict=True))
    assert len(set(data.feature_names)) == facts.n_features
    assert data.class_counts[data.unobserved] == max(facts.counts) or facts.unobserved == 1
    if facts.fingerprint:
        # Whatever the order of the rows.
        backwards = Rows(data.X[::-1], data.y[::-1], data.feature_names)
        assert fingerprint(backwards) == facts.fingerprint


def test_a_set_cannot_be_changed_and_prints_shortly(loaded) -> None:
    data = loaded["saheart"]
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 1
    assert repr(data) == "Dataset('saheart': 462 rows, 9 features; -1: 302, 1: 160)"


@pytest.mark.parametrize("name", ["twonorm", "ringnorm", "waveform"])
def test_generated_sets_are_the_same_each_time(loaded, name) -> None:
    assert_array_equal(load_dataset(name).X, loaded[name].X)


def test_generated_classes_lie_where_those_of_the_benchmark_do(loaded) -> None:
    two, ring, wave = (loaded[name] for name in ("twonorm", "ringnorm", "waveform"))
    assert two.X[two.y == 1].mean() == pytest.approx(2 / np.sqrt(20), abs=0.02)
    assert ring.X[ring.y == 1].var() == pytest.approx(4, abs=0.1)
    assert ring.X[ring.y == -1].var() == pytest.approx(1, abs=0.03)
    # Class 1 of waveform is the one without the last triangle.
    assert abs(wave.X[wave.y == 1][:, 17:].mean()) < 0.05


# Means that textbooks and the sources' own descriptions give.
MEANS = {
    "diabetes": {
        "pregnant": 3.845,
        "glucose": 120.895,
        "pressure": 69.105,
        "triceps": 20.536,
        "insulin": 79.799,
        "mass": 31.993,
        "pedigree": 0.4719,
        "age": 33.241,
    },
    "german": {"duration": 20.903, "credit_amount": 3271.258, "age": 35.546},
    "saheart": {"sbp": 138.327, "tobacco": 3.6356, "ldl": 4.7403, "age": 42.816},
}


@pytest.mark.parametrize("name", MEANS)
def test_means_are_those_published(loaded, name) -> None:
    data = loaded[name]
    for feature, mean in MEANS[name].items():
        found = data.X[:, data.feature_names.index(feature)].mean()
        assert found == pytest.approx(mean, rel=2e-4), feature


FIRST_ROWS = {
    "banana": ([1.14, -0.114], -1),
    "breast_cancer": ([3, 3, 5, 1, 2, 1, 2, 2, 2], -1),
    "diabetes": ([6, 148, 72, 35, 0, 33.6, 0.627, 50], 1),
    "german": ([11, 6, 34, 43, 1169, 65, 75, 4, 93, 101, 4, 121, 67, 143, 152], -1),
    "ionosphere": ([1, 0, 0.99539, -0.05889, 0.85243, 0.02306, 0.83398, -0.37708], 1),
    "saheart": ([160, 12, 5.73, 23.11, 1, 49, 25.3, 97.2, 52], 1),
    "satimage": ([92, 115, 120, 94, 84, 102, 106, 79, 84, 102, 102, 83], 3),
    "thyroid": ([107, 10.1, 2.2, 0.9, 2.7], -1),
}


@pytest.mark.parametrize("name", FIRST_ROWS)
def test_first_rows_are_those_of_the_source(loaded, name) -> None:
    values, label = FIRST_ROWS[name]
    assert loaded[name].X[0, : len(values)].tolist() == values
    assert loaded[name].y[0] == label


def test_segment_obeys_the_formulas_of_its_features(loaded) -> None:
    segment = loaded["segment"]
    column = dict(zip(segment.feature_names, segment.X.T, strict=True))
    red, green, blue = (column[f"raw{colour}-mean"] for colour in ("red", "green", "blue"))
    assert_allclose(column["intensity-mean"], (red + green + blue) / 3, atol=1e-4)
    assert_allclose(column["exred-mean"], 2 * red - green - blue, atol=1e-4)
    assert_allclose(column["exgreen-mean"], 2 * green - red - blue, atol=1e-4)
    # A mean of maxima is at least the maximum of the means.
    assert (column["value-mean"] >= np.max([red, green, blue], axis=0) - 1e-4).all()
    assert set(column["region-pixel-count"]) == {9.0}
    # The sky is bright and at the top.
    sky = segment.y == "sky"
    assert column["intensity-mean"][sky].min() > column["intensity-mean"][~sky].mean()


def test_image_is_segment_in_two_groups(loaded) -> None:
    image, segment = loaded["image"], loaded["segment"]
    assert "region-pixel-count" not in image.feature_names
    assert (image.X.std(axis=0) > 0).all()
    assert set(segment.y[image.y == 1]) == {"brickface", "sky", "foliage", "path"}
    assert set(segment.y[image.y == -1]) == {"cement", "window", "grass"}


def test_splice_has_the_bases_of_a_junction(loaded) -> None:
    splice = loaded["splice"]
    assert set(splice.X.ravel()) == {1, 2, 3, 4}
    after = splice.X[:, splice.feature_names.index("pos+1")]
    before = splice.X[:, splice.feature_names.index("pos-1")]
    # An exon-intron boundary is followed by GT, an intron-exon boundary comes after AG: so in
    # nearly every junction one neighbour is a G.
    junction = splice.y == 1
    either = (after == 2) | (before == 2)
    assert either[junction].mean() > 0.99
    assert either[~junction].mean() < 0.6


def test_dna_has_one_indicator_at_most_per_base(loaded) -> None:
    dna = loaded["dna"]
    assert set(dna.X.ravel()) == {0, 1}
    assert dna.X.reshape(2000, 60, 3).sum(axis=2).max() == 1
    assert available_datasets().index("dna") > available_datasets().index("waveform")


def test_codes_of_the_nominal_sets_stay_within_their_ranges(loaded) -> None:
    assert loaded["breast_cancer"].X.min(axis=0).tolist() == [1] * 9
    assert loaded["breast_cancer"].X.max(axis=0).tolist() == [6, 3, 11, 9, 2, 3, 2, 5, 2]
    german = loaded["german"]
    purpose = set(german.X[:, german.feature_names.index("purpose")])
    assert purpose == {40, 41, 42, 43, 44, 45, 46, 48, 49, 410}
    ionosphere = loaded["ionosphere"].X
    assert abs(ionosphere).max() == 1
    assert not ionosphere[:, 1].any()
    assert set(loaded["satimage"].X.ravel()) <= set(range(27, 158))


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"name must be one of australian, .*; got 'iris'\."):
        load_dataset("iris")


def test_data_directory_follows_the_environment(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path / "mine"))
    assert data_directory() == tmp_path / "mine"
    monkeypatch.setenv("UNSEEN_DATA", "~/mine")
    assert data_directory() == Path.home() / "mine"
    monkeypatch.delenv("UNSEEN_DATA")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_directory() == tmp_path / "unseen"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert data_directory() == Path.home() / ".cache" / "unseen"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_directory() == Path.home() / "Library" / "Caches" / "unseen"
