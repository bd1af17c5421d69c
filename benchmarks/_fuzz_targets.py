"""What `fuzz.py` tries: good inputs of every kind, and the function that takes one."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

# Thousands of inputs of each kind, of a million. Workbooks and cells get few: they take long.
WEIGHTS = {
    "csv": 40, "tsv": 20, "csv.gz": 30, "jsonl": 60, "parquet": 100, "feather": 80, "npy": 100,
    "npz": 40, "arff": 60, "xlsx": 2, "h5ad": 1, "load": 80, "fail_if": 199, "sheet.csv": 30,
    "sheet.json": 118, "picture": 40,
}  # fmt: skip
TARGETS = tuple(WEIGHTS)
# HDF5 loops on one damaged file of fifty.
CELLS_SECONDS = 5.0
# Kinds that are zip archives, and the member that steers the reader.
ZIPPED = {"load": "schema.json", "npz": "size.npy", "xlsx": "xl/worksheets/sheet1.xml"}
SUFFIXES = {"load": "skops"}


def suffix(target: str) -> str:
    """How files of a kind end."""
    return SUFFIXES.get(target, target)


# --- good inputs -----------------------------------------------------------------------------


def table(n_rows: int = 45) -> Any:
    """Rows of three classes, with numbers, gaps, words, dates and lists."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(0)
    rows = range(n_rows)
    return pa.table(
        {
            "y": [["ant", "bee", "wasp"][i % 3] for i in rows],
            "size": rng.normal(size=n_rows).round(3),
            "legs": pa.array([None if i % 7 == 0 else i % 5 for i in rows], pa.int32()),
            "colour": pa.array([["red", "blue", None][i % 3] for i in rows]),
            "day": pa.array([18_000 + i for i in rows], pa.date32()),
            "spots": pa.array([[[1, 2], [], None][i % 3] for i in rows]),
        }
    )


def seeds(target: str, folder: Path) -> list[bytes]:
    """Good inputs of a kind, as bytes."""
    own = {
        "fail_if": _conditions, "load": _saved, "npy": _npy, "npz": _npz, "arff": _arff,
        "xlsx": _xlsx, "h5ad": _h5ad, "sheet.csv": _sheet_csv, "sheet.json": _sheet_json,
        "picture": _pictures,
    }  # fmt: skip
    if target in own:
        return own[target](folder)
    return _tables(target, folder)


def _tables(target: str, folder: Path) -> list[bytes]:
    from unseen.tables import RowWriter

    file, found = folder / f"seed.{target}", []
    # A large input keeps the readers busy with rows; a small one lets a change hit more often.
    for rows in (table(), table(12)):
        with RowWriter(file) as writer:
            writer.write(rows if target == "jsonl" else rows.drop_columns(["spots"]))
        found.append(file.read_bytes())
    if target == "csv":
        text = found[1].decode()
        found += [text.replace(",", ";").encode("latin-1"), text.encode("utf-16")]
    if target == "csv.gz":
        found += [gzip.compress(gzip.decompress(found[1]), 0)]
    return found + (_feathers(folder) if target == "feather" else [])


def _feathers(folder: Path) -> list[bytes]:
    import pyarrow as pa
    import pyarrow.feather as feather

    plain, file, found = table().drop_columns(["spots"]), folder / "seed.feather", []
    words = plain.set_column(0, "y", plain["y"].dictionary_encode())
    for one in (plain, words):
        feather.write_feather(one, file, compression="uncompressed")
        found.append(file.read_bytes())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, words.schema) as stream:
        stream.write_table(words)
    return [*found, sink.getvalue().to_pybytes()]


def _arrays() -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    return {
        "size": rng.normal(size=(30, 2)),
        "legs": np.arange(30) % 5,
        "y": np.array(["ant", "bee", "wasp"] * 10),
    }


def _npy(folder: Path) -> list[bytes]:
    import numpy as np

    found = []
    arrays = [*_arrays().values(), np.asfortranarray(_arrays()["size"].astype(">f4"))]
    for array in [*arrays, np.array([b"ant", b"bee"] * 15)]:
        stream = io.BytesIO()
        np.save(stream, array)
        found.append(stream.getvalue())
    return found


