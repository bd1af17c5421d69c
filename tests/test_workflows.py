"""The recipe for hosted runners runs the same make targets as a desk, and all of these exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def test_every_job_runs_make_targets_that_exist() -> None:
    steps = re.findall(r"^\s*- run: (.+)$", RECIPE, re.MULTILINE)
    jobs = re.findall(r"^  (\w+):\n(?:    .*\n)*?    runs-on:", RECIPE, re.MULTILINE)
    assert len(steps) == len(jobs) > 5
    known = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    for step in steps:
        make, *words = step.split()
        assert make == "make"
        assert {word for word in words if "=" not in word} <= known


def test_every_target_is_phony_and_every_python_is_tried() -> None:
    phony = set(re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[0].split())
    assert phony == set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    listed = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert all(f'"{version}"' in RECIPE for version in listed)
