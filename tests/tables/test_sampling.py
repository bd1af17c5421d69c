"""Samples are uniform, bounded, and the same however the file is cut into batches."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from unseen.tables import GroupBy, Source, read_groups, read_labelled, read_sample
from unseen.tables._arrow import join
from unseen.tables.sampling import _Reservoir, group_level, water_level

SLOW = settings(deadline=None, max_examples=60)


def drawn(strata, level, seed, cuts, slack_bytes):
    """The rows that a reservoir keeps when the source comes in these pieces."""
    reservoir = _Reservoir(level, seed, slack_bytes)
    for piece in np.split(np.arange(len(strata)), cuts):
        batch = pa.RecordBatch.from_pydict({"row": piece})
        reservoir.add(batch, strata[piece])
    held = reservoir.in_order()
    assert held.table["row"].to_pylist() == held.positions.tolist()
    return held.positions


def slow_twin(strata, level, seed):
    """Sort all rows by their random keys, group by group."""
    keys = np.random.default_rng(seed).random(len(strata))
    ordered = np.argsort(keys)
    kept = [ordered[strata[ordered] == each][:level] for each in range(strata.max() + 1)]
    return np.sort(np.concatenate(kept))


@SLOW
@given(
    st.lists(st.integers(-1, 3), min_size=1, max_size=200).filter(lambda s: max(s) >= 0),
    st.integers(4, 60),
    st.integers(0, 5),
    st.lists(st.integers(0, 200), max_size=8),
)
def test_the_reservoir_is_its_slow_twin_for_any_batches(strata, n_rows, seed, cuts):
    strata = np.array(strata)
    counts = np.bincount(strata[strata >= 0])
    found = drawn(strata, lambda c: water_level(c, n_rows), seed, np.sort(cuts), 0)
    assert found.tolist() == slow_twin(strata, water_level(counts, n_rows), seed).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_reservoir_is_its_slow_twin_when_it_lets_go_after_every_batch(seed):
    strata = np.random.default_rng(0).choice(4, 2000)
    cuts = np.arange(10, 2000, 10)
    found = drawn(strata, lambda counts: water_level(counts, 60), seed, cuts, -(1 << 20))
    assert found.tolist() == slow_twin(strata, 15, seed).tolist()


@pytest.mark.parametrize("n_rows", [3_000, 200_000, 500_000])
def test_the_reservoir_is_its_slow_twin_when_it_has_to_let_go_on_the_way(n_rows):
    strata = np.random.default_rng(0).choice(4, 400_000, p=[0.6, 0.39, 0.0099, 0.0001])
    expected = slow_twin(strata, water_level(np.bincount(strata), n_rows), 1)
    for size in (2_000, 70_001):
        cuts = np.arange(size, len(strata), size)
        found = drawn(strata, lambda counts: water_level(counts, n_rows), 1, cuts, 1 << 14)
        assert np.array_equal(found, expected)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=8), st.integers(8, 500))
def test_the_water_level_is_the_largest_within_the_budget(counts, n_rows):
    counts = np.array(counts)
    level = water_level(counts, n_rows)
    assert np.minimum(counts, level).sum() <= n_rows
    assert level == n_rows or np.minimum(counts, level + 1).sum() > n_rows


def test_every_row_is_as_likely_as_any_other(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a\n" + "".join(f"{i}\n" for i in range(40)))
    source = Source.find(file)
    seen = Counter()
    for seed in range(400):
        seen.update(read_sample(source, 10, seed=seed).positions.tolist())
    observed = [seen[row] for row in range(40)]
    assert sum(observed) == 4000
    # Each count is binomial(400, 1/4); negative correlation only makes the test milder.
    assert stats.chisquare(observed).pvalue > 1e-3


def test_the_sample_is_the_rows_of_the_file_in_its_order(tmp_path):
    table = pa.table({"a": range(100_000), "b": [f"t{i}" for i in range(100_000)]})
    files = [tmp_path / "many.parquet", tmp_path / "one.parquet"]
    for file, size in zip(files, (999, 100_000), strict=True):
        pa_parquet.write_table(table, file, row_group_size=size)
    many, one = (read_sample(Source.find(file), 500, seed=3) for file in files)
    assert many.positions.tolist() == one.positions.tolist() == sorted(one.positions)
    assert one.table.equals(table.take(one.positions))
    assert (one.n_rows, len(one.positions)) == (100_000, 500)
    assert (
        read_sample(Source.find(files[0]), 500, seed=4).positions.tolist() != one.positions.tolist()
    )


def test_fewer_rows_than_asked_for_are_all_of_them(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n3,4\n")
    sample = read_sample(Source.find(file), 10, seed=0)
    assert len(sample.positions) == sample.n_rows
    assert sample.table.to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}
    assert sample.sha256 == Source.find(file).sha256()


def test_small_classes_are_kept_whole(tmp_path):
    labels = np.random.default_rng(0).permutation(["a"] * 700 + ["b"] * 250 + ["c"] * 40 + [""] * 9)
    file = tmp_path / "t.csv"
    file.write_text("x,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    sample = read_labelled(Source.find(file), "y", 300, seed=0)
    assert sample.counts == {"a": 700, "b": 250, "c": 40}
    assert Counter(sample.keys.tolist()) == {"a": 130, "b": 130, "c": 40}
    assert (sample.n_rows, sample.n_missing) == (999, 9)
    assert sample.keys.tolist() == labels[sample.positions].tolist()
    assert sample.table["y"].to_pylist() == sample.keys.tolist()


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([2, 10, 2, None], {2: 2, 10: 1}),
        ([2.0, 10.0, float("nan")], {2: 1, 10: 1}),
        ([True, False, True], {False: 1, True: 2}),
        (pa.array(["b", "a", None]).dictionary_encode(), {"a": 1, "b": 1}),
    ],
)
def test_labels_keep_their_kind(tmp_path, values, counts):
    file = tmp_path / "t.parquet"
    pa_parquet.write_table(pa.table({"y": values, "x": range(len(values))}), file)
    sample = read_labelled(Source.find(file), "y", 100, seed=0)
    assert sample.counts == counts
    assert list(sample.counts) == list(counts)
    assert {type(key) for key in sample.keys.tolist()} == {type(key) for key in counts}


def test_labels_of_two_kinds_are_text(tmp_path):
    for name, labels in (("1.parquet", [1, 2]), ("2.parquet", ["1", "x"])):
        pa_parquet.write_table(pa.table({"y": labels}), tmp_path / name)
    sample = read_labelled(Source.find(tmp_path), "y", 9, seed=0)
    assert sample.counts == {"1": 2, "2": 1, "x": 1}
    assert sample.keys.tolist() == sample.table["y"].to_pylist() == ["1", "2", "1", "x"]


def test_groups_are_in_natural_order_and_bounded(tmp_path):
    keys = ["week 10"] * 50 + ["week 9"] * 3 + ["week 1"] * 20
    file = tmp_path / "t.csv"
    file.write_text("w,x\n" + "".join(f"{key},1\n" for key in keys))
    sample = read_groups(Source.find(file), GroupBy("w"), 10, seed=0)
    assert list(sample.counts.items()) == [("week 1", 20), ("week 9", 3), ("week 10", 50)]
    assert Counter(sample.keys.tolist()) == {"week 1": 10, "week 9": 3, "week 10": 10}


def test_labels_are_trimmed_and_missing_by_the_rule_of_all_columns(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("y,x\ncat,1\n cat,2\ncat ,3\ndog,4\n#N/A,5\n<NA>,6\n NA,7\n,8\n")
    sample = read_labelled(Source.find(file), "y", 100, seed=0)
    assert sample.counts == {"cat": 3, "dog": 1}
    assert sample.keys.tolist() == ["cat"] * 3 + ["dog"]
    assert sample.n_missing == 4


@pytest.mark.parametrize(
    ("n_rows", "kept"),
    [
        (None, {"a": 200, "b": 200, "c": 40}),
        (10_000, {"a": 200, "b": 200, "c": 40}),
        (340, {"a": 150, "b": 150, "c": 40}),
        (90, {"a": 30, "b": 30, "c": 30}),
        (10, {"a": 30, "b": 30, "c": 30}),
    ],
)
def test_groups_share_a_budget_over_all_of_them(tmp_path, n_rows, kept):
    keys = np.random.default_rng(0).permutation(["a"] * 900 + ["b"] * 500 + ["c"] * 40)
    file = tmp_path / "t.csv"
    file.write_text("w\n" + "".join(f"{key}\n" for key in keys))
    sample = read_groups(Source.find(file), GroupBy("w"), 200, 1, n_rows=n_rows)
    assert Counter(sample.keys.tolist()) == kept
    assert sample.counts == {"a": 900, "b": 500, "c": 40}
    _, strata = np.unique(keys, return_inverse=True)
    assert sample.positions.tolist() == slow_twin(strata, max(kept.values()), 1).tolist()


def test_few_rows_per_group_stay_few_whatever_the_budget(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("w\n" + "a\n" * 50)
    sample = read_groups(Source.find(file), GroupBy("w"), 5, 0, n_rows=20)
    assert len(sample.positions) == 5


@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=8).filter(any),
    st.lists(st.integers(0, 300), min_size=8, max_size=8),
    st.integers(1, 100),
    st.integers(1, 3000),
)
def test_the_level_of_groups_keeps_the_budget_and_only_falls(counts, more, per_group, n_rows):
    counts = np.array(counts)
    level = group_level(counts, per_group, n_rows)
    kept = np.minimum(counts, level)
    assert kept.sum() <= max(n_rows, np.minimum(counts, 30).sum())
    assert group_level(counts + more[: len(counts)], per_group, n_rows) <= level
    assert group_level(np.append(counts, more), per_group, n_rows) <= level


def test_errors_of_labels_and_groups(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("id,x,none\n" + "".join(f"r{i},{i}.5,\n" for i in range(2000)))
    source = Source.find(file)
    with pytest.raises(ValueError, match=r"label must name a column of .*; it has no 'z'\. It has"):
        read_labelled(source, "z", 100, 0)
    with pytest.raises(ValueError, match=r"label 'id' must have at most 1000 distinct values; f"):
        read_labelled(source, "id", 5000, 0)
    with pytest.raises(ValueError, match=r"by 'id' must have at most 500 .*; found 2000 in the fi"):
        read_groups(source, GroupBy("id"), 5, 0)
    with pytest.raises(ValueError, match=r"label 'none' must not be missing in all rows of "):
        read_labelled(source, "none", 5, 0)
    with pytest.raises(ValueError, match=r"n_rows must be at least 1; got 0\."):
        read_sample(source, 0, seed=0)
    with pytest.raises(ValueError, match=r"n_rows_per_group must be at least 1; got 0\."):
        read_groups(source, GroupBy("id"), 0, 0)
    with pytest.raises(ValueError, match=r"n_rows must be at least 1; got -1\."):
        read_groups(source, GroupBy("id"), 5, 0, n_rows=-1)
    pa_parquet.write_table(pa.table({"y": [0.5, 1.0], "l": [[1], [2]]}), tmp_path / "t.parquet")
    source = Source.find(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"label 'y' must hold classes: .*; got 0\.5\."):
        read_labelled(source, "y", 5, 0)
    with pytest.raises(ValueError, match=r"label 'l' must hold text, numbers or dates; it holds l"):
        read_labelled(source, "l", 5, 0)


def test_parts_of_other_types_are_joined():
    batches = [
        pa.RecordBatch.from_pydict({"a": column})
        for column in (pa.array([1]), pa.nulls(1), pa.array([0.5]))
    ]
    assert join(batches)["a"].to_pylist() == [1.0, None, 0.5]
    batches.append(pa.RecordBatch.from_pydict({"a": ["x"]}))
    assert join(batches)["a"].to_pylist() == ["1", None, "0.5", "x"]
    batches.append(pa.RecordBatch.from_pydict({"a": [[1]]}))
    with pytest.raises(ValueError, match=r"column 'a' must be of one type throughout; got double"):
        join(batches)


@pytest.fixture
def pool():
    """A pool of pyarrow's whose peak is that of the test alone."""
    default = pa.default_memory_pool()
    own = pa.proxy_memory_pool(default)
    pa.set_memory_pool(own)
    yield own
    pa.set_memory_pool(default)


