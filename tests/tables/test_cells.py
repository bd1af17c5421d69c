"""Single cells: embeddings and annotations of an AnnData file, and labels written back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unseen._cells import any_text, plain
from unseen.study import Inputs, run_classification
from unseen.tables import Source, cells

pytestmark = pytest.mark.filterwarnings("ignore")  # anndata's own, of other packages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import anndata

    made = tmp_path_factory.mktemp("cells")
    rng = np.random.default_rng(0)
    for name, kinds in (("ref", ["B", "T"] * 40), ("query", ["B"] * 30 + ["NK"] * 15)):
        centres = np.array([{"B": [-4, 0], "T": [4, 0], "NK": [0, 7]}[kind] for kind in kinds])
        names = np.array([f"cell{place}" for place in range(len(kinds))], dtype=object)
        obs = pd.DataFrame({"kind": pd.Categorical(np.array(kinds, dtype=object))}, index=names)
        cells = anndata.AnnData(rng.poisson(1, (len(kinds), 3)).astype(np.float32), obs=obs)
        cells.obsm["X_pca"] = rng.normal(centres, 1)
        with any_text():
            cells.write_h5ad(made / f"{name}.h5ad")
    return made


def test_annotations_and_embeddings_are_columns(folder):
    source = Source.find(folder / "ref.h5ad")
    assert source.columns() == ["obs/kind", "obsm/X_pca"]
    (batch,) = source.batches()
    assert batch["obs/kind"].to_pylist() == ["B", "T"] * 40
    assert len(batch["obsm/X_pca"][0]) == 2


def test_counts_are_refused_with_a_sentence(folder):
    for features in ((), ("X",)):
        with pytest.raises(
            ValueError, match=r"such as obsm/X_pca: counts of genes and annotations"
        ):
            Inputs(str(folder / "ref.h5ad"), "new.h5ad", label="obs/kind", features=features)


def test_labels_are_written_into_a_copy(folder):
    import anndata

    files = (str(folder / "ref.h5ad"), str(folder / "query.h5ad"))
    inputs = Inputs(*files, label="obs/kind", features=("obsm/X_pca",))
    out = folder / "labelled.h5ad"
    run_classification(inputs, out)
    found, before = anndata.read_h5ad(out), anndata.read_h5ad(folder / "query.h5ad")
    right = np.where(before.obs["kind"] == "NK", "unseen", before.obs["kind"].astype(str))
    assert (found.obs["unseen_predicted"].astype(str) == right).mean() > 0.9
    assert found.obs["unseen_novelty"].between(0, 1).all()
    assert "unseen_predicted" not in before.obs


def test_gaps_of_pandas_and_embeddings_without_columns_spoil_no_file(tmp_path) -> None:
    import anndata

    gaps = {
        "flag": pd.array([True, None, False], dtype="boolean"),
        "count": pd.array([1, None, 3], dtype="Int64"),
    }
    names = np.array(["c1", "c2", "c3"], dtype=object)
    obs = pd.DataFrame(gaps, index=names)
    cells = anndata.AnnData(np.ones((3, 1)), obs=obs)
    cells.obsm["X_none"], cells.obsm["X_pca"] = np.ones((3, 0)), np.ones((3, 2))
    with any_text():
        cells.write_h5ad(tmp_path / "c.h5ad")
    (found,) = Source.find(tmp_path / "c.h5ad").batches()
    assert found.schema.names == ["obs/flag", "obs/count", "obsm/X_pca"]
    assert found["obs/flag"].to_pylist() == [True, None, False]
    assert found["obs/count"].to_pylist() == [1, None, 3]
    # Text that older releases of anndata cannot write.
    kinds = pd.Series(["a", None, "b"], dtype="string")
    assert plain(kinds).to_pylist() == ["a", None, "b"]


# --- HDF5, which crashes and hangs -----------------------------------------------------------

# Found by benchmarks/fuzz.py. In its corpus half of all changed files would hang as this one does.
HANGS = Path(__file__).with_name("hdf5_hangs.h5ad")
SLEEP = "import time; time.sleep(600)"
SEGFAULT = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Make the process that reads run a line of Python in place of anndata's reader or writer."""

    def run(line: str, writing: str = "pass") -> None:
        cells._READER.stop()
        (tmp_path / "anndata.py").write_text(
            f"class Cells:\n    obs = {{}}\n    def write_h5ad(self, path):\n        {writing}\n"
            f"def read_h5ad(path):\n    {line}\n    return Cells()\n"
        )
        monkeypatch.syspath_prepend(tmp_path)

    yield run
    cells._READER.stop()  # whose anndata is none


def read(file) -> None:
    next(Source.find(file).batches())


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_crash_of_the_reader_is_an_error_that_names_the_file(folder, reader) -> None:
    reader(SEGFAULT)
    with pytest.raises(ValueError, match=r"ref\.h5ad must be an AnnData file .* HDF5 crashed on"):
        read(folder / "ref.h5ad")


