"""The page as text: what it says, what it never lets in, how large it may become."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import example_studies
import pytest
from example_studies import NASTY, made_estimate, page_of, texts_everywhere

from unseen.base import Estimate
from unseen.report import render, write_report
from unseen.report.tables import is_blind
from unseen.study import Study, Suspects

VOID = {"meta", "link", "br"}
KINDS = ("rich", "minimal", "nothing_unseen", "nasty", "huge")


class Outline(HTMLParser):
    """Elements with their attributes, and the text within each kind of element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@cache
def outline_of(kind: str) -> Outline:
    return Outline(page_of(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_small_whole_and_needs_nothing(kind: str) -> None:
    page, outline = page_of(kind), outline_of(kind)
    assert len(page.encode("utf-8")) < 500_000
    assert outline.open == []
    loading = {"script", "img", "iframe", "object", "embed", "form", "base", "video", "image"}
    assert not {tag for tag, _ in outline.elements} & loading
    for tag, attributes in outline.elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in {"src", "srcset", "action", "poster", "data"} & set(attributes):
            pytest.fail(f"<{tag} {name}> could load something")
        for name in {"href", "xlink:href"} & set(attributes):
            assert attributes[name] == "data:," or attributes[name].startswith("#")
    assert "@import" not in page
    assert set(re.findall(r"url\(([^)#]*)", page)) <= {""}


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_can_be_read_aloud(kind: str) -> None:
    outline = outline_of(kind)
    assert outline.of("html") == [{"lang": "en"}]
    assert len(outline.of("h1")) == len(outline.of("main")) == len(outline.of("title")[:1]) == 1
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(outline.of("table")) == len(outline.of("caption"))
    assert {head.get("scope") for head in outline.of("th")} == {"col", "row"}
    for svg in outline.of("svg"):
        assert svg["role"] == "img"
        assert svg["aria-label"]
    assert len(outline.of("figure")) == len(outline.of("figcaption")) == len(outline.of("svg"))
    for area in outline.of("div"):
        if area["class"] == "scroll":
            assert area["tabindex"] == "0"
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    pointed = {link["href"][1:] for link in outline.of("a")}
    pointed |= {one["aria-labelledby"] for _, one in outline.elements if "aria-labelledby" in one}
    assert pointed <= set(ids)


def test_texts_from_the_data_make_no_element_and_no_attribute() -> None:
    """With harmless texts of the same number the page has the same elements and attributes."""
    harmless = tuple(f"text {place}" for place in range(len(NASTY)))
    calm = Outline(render(texts_everywhere(harmless)))
    nasty = outline_of("nasty")

    def shape(outline: Outline) -> list[tuple[str, tuple[str, ...]]]:
        # Within a picture and a command the number of parts may depend on the length of a text.
        inside = {"path", "g", "use", "text", "tspan", "span"}
        return [(tag, tuple(names)) for tag, names in outline.elements if tag not in inside]

    assert shape(nasty) == shape(calm)
    known = {"d", "style", "id", "transform", "x", "y", "href", "class", "clip-path"}
    known |= {"stroke-dashoffset", "width", "height"}
    parts = [names for tag, names in nasty.elements if tag in {"path", "g", "use", "text", "tspan"}]
    assert {name for names in parts for name in names} <= known


def test_texts_from_the_data_are_shown_as_they_are() -> None:
    cells = "".join(outline_of("nasty").texts["th"])
    assert "<script>alert(1)</script>" in cells
    assert "{{7*7}} {% raw %}" in cells
    assert "49" not in cells.replace("{{7*7}}", "")
    assert "&lt;b&gt; &amp; ]]><!-- $x^2$ -->" in cells
    assert "\u202e" not in page_of("nasty")


def test_the_answer_comes_first() -> None:
    study, outline = example_studies.rich(), outline_of("rich")
    assert outline.texts["h1"] == outline.texts["title"][:1] == [study.estimate.sentence()]
    assert "almost certain (more than 99%)" in outline.texts["header"][0]
    assert "450 of 12,345 new rows and 525 of 700 labelled rows" in outline.texts["header"][0]
    first = outline.texts["table"][0]
    assert first.index("ant") < first.index("gnat") < first.index("Unseen classes")
    marked = [one for one in outline.of("tr") if one.get("class") == "marked"]
    assert marked


def test_every_part_of_a_rich_study_is_there() -> None:
    page, text = page_of("rich"), outline_of("rich").texts["body"][0]
    for section in (
        "Then and now", "Why we think so", "Over time", "What labels would buy",
        "What this takes for granted", "Warnings and notices", "Other methods",
        "Rows most likely unseen", "How to get this again", "How to read this page",
    ):  # fmt: skip
        assert section in text
    assert page.count("<svg") == 13  # 8 slopes, shares, gap, history, labels, methods
    study = example_studies.rich()
    for sentence in (*study.notices, *study.origin.preparation, study.origin.command):
        assert sentence in text
    assert "a" * 64 in text
    assert "holds no rows of your data" not in text


def test_a_minimal_study_says_what_is_missing() -> None:
    text = outline_of("minimal").texts["body"][0]
    assert "No intervals were asked for" in text
    assert "None." in text
    assert "a second run differs a little" in text
    assert "holds no rows of your data" in text
    for absent in ("Over time", "Other methods", "What labels would buy", "Rows most likely"):
        assert absent not in text


def test_rows_of_the_data_are_shown_only_on_request() -> None:
    suspects = Suspects(("remark",), (("shiny",),), (17,), (0.99,))
    assert "shiny" in render(replace(example_studies.minimal(), suspects=suspects))
    assert "shiny" not in page_of("minimal")


def test_a_method_that_cannot_see_says_so() -> None:
    blind = made_estimate(("a", "b"), 0.0, method="SaerensEM", diagnostics={}, pooled=None)
    text = Outline(render(Study(blind))).texts["body"][0]
    assert "SaerensEM cannot see unseen classes." in text
    assert "Nothing is unseen." in text


def test_an_interval_without_level_or_width_is_no_obstacle() -> None:
    for changes in ({"confidence": None}, {"width": 0.0}):
        page = render(Study(made_estimate(("a", "b"), 0.0, **changes)))
        assert "What labels would buy" not in page


def test_one_study_gives_one_page() -> None:
    assert render(example_studies.nothing_unseen()) == page_of("nothing_unseen")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "unseen\[plot\]"'):
        render(example_studies.minimal())


def test_the_file_appears_whole_or_not_at_all(tmp_path) -> None:
    target = tmp_path / "report.html"
    assert write_report(example_studies.minimal(), target) == target
    assert target.read_bytes() == page_of("minimal").encode("utf-8")
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(OSError, match="folder"):
        write_report(example_studies.minimal(), tmp_path / "none" / "report.html")


def test_blind_methods_are_those_that_say_nothing_is_unseen() -> None:
    """Half of the rows lie far from both classes; every exported estimator is asked."""
    import numpy as np
    from sklearn.naive_bayes import GaussianNB

    from unseen.proportions import compare
    from unseen.proportions.comparison import default_estimators

    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-3, 1, (60, 2)), rng.normal(3, 1, (60, 2))])
    X_new = np.vstack([X[::2] + 0.1, rng.normal([-9, 9], 1, (60, 2))])
    estimators = default_estimators(2)
    for one in estimators:
        if "classifier" in one.get_params():
            one.set_params(classifier=GaussianNB())
    found = compare(X, ["a"] * 60 + ["b"] * 60, X_new, estimators, random_state=0)
    blind = {name for name, one in found.items() if one.unseen == 0}
    assert blind == {name for name, one in found.items() if is_blind(one)}
    assert {"SaerensEM", "MPEProjected"} <= blind
    assert isinstance(found["OpenSetEstimator"], Estimate)
    assert "OpenSetEstimator" not in blind