def _npz(folder: Path) -> list[bytes]:
    import numpy as np

    found = []
    for save in (np.savez, np.savez_compressed):
        stream = io.BytesIO()
        save(stream, **_arrays())
        found.append(stream.getvalue())
    return found


def _arff(folder: Path) -> list[bytes]:
    rows = "".join(f"{['ant', 'bee'][i % 2]},{i / 7:.3f},{i % 3}\n" for i in range(24))
    head = "@RELATION r\n@ATTRIBUTE y {ant,bee}\n@ATTRIBUTE size NUMERIC\n@ATTRIBUTE legs INTEGER\n"
    return [f"{head}@DATA\n{rows}".encode(), f"% a remark\n{head}@DATA\n{rows}?,?,?\n".encode()]


def _xlsx(folder: Path) -> list[bytes]:
    import openpyxl

    rows = table(12).drop_columns(["spots"])
    book = openpyxl.Workbook()
    book.active.append(rows.column_names)
    for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return [stream.getvalue()]


def _h5ad(folder: Path) -> list[bytes]:
    import anndata
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    names = pd.Index([f"c{i}" for i in range(20)], dtype=object)
    kinds = pd.Categorical.from_codes([0, 1] * 10, pd.Index(["ant", "bee"], dtype=object))
    obs = pd.DataFrame({"y": kinds, "n": np.arange(20.0)}, names)
    var = pd.DataFrame(index=pd.Index(["g0", "g1"], dtype=object))
    X, axes = rng.normal(size=(20, 2)), {"X_pca": rng.normal(size=(20, 2))}
    cells = anndata.AnnData(X, obs, var, obsm=axes)
    cells.write_h5ad(folder / "seed.h5ad")
    return [(folder / "seed.h5ad").read_bytes()]


def _saved(folder: Path) -> list[bytes]:
    import numpy as np
    from scipy import sparse

    import unseen

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), ["a", "b"] * 15
    fitted = [
        unseen.MPEIncomplete(random_state=0).fit(X, y),
        unseen.MPEIncomplete(random_state=0).fit(sparse.csr_array(X), y),
        {"shares": [0.5, 0.5], "classes": ("a", 1)},
    ]
    found = []
    for one in fitted:
        unseen.save(one, folder / "seed.skops")
        found.append((folder / "seed.skops").read_bytes())
    return found


def _conditions(folder: Path) -> list[bytes]:
    texts = ["unseen.low > 0.05", "cat <= 5%", "drift.verdict == moved", " a.b.high>=1e-3 "]
    texts += ["unseen.must(5) > 0.02", "unseen.must<.1", "drift.verdict!=still"]
    return [text.encode() for text in texts]


def _sheet_csv(folder: Path) -> list[bytes]:
    from unseen.study.sheets import row_checks

    checks = row_checks(_new_rows().table)
    head = "draw,row,group,guess,novelty,probability,label,check,size"
    lines = [f"{i + 1},{i + 1},1,unseen,.9,.5,bee,{checks[i]},1.5" for i in range(8)]
    group = ",,1,the whole group,,,wasp,,"
    return ["\n".join([head, group, *lines]).encode(), b"row,label\n1,ant\n2,wasp\n"]


def _sheet_json(folder: Path) -> list[bytes]:
    from unseen.study.sheets import row_checks

    checks, tasks = row_checks(_new_rows().table), []
    for i in range(6):
        data = {"draw": i + 1, "row": str(i + 1), "group": "1", "probability": "0.5"}
        chosen = {"value": {"choices": ["bee"]}, "from_name": "label", "type": "choices"}
        results = [{"result": [chosen]}]
        tasks.append({"data": {**data, "check": checks[i]}, "annotations": results})
    return [json.dumps(tasks).encode(), json.dumps(tasks[:1]).encode()]


def _pictures(folder: Path) -> list[bytes]:
    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(0).integers(0, 255, size=(12, 9, 3), dtype=np.uint8)
    picture, found = Image.fromarray(noise), []
    kinds = {"png": "RGB", "jpeg": "RGB", "gif": "P", "webp": "RGBA", "bmp": "RGB", "tiff": "F"}
    for kind, mode in kinds.items():
        stream = io.BytesIO()
        (picture.convert("L") if mode == "F" else picture).convert(mode).save(stream, kind)
        found.append(stream.getvalue())
    return found