def test_a_reader_that_cannot_start_is_not_called_a_crash(folder, reader, tmp_path) -> None:
    reader("pass")
    (tmp_path / "pyarrow.py").write_text("raise ImportError")
    with pytest.raises(ValueError, match=r"the process that would read it could not start\."):
        read(folder / "ref.h5ad")


def test_a_reader_that_hangs_is_ended(folder, reader, monkeypatch) -> None:
    reader(SLEEP)
    monkeypatch.setattr(cells, "PATIENCE", 2.0)
    with pytest.raises(ValueError, match=r"ref\.h5ad must be .* took more than 2 seconds for it"):
        read(folder / "ref.h5ad")


def test_larger_files_get_more_time(tmp_path, reader, monkeypatch) -> None:
    reader(SLEEP)
    monkeypatch.setattr(cells, "PATIENCE", 1.0)
    with (tmp_path / "large.h5ad").open("wb") as large:
        large.write(b"HDF")
        large.truncate(1 << 28)  # a hole
    with pytest.raises(ValueError, match="took more than 3 seconds"):  # a second for each 128 MB
        read(tmp_path / "large.h5ad")


@pytest.mark.slow
def test_a_file_on_which_hdf5_hangs_is_refused_and_the_next_is_read(folder, monkeypatch) -> None:
    with monkeypatch.context() as context:
        context.setattr(cells, "PATIENCE", 10.0)
        with pytest.raises(ValueError, match="must be an AnnData file") as caught:
            read(HANGS)
    assert "\n" not in str(caught.value)
    read(folder / "ref.h5ad")


def test_no_module_beside_the_data_is_run(folder, tmp_path, monkeypatch) -> None:
    cells._READER.stop()
    (tmp_path / "anndata.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    read(folder / "ref.h5ad")


def test_without_anndata_the_error_says_what_to_install(folder, reader, tmp_path) -> None:
    reader("pass")
    (tmp_path / "anndata.py").write_text("raise ImportError")
    with pytest.raises(ImportError, match=r"unseen\[anndata\]"):
        read(folder / "ref.h5ad")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("raise OSError(28, 'HDF5 says much')", os.strerror(28).lower()),
        ("raise OSError(13, 'HDF5 says much')", os.strerror(13).lower()),
        ("raise RuntimeError('two\\n lines')", "two lines"),
        ("import os; os.abort()", "HDF5 crashed on it"),
    ],
)
def test_what_cannot_be_written_is_said_in_a_line_and_nothing_is_left(
    folder, reader, tmp_path, line, reason
) -> None:
    import pyarrow as pa

    reader("pass", line)
    out = tmp_path / "out" / "labelled.h5ad"
    out.parent.mkdir()
    writer = cells.CellWriter(folder / "query.h5ad", out)
    with pytest.raises(OSError, match=rf"labelled\.h5ad cannot be written: {reason}\.$"), writer:
        writer.write(pa.table({"predicted": ["a"], "novelty": [0.5]}))
    assert not list(out.parent.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_stopped_takes_its_reader_with_it(
    folder, reader, tmp_path, number, code
) -> None:
    # The reader tells its number, stops the command, and would go on for ever.
    told = tmp_path / "told"
    stops = f"os.kill(os.getppid(), {int(number)})"
    reader(f"import os; open({str(told)!r}, 'w').write(str(os.getpid())); {stops}; {SLEEP}")
    files = [str(folder / "ref.h5ad"), str(folder / "query.h5ad")]
    options = ["--label", "obs/kind", "--features", "obsm/X_pca"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "unseen", "estimate", *files, *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr.count("Error")) == (code, 1), done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.filterwarnings("ignore")
def test_a_fork_has_a_reader_of_its_own(folder) -> None:
    read(folder / "ref.h5ad")
    mine = cells._READER._process
    child = os.fork()
    if child == 0:
        try:
            read(folder / "query.h5ad")
            os._exit(0 if cells._READER._process.pid != mine.pid else 3)
        finally:
            os._exit(4)
    assert os.waitpid(child, 0)[1] == 0
    read(folder / "query.h5ad")
    assert cells._READER._process is mine


@pytest.mark.slow
def test_a_script_without_a_main_guard_and_a_frozen_program_read_too(folder) -> None:
    script = (
        "import sys; from unseen.tables import Source; sys.frozen = {frozen}\n"
        "print(next(Source.find({file!r}).batches()).num_rows, 'anndata' in sys.modules)\n"
    )
    for frozen in (False, True):
        code = script.format(frozen=frozen, file=str(folder / "ref.h5ad"))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-W", "ignore", "-c", code]
        found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert found.stdout.split() == ["80", str(frozen)]
