"""Figures of the pages are the committed results of the benchmarks: none can go stale unnoticed."""

import pytest
from claims import CLAIMS
from figures import ROOT, Claim, agrees, like, problems, rewritten, stale, unchecked, with_table
from pictures import dark_path, dark_svg

PAGE = "Ours is .300 (.251 to .335)\nof 1,234 rows; 12% and \N{MINUS SIGN}0.02."
TEXT = "is {} ({} to {}) of {} rows; {} and {}."


def claim(*values: float) -> Claim:
    return Claim("page", TEXT, values)


def test_every_figure_is_the_committed_result() -> None:
    assert len(CLAIMS) > 50
    assert stale() == []


def test_a_figure_that_is_not_the_result_is_noticed_and_rewritten() -> None:
    right = claim(0.2996, 0.2514, 0.335, 1234.4, 0.1151, -0.0249)
    assert [*problems({"page": PAGE}, [right])] == []
    wrong = claim(0.32, 0.2514, 0.335, 1234.4, 0.1151, 0.031)
    assert len([*problems({"page": PAGE}, [wrong])]) == 2
    mended = rewritten(PAGE, wrong)
    assert mended == PAGE.replace(".300", ".320").replace("\N{MINUS SIGN}0.02", "0.03")
    assert [*problems({"page": mended}, [wrong])] == []


def test_a_sentence_that_left_its_page_is_noticed() -> None:
    (told,) = problems({"page": "Nothing here."}, [claim(*range(6))])
    assert told == f"page lacks: {TEXT}"


def test_a_fraction_that_nobody_checks_is_noticed() -> None:
    page = f"{PAGE} And .77, and 2.5 of QuaPy 0.2.3, `code 0.5` and $x = .3$."
    assert unchecked(page, [claim(*[0.0] * 6)], (r"QuaPy 0\.2\.3",)) == [".77", "2.5"]


@pytest.mark.parametrize(
    ("value", "figure"),
    [(0.0711, ".071"), (0.5, "0.500"), (0.123, "12%"), (1234.4, "1,200"), (0.04, "+0.0")],
)
def test_a_result_is_written_as_the_figure_was(value, figure) -> None:
    text = like(value, figure)
    assert agrees(value, text)
    assert len(text) == len(figure)


def test_a_table_is_written_between_its_marks() -> None:
    page = "A.\n\n<!-- table: a -->\n\n| 1 |\n\n<!-- end of table -->\n\nB, .5."
    assert with_table(page, "a", ["| 1 |"]) == page
    assert with_table(page, "a", ["| 2 |", "| 3 |"]) == page.replace("| 1 |", "| 2 |\n| 3 |")
    assert unchecked(page.replace("| 1 |", "| .7 |"), [], ()) == [".5"]
    with pytest.raises(ValueError, match="marks of the table 'b'"):
        with_table(page, "b", ["| 1 |"])


def test_dark_pictures_are_the_light_ones_in_other_colours() -> None:
    twins = [*ROOT.glob("docs/images/*_dark.svg"), *ROOT.glob("benchmarks/**/*_dark.svg")]
    assert len(twins) >= 7
    for twin in twins:
        light = twin.with_stem(twin.stem.removesuffix("_dark"))
        assert dark_path(light) == twin
        assert twin.read_text("utf-8") == dark_svg(light.read_text("utf-8"))
