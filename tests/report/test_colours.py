"""Text can be read in both themes and on paper: its contrast, by WCAG 2, is at least 4.5."""

from __future__ import annotations

import re

import pytest

from reference.example_studies import page_of

TEXT = ("--ink", "--muted", "--known", "--unseen")
GROUNDS = ("--paper", "--wash", "--shade")


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def themes() -> dict[str, dict[str, str]]:
    """Variables of the three blocks of the style sheet, in their order."""
    blocks = re.findall(r":root \{(.*?)\}", page_of("minimal"), re.DOTALL)
    found = [dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", block)) for block in blocks]
    return dict(zip(("light", "dark", "print"), found, strict=True))


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("ground", GROUNDS)
def test_text_stands_out(ground: str) -> None:
    for name, colours in themes().items():
        series = [one for one in colours if "--series" in one and ground == "--paper"]
        for text in (*TEXT, *series):
            assert contrast(colours[text], colours[ground]) >= 4.5, (name, text)


def test_paper_is_light_whatever_the_screen() -> None:
    found = themes()
    assert found["print"] == found["light"] != found["dark"]


def test_every_variable_that_is_used_has_a_value() -> None:
    page, defined = page_of("minimal"), themes()
    for name in set(re.findall(r"var\((--[\w-]+)", page)):
        assert all(name in colours for colours in defined.values()), name
