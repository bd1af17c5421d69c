"""Long work says how far it is, in order and to the end, and nothing where nobody listens."""

import numpy as np
import pytest

import unseen
from unseen import _progress
from unseen._progress import between, each, show_progress

RNG = np.random.default_rng(0)
X, X_NEW = (RNG.normal(size=(60, 2)) + 9 * np.tile([[0], [1]], (30, 1)) for _ in range(2))
Y = ["a", "b"] * 30


def heard(work) -> list[float]:
    shares: list[float] = []
    with show_progress(shares.append):
        work()
    return shares


@pytest.mark.parametrize(
    "work",
    [
        lambda: unseen.estimate(X, Y, X_NEW, random_state=0, confidence=None),
        lambda: unseen.RejectionForest(n_trees=2, random_state=0).fit(X, Y, X_NEW),
        lambda: unseen.compare(X, Y, X_NEW, [unseen.SaerensEM()], random_state=0),
    ],
)
def test_shares_rise_to_one(work) -> None:
    shares = heard(work)
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] <= 1


def test_parts_nest() -> None:
    def work() -> None:
        with between(0.0, 0.5):
            for _ in each("ab"):
                list(each("cd"))

    assert heard(work) == [0.125, 0.25, 0.25, 0.375, 0.5, 0.5]


def test_nobody_hears_after_the_call() -> None:
    shares: list[float] = []
    with pytest.raises(ZeroDivisionError), show_progress(shares.append):
        raise ZeroDivisionError
    list(each("ab"))
    assert shares == []


def test_a_log_gets_a_line_now_and_then(capsys, monkeypatch) -> None:
    clock = iter(np.arange(0.0, 1000.0, 1.0))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    with show_progress(True):
        list(each(range(100)))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "unseen: 2% done, about 98 s left"
    assert len(lines) == 4
