"""Importing stays light, and every public name is there."""

import subprocess
import sys

import pytest

import unseen

HEAVY = ["matplotlib", "torch", "dask", "pyarrow", "pandas", "polars", "click", "rich"]


def modules_after(code: str) -> set[str]:
    listing = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return {name.partition(".")[0] for name in listing.stdout.split()}


def test_import_is_cheap(child_cpu_seconds) -> None:
    import_all = "from unseen import *; import sklearn.linear_model"
    ours = child_cpu_seconds("-c", import_all)
    baseline = child_cpu_seconds("-c", "import sklearn.linear_model")
    assert ours - baseline <= 0.15
    assert child_cpu_seconds("-c", "import unseen") < baseline / 2


def test_import_pulls_in_nothing_heavy() -> None:
    assert modules_after("import unseen").isdisjoint(HEAVY)


def test_every_name_together_pulls_in_nothing_that_scikit_learn_does_not() -> None:
    already = modules_after("import sklearn.linear_model")
    assert (modules_after("from unseen import *") - already).isdisjoint(HEAVY)


def test_import_of_the_package_alone_leaves_scikit_learn_out() -> None:
    assert modules_after("import unseen").isdisjoint({"sklearn", "scipy", "numpy"})


def test_every_public_name_is_found_and_listed() -> None:
    assert set(unseen.__all__) <= set(dir(unseen))
    assert set(unseen._HOMES) == set(unseen.__all__) - {"estimate", "__version__"}
    for name in unseen.__all__:
        value = getattr(unseen, name)
        assert getattr(value, "__name__", name) == name


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'unseen' has no attribute 'nonsense'"):
        _ = unseen.nonsense
