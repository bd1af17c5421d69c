"""Tables as files of every format."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest

Writer = Callable[[pa.Table, str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Writer:
    """Write a table with pyarrow's own writers, by suffix."""

    def write(table: pa.Table, name: str) -> Path:
        path = tmp_path / name
        kind = name.split(".")[1]
        if kind == "parquet":
            pa_parquet.write_table(table, path, row_group_size=7)
        elif kind in ("feather", "arrow"):
            pa_feather.write_feather(table, path, chunksize=5)
        else:
            with pa.output_stream(str(path), compression="detect") as stream:
                stream.write(_as_text(table, kind))
        return path

    return write


def _as_text(table: pa.Table, kind: str) -> bytes:
    if kind in ("csv", "tsv"):
        sink = pa.BufferOutputStream()
        options = pa_csv.WriteOptions(delimiter="," if kind == "csv" else "\t")
        pa_csv.write_csv(table, sink, options)
        return sink.getvalue().to_pybytes()
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
