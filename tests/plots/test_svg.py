"""One SVG serves light and dark pages, beside others, and is the same each time."""

import re
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

from unseen.labelling import labelling_value
from unseen.monitoring import Timeline
from unseen.plots import (
    DARK,
    LIGHT,
    ComparisonDisplay,
    LabellingDisplay,
    RocDisplay,
    ScoresDisplay,
    SharesDisplay,
    TimelineDisplay,
    to_svg,
)
from unseen.records import RocEvidence

LIMIT = 48_000
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def largest(made) -> dict[str, str]:
    """Pictures of the largest records: 60 classes, 1000 windows, hundreds of vertices."""
    rng = np.random.default_rng(0)
    vertices = (
        np.append(0, np.sort(rng.uniform(size=600))),
        np.append(0, np.sort(rng.uniform(size=600))),
    )
    thresholds = np.linspace(5, -5, 601)
    roc = RocEvidence(*vertices, 0.7, 10**7, 10**6, thresholds=thresholds)
    names = [f"a class with a rather long name, number {place}" for place in range(60)]
    estimate = made(names, pooled=roc)
    windows = [made(names, share) for share in rng.uniform(0, 0.5, 1000)]
    p_values = np.where(rng.uniform(size=1000) < 0.5, 1e-9, 0.5)
    inside = rng.uniform(size=1000) < 0.1
    line = Timeline(tuple(range(1000)), windows, inside, windows[0], p_values, p_values)
    displays = [
        SharesDisplay.from_estimate(estimate, dict.fromkeys(names, 1 / 60)),
        RocDisplay.from_estimate(estimate),
        ScoresDisplay.from_estimate(estimate),
        TimelineDisplay.from_timeline(line),
        LabellingDisplay.from_value(labelling_value(estimate)),
        ComparisonDisplay.from_comparison(dict.fromkeys("abcdefghijklm", estimate)),
    ]
    return {type(display).__name__: to_svg(display.figure_, "t") for display in displays}


def ids(svg: str) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', svg))


def test_svgs_are_small_whatever_the_record(largest) -> None:
    assert [name for name, svg in largest.items() if len(svg.encode()) >= LIMIT] == []


def test_only_variables_colour_a_picture(largest) -> None:
    for name, svg in largest.items():
        left = re.sub(r"var\(--[\w-]+, #[0-9a-f]{6}\)", "", svg)
        assert not re.search(r"#[0-9a-f]{6}\b", left), name
        for group in ElementTree.fromstring(svg).iter():
            for text in group.findall(f"{SVG}text"):
                assert "fill: var(--" in text.get("style", group.get("style", ""))


def test_dark_and_light_drawings_differ_in_their_fallback_colours_only(made) -> None:
    display = SharesDisplay.from_estimate(made(["a", "b"]))
    light = to_svg(display.figure_, "t", prefix="p")
    dark = to_svg(display.plot(theme=DARK).figure_, "t", prefix="p", theme=DARK)
    for name, colour in LIGHT.variables.items():
        light = light.replace(f"var({name}, {colour})", f"var({name}, {DARK.variables[name]})")
    assert dark == light


def test_the_same_figure_gives_the_same_bytes(made) -> None:
    drawn = [to_svg(SharesDisplay.from_estimate(made(["a", "b"])).figure_, "t") for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_pictures_on_one_page_share_no_names(made, evidence) -> None:
    estimate = made(["a"], pooled=evidence)
    svgs = [
        to_svg(display.figure_, "t")
        for display in (RocDisplay.from_estimate(estimate), ScoresDisplay.from_estimate(estimate))
    ]
    assert ids(svgs[0])
    assert ids(svgs[0]).isdisjoint(ids(svgs[1]))
    for svg in svgs:
        assert set(re.findall(r"(?:url\(#|href=\"#)([\w-]+)", svg)) == ids(svg)
        assert svg.count(' id="') == len(ids(svg))


def test_a_prefix_is_used_and_checked(made) -> None:
    figure = SharesDisplay.from_estimate(made(["a"])).figure_
    assert {name.partition("-")[0] for name in ids(to_svg(figure, "t", prefix="mine"))} == {"mine"}
    with pytest.raises(ValueError, match="prefix must be a letter"):
        to_svg(figure, "t", prefix='"><script>')


def test_nothing_leaks_into_the_page(made) -> None:
    svg = to_svg(SharesDisplay.from_estimate(made(["a"])).figure_, "t")
    for part in ("<?xml", "<!DOCTYPE", "<style", "<metadata", "<script", "xlink", "matplotlib"):
        assert part not in svg
    assert set(re.findall(r"https?://[^\"]+", svg)) == {"http://www.w3.org/2000/svg"}


def test_names_from_the_data_stay_text_and_are_escaped(made) -> None:
    names = ["<script>alert(1)</script>", "a & b", "$x$", "狗", "two\x00\nlines"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # matplotlib's font lacks the letter; a page's does not
        figure = SharesDisplay.from_estimate(made(names)).figure_
    svg = to_svg(figure, '"<t>" & co')
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert {"a & b", "$x$", "狗", "two lines", "unseen"} <= set(shown)
    assert any(text.startswith("<script>al") for text in shown)
    assert root.find(f"{SVG}title").text == '"<t>" & co'
    assert root.get("aria-label") == '"<t>" & co'


def test_a_picture_says_what_it_is(made) -> None:
    figure = SharesDisplay.from_estimate(made(["a"])).figure_
    root = ElementTree.fromstring(to_svg(figure, "Shares.", description="30% are unseen."))
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Shares. 30% are unseen"
    assert root[0].tag == f"{SVG}title"