# --- what takes them -------------------------------------------------------------------------


def trial(target: str) -> Callable[[Path], None]:
    """The function that takes an input of this kind."""
    own = {"load": try_load, "fail_if": try_condition, "picture": try_picture, "npy": try_rows}
    own["h5ad"] = try_cells
    sheets = {"sheet.csv": try_sheet, "sheet.json": try_sheet}
    return {**own, **sheets}.get(target, try_table)


def try_table(file: Path) -> None:
    """Read a table and, for one in three, encode its columns: all numbers must be finite."""
    import numpy as np

    from unseen.tables import Columns, Source, read_labelled

    label = "obs/y" if file.suffix == ".h5ad" else "y"
    sample = read_labelled(Source.find(file), label, 40, seed=0)
    if file.stat().st_size % 3:  # encoding takes most of the time, and every byte has been read
        return
    columns = Columns(label=label).fit(sample.table)
    encoded, _ = columns.transform_new(sample.table)
    if not np.isfinite(encoded).all():
        raise AssertionError("a NaN came through")


def try_cells(file: Path) -> None:
    """Read a good file of cells, whatever came before, and then this one with little patience."""
    from unseen.tables import Source, cells

    cells.PATIENCE = 600.0  # a process may have to start
    try:
        Source.find(file.with_name("seed.h5ad")).columns()
    except ValueError as error:
        raise AssertionError(f"a good file was refused: {error}") from error
    cells.PATIENCE = CELLS_SECONDS
    try_table(file)


def try_rows(file: Path) -> None:
    """Read rows without labels, learn their columns and encode them."""
    import numpy as np

    from unseen.tables import Columns, Source, read_sample

    sample = read_sample(Source.find(file), 40, seed=0)
    encoded, _ = Columns().fit(sample.table).transform_new(sample.table)
    if not np.isfinite(encoded).all():
        raise AssertionError("a NaN came through")


def try_load(file: Path) -> None:
    """Load a model: what came may lie, but nothing in it may have run."""
    import unseen

    unseen.load(file)


@cache
def _estimate() -> Any:
    import numpy as np

    from unseen.drift import Drift, Tolerance
    from unseen.records import Estimate

    drift = Drift("moved", 0.97, Tolerance(np.array([0.02]), np.array([0.1])), 0.98)
    ends = [[0.65, 0.75], [0.25, 0.35]]
    rows: dict[str, Any] = {"n_labelled": {"cat": 80}, "n_new": 400}
    return Estimate(("cat",), [0.7], 0.3, "m", intervals=ends, drift=drift, **rows)


def try_condition(file: Path) -> None:
    """Read a condition and ask it about an estimate; click's errors are the expected ones."""
    import click

    from unseen.cli.failif import Condition

    try:
        Condition.parse(file.read_bytes().decode("utf-8", "replace")).holds(_estimate())
    except click.UsageError:
        raise ValueError("refused") from None


@cache
def _new_rows() -> Any:
    import numpy as np

    from unseen.study.rows import NewRows

    rows = table(20).drop_columns(["y"])
    return NewRows(np.zeros((20, 2)), rows, np.arange(20), 20, "new.csv", "")


def try_sheet(file: Path) -> None:
    """Read a filled sheet, correct shares by it, and promote its rows."""
    import numpy as np

    from unseen.loop import audit, promote
    from unseen.study.sheets import read_labels

    given = read_labels(file, _new_rows(), ["ant", "bee"])
    predicted = np.array(["ant", "bee", "unseen", "unseen"] * 5)
    promote(given.rows, given.labels, 20, known=["ant", "bee"], probabilities=given.probabilities)
    found = audit(predicted, given.rows, given.labels, given.probabilities, unseen_label="unseen")
    shares = np.array([*found.corrected.proportions, found.corrected.unseen])
    if not np.isfinite(shares).all() or (shares < 0).any() or abs(shares.sum() - 1) > 1e-6:
        raise AssertionError(f"shares {shares} are off the simplex")


def try_picture(file: Path) -> None:
    """Make a small picture of one; None is the answer to what is none."""
    from unseen.study.thumbnails import data_uri

    if data_uri(file) is None:
        raise ValueError("refused")