def test_memory_follows_the_rows_kept_whatever_their_width(pool):
    """192 MB of rows with 800 columns pass; 2,000 of them, or 13 MB, are kept."""
    batch = pa.RecordBatch.from_pydict({f"x{i}": np.zeros(1000) for i in range(800)})
    reservoir = _Reservoir(lambda counts: 2000, 0)
    for _ in range(30):
        reservoir.add(batch, np.zeros(1000, dtype=np.int64))
    kept = reservoir.in_order().table.nbytes
    assert kept == 2000 * 800 * 8
    assert pool.max_memory() >= kept
    # Twice what is kept with 32 MB of slack and a batch, and what is kept of that once more.
    assert pool.max_memory() < 3 * kept + (32 << 20) + 2 * 1000 * 800 * 8


@pytest.mark.parametrize("write", [pa_parquet.write_table, pa_feather.write_feather])
def test_wide_tables_come_in_batches_of_fewer_rows(tmp_path, write):
    file = tmp_path / ("t.parquet" if write is pa_parquet.write_table else "t.feather")
    write(pa.table({f"x{i}": np.zeros(2000) for i in range(1000)}), file)
    batches = list(Source.find(file).batches())
    assert max(batch.num_rows for batch in batches) <= (1 << 20) // 1000
    assert sum(batch.num_rows for batch in batches) == 2000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Reading 240 MB takes less than 200 MB more than reading nothing."""
    # Not ru_maxrss: a child starts with that of its parent.
    code = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from unseen.tables import Source, read_labelled\n"
        "for file in sys.argv[1:]:\n"
        "    read_labelled(Source.find(file), 'y', 1000, 0)\n"
        "    print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
    )
    for n_blocks in (1, 3000):
        with (tmp_path / f"{n_blocks}.csv").open("w") as stream:
            stream.write("y,x\n")
            for _ in range(n_blocks):
                stream.write(("a," + "1" * 77 + "\n") * 1000)
    command = [sys.executable, "-c", code, "1.csv", "3000.csv"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    peaks = [int(peak) / 1024 for peak in told.stdout.split()]
    assert peaks[1] - peaks[0] < 200, peaks
