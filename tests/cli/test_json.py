"""Every ``--json`` fits the one schema, and notices are found by their code."""

import json
from importlib.resources import files

import jsonschema
import pytest

from reference.small_tables import write_csv

SCHEMA = json.loads(files("unseen.study").joinpath("schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TABLES = ("train.csv", "new.csv", "--label", "kind")
# Windows and labels read NEW twice, which standard input must allow too.
PIPED = ("train.csv", "-", "--label", "kind")
QUICK = ("--method", "SaerensEM")
PLAIN = {"study": "estimate", "comparison": "compare", "checks": "diagnose"}
COMMANDS = {
    "study with windows": ("estimate", *PIPED, "--by", "day"),
    "study with a reference": ("monitor", *PIPED, "--by", "day", "--reference", "training", *QUICK),
    "study with groups": ("estimate", "persons.csv", *TABLES[1:], "--group", "person"),
    "study with a control": ("estimate", *TABLES, "--control", "control.csv"),
    "classification": ("classify", *PIPED, "-o", "{}/out.csv"),
}


def told(run, *command: str, **options) -> dict:
    result = run(*command, "--json", "-", **options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", [*PLAIN, *COMMANDS])
def test_json_fits_its_schema(name, plain, unseen_command, tables, tmp_path) -> None:
    if name in PLAIN:
        record = plain(PLAIN[name])[1]
    else:
        command = (part.format(tmp_path) for part in COMMANDS[name])
        record = told(unseen_command, *command, input=(tables / "new.csv").read_bytes())
    assert record["kind"] == name.split()[0]
    VALIDATOR.validate(record)
    assert "columns_not_used" in [notice["code"] for notice in record["notices"]]
    for field in record:
        lacking = {name: value for name, value in record.items() if name != field}
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(lacking)
    if "estimate" in record:
        # The estimate would name them again: of the encoded column, "=never seen" is constant.
        codes = [one["code"] for one in (*record["notices"], *record["estimate"]["notices"])]
        assert "constant_columns" not in codes


def test_the_schema_is_one_and_refuses_what_it_does_not_know() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for record in ({}, {"format": 2}, {"format": 2, "kind": "prophecy"}):
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(record)


HOSTILE = ("more than 1", "cannot see unseen classes", "are constant over X and X_new")


@pytest.fixture(scope="module")
def hostile(tables, tmp_path_factory) -> tuple[str, ...]:
    """Ants and bees by other names, with columns that are named like sentences of ours."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [line.split(",") for line in (tables / "train.csv").read_text().splitlines()[1:]]
    names = {"ant": HOSTILE[0], "bee": HOSTILE[1]}
    train = [[*row[1:4], "same", names[row[4]]] for row in rows]
    third = [[f"{9 + place / 9}", "9", "blue", "same", HOSTILE[2]] for place in range(12)]
    header = [HOSTILE[1], HOSTILE[0], "colour", HOSTILE[2]]
    write_csv(folder / "train.csv", [*header, "kind"], train + third)
    new = [line.split(",") for line in (tables / "new.csv").read_text().splitlines()[1:]]
    write_csv(folder / "new.csv", header, [[*row[1:4], "same"] for row in new])
    return (str(folder / "train.csv"), str(folder / "new.csv"), "--label", "kind")


def test_names_like_sentences_change_no_answer(unseen_command, hostile, tmp_path) -> None:
    written = tmp_path / "out.json"
    command = ("estimate", *hostile, "-q", "--json", str(written))
    result = unseen_command(*command, "--fail-if", "unseen > 0.1")
    assert (result.exit_code, result.output) == (3, "")
    record = json.loads(written.read_text())
    VALIDATOR.validate(record)
    assert record["estimate"]["sees_unseen"]
    assert record["sentence"].startswith("About ")
    assert record["estimate"]["classes"] == sorted(HOSTILE)
    command = ("estimate", *hostile, *QUICK, "-q", "--fail-if", f"{HOSTILE[0]} > 0.9")
    result = unseen_command(*command)
    assert (result.exit_code, result.output) == (0, "")


def test_a_closed_set_method_is_known_by_what_it_declares(unseen_command, hostile) -> None:
    arguments = ("estimate", *hostile, "--method", "SaerensEM")
    record = told(unseen_command, *arguments)
    assert not record["estimate"]["sees_unseen"]
    assert "closed_set" in [notice["code"] for notice in record["estimate"]["notices"]]
    result = unseen_command(*arguments, "--fail-if", "unseen > 0.1")
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_warning_about_a_class_named_like_a_constant_column_is_kept(
    unseen_command, hostile, tmp_path
) -> None:
    """Twelve labelled rows are few; the class must not be taken for a constant column."""
    written = tmp_path / "out.json"
    command = ("estimate", *hostile, "--method", "MPEIncomplete", "--json", str(written))
    shown = unseen_command(*command).output.replace("\n", " ")
    record = json.loads(written.read_text())
    few = [one for one in record["estimate"]["notices"] if one["code"] == "effective_rows"]
    assert [one["about"] for one in few] == [HOSTILE[2]]
    assert f"warning: class {HOSTILE[2]!r}: with 12 labelled" in shown
