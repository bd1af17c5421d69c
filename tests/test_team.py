"""Threads share the work, and nothing but the clock can tell."""

from __future__ import annotations

import _thread
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import unseen
from unseen import _arrays, _team
from unseen._progress import report, show_progress
from unseen._team import even_blocks, own_threads, side_by_side, summed, team
from unseen.monitoring import monitor
from unseen.monitoring.run import WindowScorer
from unseen.proportions import bootstrap

RNG = np.random.default_rng(0)
CENTRES = 3 * RNG.normal(size=(4, 3))
Y = np.arange(120) % 3
X = CENTRES[Y] + RNG.normal(size=(120, 3))
X_NEW = CENTRES[RNG.integers(4, size=120)] + RNG.normal(size=(120, 3))


@pytest.fixture
def many_blocks(monkeypatch):
    """Small samples come in as many blocks as large ones do."""
    monkeypatch.setattr(_arrays, "WORTH", 2**10)
    monkeypatch.setattr(_arrays, "LEAST_BLOCK", 8)
    monkeypatch.setattr(_arrays, "AT_HAND", 2**13)
    monkeypatch.setattr(_arrays, "TILE", 16)
    monkeypatch.setattr(bootstrap, "_AT_HAND", 2**11)
    monkeypatch.setattr(bootstrap, "_LEAST_BLOCK", 16)


@pytest.fixture
def threads(monkeypatch):
    """The threads that have done a part of some work."""
    seen = set()

    def handed(parts):
        for found in enumerate(parts):
            seen.add(threading.get_ident())
            time.sleep(1e-4 if len(seen) > 1 else 0.02)  # so that the others come to their turn
            yield found

    monkeypatch.setattr(_team, "enumerate", handed, raising=False)
    return seen


def met(n_threads):
    """Work that ends only once so many threads are at it."""
    barrier = threading.Barrier(n_threads)

    def work(part):
        barrier.wait(timeout=30)
        return part * part

    return work


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_as_many_threads_work_at_the_same_time(n_jobs) -> None:
    with team(n_jobs):
        assert side_by_side(met(n_jobs), range(n_jobs)) == [part**2 for part in range(n_jobs)]


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_alone_nobody_is_called(n_jobs, monkeypatch) -> None:
    monkeypatch.setattr(_team._Team, "helping", lambda *_: pytest.fail("somebody was called"))
    with team(n_jobs):
        assert side_by_side(str, range(3)) == ["0", "1", "2"]
    assert side_by_side(str, range(3)) == ["0", "1", "2"]


def test_one_part_is_done_where_it_is(monkeypatch) -> None:
    monkeypatch.setattr(_team._Team, "helping", lambda *_: pytest.fail("somebody was called"))
    with team(2):
        assert side_by_side(str, [7]) == ["7"]


def test_parts_share_what_they_hold_in_turn() -> None:
    with team(3):
        found = side_by_side(lambda part: sum(side_by_side(abs, [part, -part])), range(20))
    assert found == [2 * part for part in range(20)]


def test_an_iterator_makes_parts_in_their_order() -> None:
    def drawn():
        rng = np.random.default_rng(1)
        for _ in range(50):
            yield rng.random()

    with team(3):
        found = side_by_side(lambda value: value, drawn())
    assert found == list(drawn())


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_sums_are_in_the_order_of_the_parts(n_jobs) -> None:
    values = np.random.default_rng(2).normal(size=1000) * 10.0 ** (np.arange(1000) % 7)
    in_order = np.zeros(1)
    for value in values:
        in_order += value

    def one(place):
        time.sleep(1e-4 * (place % 3))
        return values[place]

    with team(n_jobs):
        assert summed(one, range(1000), np.zeros(1)) == in_order


def test_a_joblib_context_says_how_many_and_an_argument_is_above_it() -> None:
    with joblib.parallel_config(n_jobs=2):
        with team():
            side_by_side(met(2), range(2))
            inside = _team._team.get()
            with team(), team(2):
                assert _team._team.get() is inside
        with team(1), team(), own_threads():
            assert _team._team.get().n_threads == 1
    assert _team._team.get() is None


def test_the_error_of_the_first_part_comes_out_and_nothing_more_is_begun() -> None:
    begun = []
    barrier = threading.Barrier(2)

    def work(part):
        begun.append(part)
        barrier.wait(timeout=30)
        raise ValueError(f"part {part}")

    with team(2):
        with pytest.raises(ValueError, match="part 0"):
            side_by_side(work, range(100))
        assert sorted(begun) == [0, 1]
        assert side_by_side(met(2), range(2)) == [0, 1]  # the helper is idle again


def test_an_error_in_a_helper_ends_the_work_of_the_caller() -> None:
    begun, barrier = [], threading.Barrier(2)

    def work(part):
        begun.append(part)
        if part < 2:
            barrier.wait(timeout=30)
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("a helper")
        time.sleep(0.01)

    with team(2), pytest.raises(ValueError, match="a helper"):
        side_by_side(work, range(100))
    assert len(begun) < 50


