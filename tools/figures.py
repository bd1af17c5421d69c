"""Every figure of the pages that comes from a benchmark, compared with the committed result.

    python tools/figures.py            which figures are stale or checked by nobody; exit code 1
    python tools/figures.py --write    write the results into the pages

A claim is a piece of a page with {} in the place of each figure, and the results that belong
there (tools/claims.py). A figure must be the result, rounded to the digits that the page shows.
Large tables are written as a whole, between two marks (tools/written_tables.py). A page of
``WHOLE`` may hold no other decimal fraction but those of ``STATED``, so that no figure can be added
unchecked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FIGURE = r"([+\N{MINUS SIGN}-]?(?:\d[\d,]*)?\.?\d+%?)"
FRACTION = re.compile(r"(?<![\w.\d])\d*\.\d+")
# Code, formulas and addresses hold no results.
NOT_PROSE = re.compile(r"^```.*?^```$|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$|\]\([^)]*\)", re.M | re.S)
WRITTEN = re.compile(r"<!-- table: .*?<!-- end of table -->", re.S)


class Claim(NamedTuple):
    """A piece of a page with {} for each figure, and the results that belong there."""

    page: str
    text: str
    values: tuple[float, ...]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The piece of the page, with any white space between its words."""
        words = [FIGURE.join(map(re.escape, word.split("{}"))) for word in self.text.split()]
        return re.compile(r"\s+".join(words))


def like(value: float, figure: str) -> str:
    """A result written as the figure is: per cent, digits, leading 0, sign.

    Examples
    --------
    >>> like(0.0711, ".07"), like(0.5, "0.500"), like(0.123, "12%"), like(1234.4, "1,200")
    ('.07', '0.500', '12%', '1,234')
    >>> like(-0.0224, "\N{MINUS SIGN}0.022") == "\N{MINUS SIGN}0.022"
    True
    """
    bare = figure.rstrip("%")
    digits = len(bare.partition(".")[2])
    amount = abs(value) * (100 if figure.endswith("%") else 1)
    text = f"{amount:{',' if ',' in bare else ''}.{digits}f}"
    if bare.lstrip("+-\N{MINUS SIGN}").startswith("."):
        text = text.removeprefix("0")
    sign = "" if value >= 0 else "-" if "-" in figure else "\N{MINUS SIGN}"
    return ("+" if figure.startswith("+") and value >= 0 else sign) + text + "%" * ("%" in figure)


def agrees(value: float, figure: str) -> bool:
    """Whether a figure is the result rounded; results are rounded themselves, so ties go both ways.

    Examples
    --------
    >>> agrees(0.0705, ".070"), agrees(0.0705, ".071"), agrees(0.0705, ".072")
    (True, True, False)
    """
    shown = float(re.sub("[,%]", "", figure).replace("\N{MINUS SIGN}", "-"))
    unit = 10.0 ** -len(figure.rstrip("%").partition(".")[2])
    scale = 100 if figure.endswith("%") else 1
    return abs(value * scale - shown) <= unit * 0.5001


def between(page: str, name: str) -> tuple[int, int]:
    """Where a table begins and ends, between its marks; both are -1 where a mark is missing."""
    start, end = f"<!-- table: {name} -->\n\n", "\n\n<!-- end of table -->"
    begin = page.find(start)
    return (-1, -1) if begin < 0 else (begin + len(start), page.find(end, begin))


def with_table(page: str, name: str, lines: Iterable[str]) -> str:
    r"""The page with a table in its place.

    Examples
    --------
    >>> page = "Before.\n\n<!-- table: a -->\n\nold\n\n<!-- end of table -->"
    >>> with_table(page, "a", ["new", "lines"]).splitlines()[4:6]
    ['new', 'lines']
    """
    begin, end = between(page, name)
    if end < 0:
        raise ValueError(f"the page must have the marks of the table {name!r}.")
    return page[:begin] + "\n".join(lines) + page[end:]


def problems(pages: dict[str, str], claims: list[Claim]) -> Iterator[str]:
    """What is wrong: a claim that its page lacks, or a figure that is not the result."""
    for claim in claims:
        found = claim.pattern.search(pages[claim.page])
        if found is None:
            yield f"{claim.page} lacks: {claim.text}"
            continue
        for figure, value in zip(found.groups(), claim.values, strict=True):
            if not agrees(value, figure):
                result = like(value, figure)
                yield f"{claim.page} says {figure}, and the result is {result}: {claim.text}"


def unchecked(page: str, claims: list[Claim], stated: tuple[str, ...]) -> list[str]:
    """Decimal fractions of a page that no claim covers and that are not stated constants.

    Tables between marks are compared as a whole, and are left out here.
    """
    rest = WRITTEN.sub(" ", page)
    constants = (re.compile(text.replace(" ", r"\s+"), re.S) for text in stated)
    for pattern in (*(claim.pattern for claim in claims), *constants):
        rest = pattern.sub(lambda found: re.sub(r"\d", "#", found[0]), rest)
    return FRACTION.findall(NOT_PROSE.sub(" ", rest))


def rewritten(page: str, claim: Claim) -> str:
    """The page with the results in place of the figures of a claim."""
    found = claim.pattern.search(page)
    if found is None:
        return page
    pieces, end = [], found.start()
    for place, value in enumerate(claim.values, start=1):
        figure = found[place]
        shown = figure if agrees(value, figure) else like(value, figure)
        pieces += [page[end : found.start(place)], shown]
        end = found.end(place)
    return page[: found.start()] + "".join(pieces) + page[end:]


def stale() -> list[str]:
    """Everything that is wrong with the pages."""
    from claims import CLAIMS, STATED, WHOLE
    from written_tables import TABLES

    names = {*WHOLE, *(one.page for one in (*CLAIMS, *TABLES))}
    pages = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    found = [*problems(pages, CLAIMS)]
    found += [
        f"{page} has another table {name} than the results."
        for page, name, lines in TABLES
        if with_table(pages[page], name, lines) != pages[page]
    ]
    for name in WHOLE:
        mine = [claim for claim in CLAIMS if claim.page == name]
        found += [
            f"{name} has {figure}, which no claim checks."
            for figure in unchecked(pages[name], mine, STATED.get(name, ()))
        ]
    return found


def write() -> None:
    """Put the results into the pages."""
    from claims import CLAIMS
    from written_tables import TABLES

    for page in {one.page for one in (*CLAIMS, *TABLES)}:
        text = (ROOT / page).read_text("utf-8")
        for claim in (one for one in CLAIMS if one.page == page):
            text = rewritten(text, claim)
        for table in (one for one in TABLES if one.page == page):
            text = with_table(text, table.name, table.lines)
        (ROOT / page).write_text(text, encoding="utf-8")


def main() -> None:
    """Compare, or write."""
    if "--write" in sys.argv[1:]:
        write()
    found = stale()
    print("\n".join(found) or "Every figure is the committed result.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
