"""Files of the user come first, and a file that is wrong says so in one line."""

import re
from pathlib import Path

import numpy as np
import pytest

from unseen.datasets import available_datasets, load_dataset
from unseen.datasets.catalogue import CATALOGUE


def write(directory: Path, name: str, **arrays: np.ndarray) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / f"{name}.npz"
    np.savez(path, **arrays)
    return path


def arrays_of(name: str, **changes: np.ndarray) -> dict[str, np.ndarray]:
    """What a file of that set must hold, with other values than the real ones."""
    facts = CATALOGUE[name]
    rng = np.random.default_rng(0)
    counts = facts.counts or (500, 500, 1000)
    arrays = {
        "X": rng.normal(size=(facts.n_rows, facts.n_features)).astype(np.float32),
        "y": np.repeat(facts.classes, counts),
        "feature_names": np.array([f"f{i}" for i in range(facts.n_features)]),
    }
    return {**arrays, **changes}


@pytest.mark.parametrize("name", ["thyroid", "waveform", "image", "sensit", "opportunity"])
def test_a_file_of_the_user_is_read_for_every_name(directory, name) -> None:
    arrays = arrays_of(name)
    write(directory, name, **arrays)
    assert name in available_datasets()
    data = load_dataset(name)
    np.testing.assert_array_equal(data.X, arrays["X"])
    np.testing.assert_array_equal(data.y, arrays["y"])
    assert data.X.dtype == np.float64
    assert data.feature_names == tuple(arrays["feature_names"])


def test_only_the_training_part_of_a_split_is_kept(directory) -> None:
    part = arrays_of("dna")
    both = {
        "X": np.vstack([part["X"], part["X"][:300] + 100]),
        "y": np.concatenate([part["y"], part["y"][:300]]),
        "feature_names": part["feature_names"],
        "split": np.repeat([0, 1], [2000, 300]),
    }
    write(directory, "dna", **both)
    np.testing.assert_array_equal(load_dataset("dna").X, part["X"])


NAN = np.full((215, 5), np.nan)
WRONG = {
    "rows": ({"X": np.ones((300, 5)), "y": np.ones(300, int)}, "must hold 215 rows of 5 features"),
    "flat": ({"X": np.ones(215)}, "X must be a 2-d array of numbers; got 1-d"),
    "text": ({"X": np.full((215, 5), "a")}, "X must be a 2-d array of numbers; got 2-d of <U1"),
    "nan": ({"X": NAN}, "X must be finite; got 1075 other values"),
    "short y": ({"y": np.ones(3, int)}, "y must hold 215 whole numbers or texts"),
    "float y": ({"y": np.ones(215)}, "y must hold 215 whole numbers or texts"),
    "classes": ({"y": np.repeat([0, 1], [150, 65])}, "must hold the classes [-1, 1]; got [0, 1]"),
    "counts": ({"y": np.repeat([-1, 1], [65, 150])}, "must hold [150, 65] rows of the classes"),
    "names": ({"feature_names": np.array(["a"])}, "feature_names must hold 5 names"),
    "split": ({"split": np.zeros(3)}, "split must hold 215 numbers, one per row of X"),
    "objects": ({"y": np.array([None] * 215)}, "must be an NPZ file of plain arrays"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_file_is_refused_with_its_name_and_the_rule(directory, fault) -> None:
    changes, message = WRONG[fault]
    path = write(directory, "thyroid", **arrays_of("thyroid", **changes))
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load_dataset("thyroid")
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_missing_arrays_are_named(directory) -> None:
    write(directory, "thyroid", X=np.ones((215, 5)))
    with pytest.raises(ValueError, match=r"it lacks \['feature_names', 'y'\]\."):
        load_dataset("thyroid")


def lone_array(path: Path) -> None:
    with path.open("wb") as stream:
        np.save(stream, np.ones(3))


def cut_short(path: Path) -> None:
    write(path.parent, "thyroid", **arrays_of("thyroid"))
    path.write_bytes(path.read_bytes()[:-400])


def flipped(path: Path) -> None:
    write(path.parent, "thyroid", **arrays_of("thyroid"))
    content = bytearray(path.read_bytes())
    content[300] ^= 255
    path.write_bytes(content)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("age,sex\n1,2\n"),
    "lone array": lone_array,
    "cut short": cut_short,
    "one byte flipped": flipped,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_corrupt_file_is_refused_in_one_line(directory, damage) -> None:
    directory.mkdir()
    path = directory / "thyroid.npz"
    DAMAGE[damage](path)
    with pytest.raises(ValueError, match="must be an NPZ file of plain arrays; got: ") as caught:
        load_dataset("thyroid")
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
