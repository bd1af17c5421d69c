"""The three sets that are downloaded: files of the published form, served on this machine."""

import bz2
import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from unseen.datasets import available_datasets, load_dataset
from unseen.datasets.download import REMOTES, obtain

RUNS = [f"OpportunityUCIDataset/dataset/S1-ADL{run}.dat" for run in range(1, 6)]
CODES = {"stand": 1, "walk": 2, "sit": 4, "lie": 5}
ROWS_PER_RUN = 130


def zipped(members: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return stream.getvalue()


def opportunity_run(run: int) -> str:
    """250 columns: a clock, 242 sensors, 7 labels. A sensor says 1000 x column + row's number."""
    codes = np.repeat([0, *CODES.values()], ROWS_PER_RUN)
    table = 1000 * np.arange(250) + np.arange(len(codes))[:, None] + 1e6 * run
    table[:, 243] = codes
    lines = [[f"{value:.0f}" for value in row] for row in table]
    lines[ROWS_PER_RUN][37] = "NaN"  # a row of the first class without a reading that is used
    lines[ROWS_PER_RUN + 1][46] = "NaN"  # and one without a reading that is not
    return "\n".join(" ".join(line) for line in lines) + "\n"


@pytest.fixture
def publish(serve, monkeypatch):
    """Serve a file as the one that a set is downloaded from."""

    def start(name: str, content: bytes, file_name: str, length: int | None = None) -> None:
        url = serve(content, file_name, length)
        monkeypatch.setitem(REMOTES, name, replace(REMOTES[name], url=url))

    return start


@pytest.fixture(scope="module")
def opportunity_zip() -> bytes:
    return zipped({name: opportunity_run(run) for run, name in enumerate(RUNS)})


def test_opportunity_takes_even_rows_of_the_right_columns(publish, directory, opportunity_zip):
    publish("opportunity", opportunity_zip, "opportunity.zip")
    rows = obtain("opportunity", directory)
    assert dict(zip(*np.unique(rows.y, return_counts=True), strict=True)) == {
        "lie": 476,
        "sit": 600,
        "stand": 600,
        "walk": 600,
    }
    # The thousands of a value say which column it came from, counted from 0.
    columns = (rows.X[0] % 1e6 // 1000).astype(int).tolist()
    units = [first + i for first in (37, 50, 63, 76, 89) for i in range(9)]
    assert columns == [*units, *range(102, 134)]
    # The last digits say which row it was, and so of which class.
    numbers = rows.X[:, 0] % 1000
    for place, label in enumerate(CODES, start=1):
        assert set(numbers[rows.y == label] // ROWS_PER_RUN) == {place}
    # Every run is used, and the row without a reading is not.
    assert set(rows.X[:, 0] // 1e6) == set(range(5))
    assert ROWS_PER_RUN not in numbers
    assert ROWS_PER_RUN + 1 in numbers


def test_a_download_is_kept_checked_and_used_again(
    publish, directory, opportunity_zip, monkeypatch, unreachable
) -> None:
    name = "opportunity"
    publish(name, opportunity_zip, "opportunity.zip")
    assert name not in available_datasets()
    first = load_dataset(name)
    assert name in available_datasets()
    kept = {path.name for path in directory.iterdir()}
    assert kept == {"opportunity.npz", "opportunity.npz.sha256", "opportunity.zip.sha256"}

    monkeypatch.setitem(REMOTES, name, replace(REMOTES[name], url=unreachable))
    np.testing.assert_array_equal(load_dataset(name).X, first.X)

    file = directory / "opportunity.npz"
    with np.load(file) as arrays:
        np.savez(file, X=arrays["X"] + 1, y=arrays["y"], feature_names=arrays["feature_names"])
    with pytest.raises(ValueError, match=r"opportunity\.npz must have the sha256 noted in"):
        load_dataset(name)


def test_a_publishers_file_that_changed_is_noticed(publish, directory, opportunity_zip) -> None:
    publish("opportunity", opportunity_zip, "opportunity.zip")
    obtain("opportunity", directory)
    publish("opportunity", opportunity_zip + b"more", "opportunity.zip")
    with pytest.raises(ValueError, match="must have the sha256"):
        obtain("opportunity", directory)


def test_a_file_that_the_user_brought_is_read_and_left_alone(
    directory, opportunity_zip, monkeypatch, unreachable
) -> None:
    monkeypatch.setitem(REMOTES, "opportunity", replace(REMOTES["opportunity"], url=unreachable))
    directory.mkdir()
    brought = directory / "file.bin"
    brought.write_bytes(opportunity_zip)
    assert load_dataset("opportunity").X.shape == (2276, 77)
    assert brought.read_bytes() == opportunity_zip


def test_offline_says_what_to_put_where(directory, monkeypatch, unreachable) -> None:
    monkeypatch.setitem(REMOTES, "australian", replace(REMOTES["australian"], url=unreachable))
    with pytest.raises(ConnectionError) as caught:
        load_dataset("australian")
    message = str(caught.value)
    assert "\n" not in message
    for part in (unreachable, "Put file.bin", "or australian.npz", str(directory), "UNSEEN_DATA"):
        assert part in message
    assert list(directory.iterdir()) == []


def test_a_transfer_that_breaks_off_leaves_nothing(publish, directory, opportunity_zip) -> None:
    publish("opportunity", opportunity_zip, "opportunity.zip", length=10 * len(opportunity_zip))
    with pytest.raises(ConnectionError, match=r"that failed: .*opportunity\.zip cannot be read: "):
        obtain("opportunity", directory)
    assert list(directory.iterdir()) == []


def test_processes_that_start_together_do_not_disturb_each_other(
    publish, directory, opportunity_zip
) -> None:
    publish("opportunity", opportunity_zip, "opportunity.zip")
    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(obtain, "opportunity", directory) for _ in range(3)]
        first, *others = [job.result() for job in jobs]
    for other in others:
        np.testing.assert_array_equal(first.X, other.X)
    assert load_dataset("opportunity").X.shape == first.X.shape


def sensit_file(n_rows: int = 78_823, largest: int = 3) -> bytes:
    """One number per row, its place, is enough: the form leaves zeros out."""
    labels = [largest if row % 2 else 1 + row % 3 for row in range(n_rows)]
    lines = (f"{label} {1 + row % 100}:{row + 1}" for row, label in enumerate(labels))
    return bz2.compress("\n".join(lines).encode() + b"\n", 1)


def test_sensit_takes_2000_even_rows(publish, directory) -> None:
    publish("sensit", sensit_file(), "combined.bz2")
    rows = obtain("sensit", directory)
    assert rows.X.shape == (2000, 100)
    places = rows.X.sum(axis=1) - 1
    assert set(np.diff(places)) == {39, 40}
    np.testing.assert_array_equal(rows.X.argmax(axis=1), places % 100)
    np.testing.assert_array_equal(rows.y, np.where(places % 2, 3, 1 + places % 3))


def australian_dat(n_rows: int = 690) -> str:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (n_rows, 14))
    labels = (np.arange(n_rows) < 307).astype(int)
    rows = np.column_stack([values, labels])
    return "\n".join(" ".join(map(str, row)) for row in rows) + "\n"


WRONG = {
    "a part": ("sensit", sensit_file(300), "must hold (78823, 100) rows and features; got (300"),
    "other classes": ("sensit", sensit_file(largest=1), "class 3 must be the largest"),
    "no bz2": ("sensit", b"1 1:2\n", "must be the published file of sensit"),
    "other values": (
        "australian",
        zipped({"australian.dat": australian_dat()}),
        "must hold the published values of australian",
    ),
    "fewer rows": (
        "australian",
        zipped({"australian.dat": australian_dat(600)}),
        "must hold 690 rows of 14",
    ),
    "another file": (
        "australian",
        zipped({"german.dat": "1 2"}),
        "it lacks ['australian.dat']",
    ),
    "text": (
        "australian",
        zipped({"australian.dat": "<html>\n"}),
        "could not convert string '<html>'",
    ),
    "no zip": ("australian", b"<html>not here</html>", "not a zip file"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_file_is_refused_and_not_kept(publish, directory, fault) -> None:
    name, content, message = WRONG[fault]
    file_name = {"sensit": "combined.bz2", "australian": "australian.zip"}[name]
    publish(name, content, file_name)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        obtain(name, directory)
    assert file_name in str(caught.value)
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("name", REMOTES)
def test_addresses_are_secure_and_name_a_file(name) -> None:
    remote = REMOTES[name]
    assert remote.url.startswith("https://")
    assert remote.file_name.endswith((".zip", ".bz2"))
