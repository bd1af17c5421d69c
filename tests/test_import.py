"""Importing stays light, and every public name is there."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import unseen
from unseen._names import public_names

HEAVY = ["matplotlib", "torch", "dask", "pyarrow", "pandas", "polars", "click", "rich"]


def printed(code: str) -> list[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def packages(modules: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_import_is_cheap_and_pulls_in_nothing_that_scikit_learn_does_not() -> None:
    """CPU time on top of scikit-learn; a second process may be faster, as noise only adds."""
    clock = "time.process_time()"
    code = "import sys, sklearn.linear_model, time; before = {*sys.modules}; "
    code += f"t = {clock}; import unseen; one = {clock} - t; "
    code += f"from unseen import *; every = {clock} - t; import unseen.datasets; "
    code += "print(one, every, *({*sys.modules} - before))"
    one, every, *added = printed(code)
    if float(one) > 0.15 or float(every) > 0.8:
        one, every, *added = printed(code)
    assert float(one) <= 0.15
    assert float(every) <= 0.8
    added = packages(added)
    assert "unseen" in added
    assert added.isdisjoint(HEAVY)


def test_import_of_the_package_alone_pulls_in_nothing_heavy_nor_scikit_learn() -> None:
    loaded = packages(printed("import unseen, sys; print(*sys.modules)"))
    assert loaded.isdisjoint([*HEAVY, "sklearn", "scipy", "numpy"])


def test_every_public_name_is_found() -> None:
    for name, module in public_names().items():
        value = getattr(unseen, name)
        assert value.__name__ == name
        assert value is getattr(import_module(module), name)
        assert value.__doc__


def test_every_name_that_a_package_lists_is_there() -> None:
    for found in walk_packages(unseen.__path__, "unseen."):
        if found.ispkg:
            package = import_module(found.name)
            listed = getattr(package, "__all__", ())
            assert [name for name in listed if not hasattr(package, name)] == [], found.name


def test_only_public_names_show() -> None:
    import unseen.monitoring
    import unseen.scores.klr

    names = {*public_names(), "__version__"}
    assert {*dir(unseen)} == {*unseen.__all__} == names
    assert not [name for name in public_names() if name.startswith("_")]


def test_every_line_of_the_list_is_a_name() -> None:
    """A line in another form would be seen by type checkers and by nobody else."""
    stub = ast.parse(Path(unseen.__file__).with_suffix(".pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    listed = {alias.asname: node.module for node in imports for alias in node.names}
    assert listed == public_names()
    others = [node for node in stub.body if not isinstance(node, ast.ImportFrom)]
    assert [ast.unparse(node) for node in others] == ["__version__: str"]


@pytest.mark.parametrize("other", [unseen.ROCSlope(), unseen.MPEIncomplete, "MPEIncomplete"])
def test_other_things_are_no_estimator(other) -> None:
    message = r"estimator must be a proportion estimator such as MPEIncomplete\(\), or None; got "
    with pytest.raises(TypeError, match=message):
        unseen.estimate([[0.0]], ["a"], [[0.0]], estimator=other)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'unseen' has no attribute 'nonsense'"):
        _ = unseen.nonsense
