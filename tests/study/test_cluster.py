"""A Dask cluster of processes gives the answers of one process, also when a worker is killed."""

import os
import signal

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unseen
from unseen.study import Inputs
from unseen.study.full import count_table
from unseen.tables import formats

distributed = pytest.importorskip("distributed")
N_PIECES = 12


@pytest.fixture(scope="module")
def client():
    cluster = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**cluster, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client
        # A worker that takes the place of a killed one must be there before it can be closed.
        client.wait_for_workers(cluster["n_workers"], timeout=120)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("cluster"), np.random.default_rng(0)
    for name, codes in (("train", np.arange(100) % 2), ("new", rng.integers(3, size=12_000))):
        rows = rng.normal(4.0 * np.eye(3)[codes])
        table = pa.table({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
        kinds = pa.array(np.array(["ant", "bee", "?"])[codes])
        table = table.append_column("kind", kinds) if name == "train" else table
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=1_000)
    return Inputs(
        *(str(folder / f"{one}.parquet") for one in ("train", "new")), "kind", max_rows=100
    )


def test_a_killed_worker_changes_no_count(client, tables, monkeypatch) -> None:
    monkeypatch.setattr(formats, "_PIECE_ROWS", 1_000)
    source, rows = tables.new_source, tables.read()
    assert len(source.pieces()) == N_PIECES
    method = unseen.MPEIncomplete(n_folds=3)
    here = count_table(method, *rows, source).counts[None]
    victim, *_ = client.run(os.getpid).values()
    killed = []

    def kill_after_one_piece(share: float) -> None:
        if share == 1 / N_PIECES and not killed:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    with joblib.parallel_config(backend="dask"), unseen.show_progress(kill_after_one_piece):
        there = count_table(method, *rows, source).counts[None]
    assert killed
    assert victim not in client.run(os.getpid).values()
    for one, other in zip(here.sketches, there.sketches, strict=True):
        np.testing.assert_array_equal(one.edge_new, other.edge_new)
        np.testing.assert_array_equal(one.gap_new, other.gap_new)


def test_independent_estimates_are_those_of_one_process(client, tables) -> None:
    training, new = tables.read()
    method = unseen.SaerensEM(n_folds=2, random_state=0)
    jobs = [joblib.delayed(unseen.estimate)(training.X, training.y, new.X[::step], estimator=method)
            for step in (1, 2, 3)]  # fmt: skip
    here = joblib.Parallel(n_jobs=1)(jobs)
    with joblib.parallel_config(backend="dask"):
        there = joblib.Parallel()(jobs)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.proportions, other.proportions)
        np.testing.assert_array_equal(one.intervals, other.intervals)
