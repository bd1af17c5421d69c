"""Importing stays light, and every public name is there."""

import ast
import subprocess
import sys
from pathlib import Path

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


def seconds_on_top_of_scikit_learn(statement: str) -> float:
    """CPU time of one statement in a fresh process; the least of a few, as noise only adds."""
    clock = "time.process_time()"
    code = f"import sklearn.linear_model, time; t = {clock}; {statement}; print({clock} - t)"
    command = [sys.executable, "-c", code]
    return min(float(subprocess.check_output(command, text=True)) for _ in range(3))


def test_import_is_cheap() -> None:
    assert seconds_on_top_of_scikit_learn("import unseen") <= 0.15
    assert seconds_on_top_of_scikit_learn("from unseen import *") <= 0.8


def test_import_pulls_in_nothing_heavy() -> None:
    assert modules_after("import unseen").isdisjoint(HEAVY)


def test_every_name_together_pulls_in_nothing_that_scikit_learn_does_not() -> None:
    already = modules_after("import sklearn.linear_model")
    assert (modules_after("from unseen import *") - already).isdisjoint(HEAVY)


def test_import_of_the_package_alone_leaves_scikit_learn_out() -> None:
    assert modules_after("import unseen").isdisjoint({"sklearn", "scipy", "numpy"})


def test_every_public_name_is_found_and_listed() -> None:
    assert set(unseen.__all__) <= set(dir(unseen))
    for name in unseen.__all__:
        value = getattr(unseen, name)
        assert getattr(value, "__name__", name) == name


def test_every_name_that_type_checkers_see_is_public() -> None:
    tree = ast.parse(Path(unseen.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.name
        for node in guarded.body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("unseen")
        for alias in node.names
    }
    here = {"estimate", "__version__"}
    assert imported - {"ProportionEstimator"} == set(unseen.__all__) - here


@pytest.mark.parametrize("other", [unseen.ROCSlope(), unseen.MPEIncomplete, "MPEIncomplete"])
def test_other_things_are_no_estimator(other) -> None:
    message = r"estimator must be a proportion estimator such as MPEIncomplete\(\), or None; got "
    with pytest.raises(TypeError, match=message):
        unseen.estimate([[0.0]], ["a"], [[0.0]], estimator=other)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'unseen' has no attribute 'nonsense'"):
        _ = unseen.nonsense
