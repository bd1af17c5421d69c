"""A full pass over files: the same counts from any files, pieces, keys and workers."""

import json
from dataclasses import replace

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from unseen import FullPass, MPEIncomplete, SaerensEM
from unseen.study import Inputs, run_study
from unseen.study.full import count_table
from unseen.study.rows import FEWEST_ROWS
from unseen.tables import GroupBy, Source, formats

N_ROWS = 4_000
KINDS = np.array(["ant", "bee", "?"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    """Labelled rows, and the same new rows as one csv and as two Parquet files of row groups."""
    folder, rng = tmp_path_factory.mktemp("full"), np.random.default_rng(0)
    for name, codes in (("train", np.arange(200) % 2), ("new", rng.integers(3, size=N_ROWS))):
        rows = rng.normal(4.0 * np.eye(3)[codes]).round(6)
        table = pa.table({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
        if name == "train":
            pq.write_table(
                table.append_column("kind", pa.array(KINDS[codes])), folder / "t.parquet"
            )
            continue
        site = pa.array(np.where(np.arange(N_ROWS) % 5 == 0, None, np.arange(N_ROWS) % 3))
        table = table.append_column("site", site.cast(pa.int64()))
        pyarrow.csv.write_csv(table, folder / "new.csv")
        pq.write_table(table[:1500], folder / "n0.parquet", row_group_size=400)
        pq.write_table(table[1500:], folder / "n1.parquet", row_group_size=400)
    return folder


@pytest.fixture(scope="module")
def counted(folder):
    """Counts of the csv, in one piece."""
    inputs = Inputs(str(folder / "t.parquet"), str(folder / "new.csv"), "kind", max_rows=200)
    training, new = inputs.read(windows=("site",))
    estimator = MPEIncomplete(n_folds=3)
    return training, new, estimator, count_table(estimator, training, new, inputs.new_source)


def recount(counted, source, **given):
    training, new, estimator, _ = counted
    return count_table(estimator, training, new, source, **given).counts


def cells(counts):
    return [np.concatenate([one.edge_new, one.gap_new]) for one in counts.sketches]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_pieces_and_workers_make_no_difference(folder, counted, n_jobs, monkeypatch) -> None:
    monkeypatch.setattr(formats, "_PIECE_ROWS", 800)
    source = Source.find(str(folder / "n*.parquet"))
    pieces = source.pieces()
    assert [(piece.path.name, piece.first) for piece in pieces[:3]] == [
        ("n0.parquet", 0), ("n0.parquet", 800), ("n1.parquet", 0),
    ]  # fmt: skip
    rows = [batch.num_rows for piece in pieces for batch in piece.batches(["a"])]
    assert sum(rows) == N_ROWS
    with joblib.parallel_config(n_jobs=n_jobs):
        found = recount(counted, source)[None]
    assert found.n_rows == N_ROWS
    np.testing.assert_array_equal(cells(found), cells(counted[3].counts[None]))


def test_keys_are_counted_in_the_same_pass(folder, counted) -> None:
    found = recount(counted, Source.find(folder / "new.csv"), by=GroupBy("site"))
    assert list(found) == ["0", "1", "2", None]
    assert found[None].n_rows == N_ROWS // 5
    total = np.sum([cells(one) for one in found.values()], axis=0)
    np.testing.assert_array_equal(total, cells(counted[3].counts[None]))
    timeline = replace(counted[3], counts=found).timeline()
    assert timeline.windows == ("0", "1", "2")
    assert [one.n_new for one in timeline.estimates] == [found[key].n_rows for key in "012"]
    assert timeline.n_missing == N_ROWS // 5
    assert timeline.reference_estimate.n_new == N_ROWS


def test_the_estimate_is_that_of_all_rows_in_memory(folder, counted) -> None:
    training, new, _, found = counted
    inputs = Inputs(str(folder / "t.parquet"), str(folder / "new.csv"), "kind", max_rows=10**6)
    X = inputs.read(windows=("site",))[1].X
    fitted = MPEIncomplete(n_folds=3, random_state=0).fit(training.X, training.y)
    full = FullPass.fit(fitted, new.X)
    assert found.estimate().unseen == full.estimate(full.count(X)).unseen


def test_a_study_counts_every_row_and_says_so(folder) -> None:
    inputs = Inputs(str(folder / "t.parquet"), str(folder / "new.csv"), "kind", max_rows=200)
    study, _ = run_study(replace(inputs, drop=("site",)), SaerensEM(n_folds=3), full=True)
    assert study.estimate.n_new == N_ROWS
    assert [one.code for one in study.notices][-1] == "all_rows_counted"
    json.dumps(study.to_dict())


@pytest.mark.parametrize(
    ("given", "method", "message"),
    [
        ({}, None, "--full needs --method MPEIncomplete"),
        ({"group": "site"}, SaerensEM(), "leave out --group and --control"),
    ],
)
def test_what_a_full_pass_cannot_answer_is_refused_at_once(folder, given, method, message) -> None:
    inputs = Inputs(str(folder / "t.parquet"), str(folder / "new.csv"), "kind", **given)
    with pytest.raises(ValueError, match=message):
        run_study(inputs, method, full=True)


def test_windows_that_are_all_too_small_are_refused(folder, counted, tmp_path) -> None:
    few = pyarrow.csv.read_csv(folder / "new.csv")[: 5 * (FEWEST_ROWS - 1)]
    days = few.append_column("day", pa.array(np.arange(len(few)) % 5))
    pyarrow.csv.write_csv(days, tmp_path / "few.csv")
    training, new, estimator, _ = counted
    source = Source.find(tmp_path / "few.csv")
    found = count_table(estimator, training, new, source, by=GroupBy("day"))
    with pytest.raises(ValueError, match="a window of 10 rows or more; got none of 5, the largest"):
        found.timeline()


def test_a_bad_cell_is_named_by_its_row_in_the_file(folder, counted, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(formats, "_PIECE_ROWS", 800)
    monkeypatch.setattr(formats, "batch_rows", lambda *given: 300)
    text = pq.read_table(folder / "n1.parquet")
    values = ["1.5"] * len(text)
    values[2_000] = "broken"
    text = text.set_column(0, "a", pa.array(values))
    pq.write_table(text, tmp_path / "n.parquet", row_group_size=400)
    with pytest.raises(ValueError, match=r"broken.*in row 2001"):
        recount(counted, Source.find(tmp_path / "n.parquet"))


def test_a_file_without_rows_and_a_key_of_one_row_are_counted_as_such(counted, folder) -> None:
    table = pq.read_table(folder / "n0.parquet")
    pq.write_table(table[:0], folder / "e0.parquet")
    alone = table.set_column(3, "site", pa.array([7] + [None] * 1499, pa.int64()))
    pq.write_table(alone, folder / "e1.parquet")
    found = recount(counted, Source.find(str(folder / "e?.parquet")), by=GroupBy("site"))
    assert {key: counts.n_rows for key, counts in found.items()} == {7: 1, None: 1499}
    whole = recount(counted, Source.find(str(folder / "n0.parquet")))[None]
    for both, one in zip(cells(found[7] + found[None]), cells(whole), strict=True):
        np.testing.assert_array_equal(both, one)


def test_a_window_needs_the_fewest_rows_and_no_more(counted) -> None:
    _, new, _, found = counted
    counts = {n: found.full.count(new.X[:n]) for n in (FEWEST_ROWS - 1, FEWEST_ROWS)}
    timeline = replace(found, counts=counts).timeline()
    assert timeline.windows == (FEWEST_ROWS,)
    assert timeline.skipped == ((FEWEST_ROWS - 1, FEWEST_ROWS - 1),)