def test_an_error_of_whoever_makes_the_parts_comes_out() -> None:
    def parts():
        yield 1
        raise ValueError("no more")

    with team(2), pytest.raises(ValueError, match="no more"):
        side_by_side(str, parts())


def test_an_interrupt_ends_the_work_of_all() -> None:
    begun, barrier = [], threading.Barrier(2)

    def work(part):
        begun.append(part)
        if part > 1:
            time.sleep(0.1)
            return
        barrier.wait(timeout=30)
        if threading.current_thread() is not threading.main_thread():
            _thread.interrupt_main()
            return
        for _ in range(3000):
            time.sleep(0.01)  # the interrupt ends it

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with team(2), pytest.raises(KeyboardInterrupt):
            side_by_side(work, range(100))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(begun) < 50
    with team(2):
        assert side_by_side(met(2), range(2)) == [0, 1]


def test_helpers_know_what_the_caller_knows_and_report_nothing() -> None:
    shares, heard = [], []

    def work(part):
        barrier.wait(timeout=30)
        report(part)
        heard.append(np.geterr()["over"])

    barrier = threading.Barrier(2)
    with team(2), show_progress(shares.append), np.errstate(over="raise"):
        side_by_side(work, range(2))
    assert len(shares) == 1
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert heard == ["raise", "raise"]


@pytest.mark.parametrize(
    ("n_rows", "most", "least", "n_blocks"),
    [(1, 10, 10, 1), (10, 10, 10, 1), (11, 10, 10, 2), (41, 10, 99, 8), (41, 41, 10, 4)],
)
def test_blocks_are_a_power_of_two_and_even(n_rows, most, least, n_blocks) -> None:
    blocks = even_blocks(n_rows, most, least)
    assert_array_equal(np.concatenate([np.arange(n_rows)[one] for one in blocks]), range(n_rows))
    sizes = [one.stop - one.start for one in blocks]
    assert len(blocks) == n_blocks
    assert max(sizes) <= min(most, min(sizes) + 1)


def test_products_of_tiles() -> None:
    rows, weight = RNG.normal(size=(1000, 600)), RNG.random(1000)
    arrays, whiten = _arrays.chosen_arrays(), np.triu(RNG.normal(size=(600, 600)))
    upper = np.triu_indices(600)
    found, exact = arrays.gram(rows, weight), rows.T @ (weight[:, None] * rows)
    np.testing.assert_allclose(found[upper], exact[upper], atol=1e-9)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(arrays.whitened(rows.copy(), whiten), rows @ whiten, atol=1e-9)


def all_of(found) -> str:
    """Every digit of a record."""
    return repr(found.to_dict())


def a_rule() -> str:
    rule = unseen.RejectionClassifier(random_state=0).fit(X, Y, X_NEW)
    return repr((rule.predict_proba(X_NEW).tolist(), rule.predict_new().tolist(), rule.risk_))


ANSWERS = {
    "default": lambda: all_of(unseen.estimate(X, Y, X_NEW, random_state=0)),
    "one class": lambda: all_of(unseen.estimate(X, 0 * Y, X_NEW, random_state=0)),
    "pairs": lambda: all_of(
        unseen.estimate(X, Y, X_NEW, estimator=unseen.MPEIncomplete(), random_state=0)
    ),
    "two classes": lambda: all_of(
        unseen.estimate(X, Y > 0, X_NEW, estimator=unseen.SaerensEM(), random_state=0)
    ),
    "compare": lambda: all_of(
        unseen.compare(X, Y, X_NEW, [unseen.SaerensEM(), unseen.OpenSetEstimator()], random_state=0)
    ),
    "monitor": lambda: all_of(monitor(X, Y, X_NEW, np.repeat([1, 2, 3], 40), random_state=0)),
    "rule": a_rule,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_number_of_jobs_changes_no_bit(name, many_blocks, threads) -> None:
    alone = ANSWERS[name]()
    assert not threads
    for n_jobs in (2, 3) if name == "default" else (3,):
        threads.clear()
        with team(n_jobs):
            assert ANSWERS[name]() == alone
        assert len(threads) >= 2


def test_what_windows_share_is_made_by_the_team_of_the_estimator(monkeypatch) -> None:
    sizes, make = [], WindowScorer.prepare

    def watched(*given):
        sizes.append(_team._team.get().n_threads)
        return make(*given)

    monkeypatch.setattr(WindowScorer, "prepare", watched)
    estimator = unseen.OpenSetEstimator(n_jobs=2, random_state=0)
    monitor(X, Y, X_NEW, np.repeat([1, 2, 3], 40), estimator=estimator)
    assert sizes == [2]


def test_progress_rises_to_one_with_several_jobs(many_blocks) -> None:
    windows = np.repeat([1, 2, 3], 40)
    for work in (
        lambda heard: unseen.estimate(X, Y, X_NEW, random_state=0, progress=heard),
        lambda heard: monitor(X, Y, X_NEW, windows, random_state=0, progress=heard),
    ):
        shares: list[float] = []
        with team(2):
            work(shares.append)
        assert len(shares) > 1
        assert shares == sorted(shares)
        assert shares[-1] == 1
