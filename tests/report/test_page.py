"""The page as text: what it says, what it never lets in, how large it may become."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from reference import example_studies
from reference.example_studies import (
    NASTY,
    believed,
    closed_set,
    made_baselines,
    made_estimate,
    made_timeline,
    notes,
    page_of,
    texts_everywhere,
    warnings,
)
from unseen import Explanation
from unseen._wording import disagreement
from unseen.drift import Drift, Tolerance
from unseen.loop import Group
from unseen.records import Estimate
from unseen.report import render, write_report
from unseen.report.pictures import history_picture
from unseen.report.sentences import (
    assumptions,
    at_most,
    certainty,
    data_name,
    source,
    to_do,
    warnings_and_notes,
)
from unseen.report.tables import (
    baselines_table,
    history_table,
    shares_table,
    shown_labelling,
    side_by_side,
)
from unseen.study import Origin, Study, Suspects
from unseen.study.thumbnails import Thumbnail

VOID = {"meta", "link", "br", "img"}
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
    assert outline.texts["h1"] == [study.estimate.sentence()]
    (data, *_), (title, *_) = outline.texts["strong"], outline.texts["title"]
    assert title == f"{data}: {study.estimate.sentence()}"
    told = "almost certain: its probability was 5% before the data, now more than 99%"
    assert told in outline.texts["header"][0]
    assert "450 of 12,345 new rows and 825 of 1,000 labelled rows" in outline.texts["header"][0]
    first = outline.texts["table"][0]
    assert first.index("ant") < first.index("gnat") < first.index("Unseen classes")
    assert outline.texts["h2"][:2] == ["What to do now", "Then and now"]
    page = page_of("rich")
    assert page.index("</nav>") < page.index("<svg") < page.index("<table")
    marked = [one for one in outline.of("tr") if one.get("class") == "marked"]
    assert marked


def test_over_time_the_change_comes_first_and_the_latest_window_is_now() -> None:
    study = replace(example_studies.rich(), over_time=True, baselines=None)
    outline = Outline(render(study))
    assert outline.texts["h1"] == [study.timeline.sentence()]
    heads = [head for head in outline.texts["h2"] if not head.startswith("Warnings")]
    assert heads[:3] == ["What to do now", "Over time", "The latest window"]
    now = study.timeline.estimates[-1]
    assert f"{now.unseen:.1%}" in outline.texts["table"][1]
    assert (
        f"all windows are taken together. {study.estimate.sentence()}" in outline.texts["main"][0]
    )


def test_groups_of_unseen_rows_have_a_picture_and_a_table() -> None:
    group = Group(1, 0.3, 0.2, 0.4, 30, "between", "a", "b", 2.5, 0.9, None, (), (), (), ())
    found = Explanation((group,), 0.3, (1, 1), np.ones(9), np.full(9, 0.3), ())
    text = render(Study(made_estimate("ab"), explanation=found))
    assert "What the unseen rows are" in text
    assert (
        "Share of each group of unseen rows. The unseen rows, 30% of the new ones, form 1" in text
    )
    assert "<bdi>between a and b</bdi>" in text


def test_ten_classes_make_a_page_under_200_kb() -> None:
    assert len(example_studies.rich().estimate.classes) == 10
    assert len(page_of("rich").encode()) < 200_000


def test_pictures_of_rows_are_shown_group_by_group_and_make_no_markup() -> None:
    group = Group(1, 0.3, 0.2, 0.4, 30, "between", "a", "b", 2.5, 0.9, None, (), (), (), ())
    found = Explanation((group,), 0.3, (1, 1), np.ones(9), np.full(9, 0.3), ())
    source = 'data:image/png;base64,AAAA"><script>alert(1)</script>'
    # The most that explain keeps, each as large as may be.
    more = [Thumbnail(2, "borderline", place, "data:," + "A" * 1_600) for place in range(63)]
    shown = (Thumbnail(1, "<b>central", 17, source), *more)
    page = render(Study(made_estimate("ab"), explanation=found, thumbnails=shown))
    outline = Outline(page)
    assert len(page.encode()) < 190_000  # eight more classes have room below 200 KB
    image, *_ = outline.of("img")
    assert image == {"src": source, "alt": "Picture of row 17, <b>central in group 1"}
    assert not outline.of("script")
    assert not outline.of("b")
    assert "holds no rows of your data" not in page


def test_pictures_say_their_numbers() -> None:
    labels = [svg["aria-label"] for svg in outline_of("rich").of("svg")]
    assert all(re.search(r"\d%|± \d", label) for label in labels)
    shares = next(label for label in labels if label.startswith("Share of each class"))
    assert "Unseen 30.0% (25.0% to 35.0%), ant 12.7%" in shares


def test_the_unseen_row_stands_out_only_where_something_is_unseen() -> None:
    assert shares_table(Study(made_estimate("ab", 0.3))).rows[-1].marked
    assert not shares_table(Study(made_estimate("ab", 0.0))).rows[-1].marked


def test_a_small_study_in_sentences_and_in_a_table() -> None:
    made = Estimate(("cat",), [0.7], 0.3, "made", n_labelled={"cat": 9}, n_new=7)
    files = Origin(files=(("data/train.csv", "5f"), ("new.csv", "a0")))
    study = Study(made, n_new=1000, origin=files)
    assert data_name(study) == "new.csv beside train.csv"
    assert source(study) == "made, from 7 of 1,000 new rows and 9 labelled rows of 1 known class."
    look = "Look at the rows that fit no known class: `unseen explain` says what they have in"
    assert to_do(study)[0].startswith(look)
    assert [row.cells for row in shares_table(study).rows] == [
        ("cat", "100.0%", "70.0%", "≈ no clear change"),
        ("Unseen classes", "never", "30.0%", "-"),  # no part of the known rows
    ]


def test_a_message_is_told_once_and_those_without_room_are_counted() -> None:
    assert at_most(["a", "a", "b"]) == ["a", "b"]
    assert at_most(map(str, range(99)))[-1] == "84 more are left out here."


def test_methods_that_disagree_are_named() -> None:
    apart = Study(made_estimate("ab", 0.3), baselines=made_baselines("ab", 0.5))
    text = disagreement(apart.estimate, apart.baselines)
    assert "says 30.0%" in text
    assert "MPEIncomplete says 51.0%" in text
    assert text in Outline(render(apart)).texts["body"][0]
    assert disagreement(apart.estimate, made_baselines("ab", 0.3)) == ""
    drift = Drift("moved", 0.9, Tolerance(np.zeros(0), np.zeros(0)), 0.9)
    moved = disagreement(replace(apart.estimate, drift=drift), apart.baselines)
    assert moved.startswith("Other methods assume that no known class has moved")


def test_every_part_of_a_rich_study_is_there() -> None:
    page, text = page_of("rich"), outline_of("rich").texts["body"][0]
    for section in (
        "What to do now", "Then and now", "Why we think so", "Over time", "What labels would buy",
        "What this takes for granted", "Notes", "Other methods",
        "Rows most likely unseen", "How to get this again", "How to read this page",
    ):  # fmt: skip
        assert section in text
    assert page.count("<svg") == 16  # 11 slopes, shares, gap, history, labels, methods
    study = example_studies.rich()
    told = [notice.text for notice in study.notices]
    for sentence in (*told, *study.origin.preparation, study.origin.command):
        assert sentence in text
    assert "a" * 64 in text
    assert "holds no rows of your data" not in text


def test_a_minimal_study_says_what_is_missing() -> None:
    text = outline_of("minimal").texts["body"][0]
    assert "No intervals were asked for" in text
    assert "a second run differs a little" in text
    assert "holds no rows of your data" in text
    for absent in ("Over time", "Other methods", "What labels would buy", "Rows most likely",
                   "Warnings", "Notes"):  # fmt: skip
        assert absent not in text


def test_rows_of_the_data_are_shown_only_on_request() -> None:
    suspects = Suspects(("remark",), (("shiny",),), (17,), (0.99,))
    assert "shiny" in render(replace(example_studies.minimal(), suspects=suspects))
    assert "shiny" not in page_of("minimal")


def test_a_method_that_cannot_see_says_so() -> None:
    changes = {"method": "SaerensEM", "diagnostics": {}, "pooled": None}
    study = Study(closed_set(made_estimate(("a", "b"), 0.0, 0.02, **changes)))
    text = Outline(render(study)).texts["body"][0]
    assert text.count("SaerensEM cannot see unseen classes") == 2  # first of all, and as a warning
    assert "Nothing is unseen." in text
    for claim in ("far too large", "a lower one", "No sign", "What labels would buy"):
        assert claim not in text
    cells = shares_table(study).rows[-1].cells
    assert cells == ("Unseen classes", "never", "-", "-", "-")


def test_the_history_of_a_method_that_cannot_see_shows_no_unseen_share() -> None:
    timeline = made_timeline(("a", "b"), 3)
    estimates = [closed_set(made_estimate(("a", "b"), 0.0))] * 3
    study = Study(
        estimates[0],
        timeline=replace(timeline, estimates=estimates, reference_estimate=estimates[0]),
    )
    assert "not estimated and stands at 0" in history_picture(study.timeline).caption
    table = history_table(study.timeline)
    assert {row.cells[1:3] for row in table.rows} == {("-", "-")}


@pytest.mark.parametrize("fewest", [30, 500])
def test_the_smallest_class_may_be_as_large_as_others(fewest) -> None:
    estimate = made_estimate(("a", "b"), n_labelled={"a": fewest, "b": fewest})
    body = [*assumptions(Study(estimate)).values()][-1]
    assert f"a, has {fewest} labelled rows" in body
    assert ("every other class at least as many" in body) == (fewest == 500)


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


def test_the_record_says_whether_its_method_sees_unseen_classes() -> None:
    study = Study(made_estimate(("a", "b")), baselines=made_baselines(("a", "b")))
    found = baselines_table(side_by_side(study), 3)
    assert {row.cells[0]: row.cells[1] for row in found.rows} == {
        "OpenSetEstimator": "yes", "MPEIncomplete": "yes", "SaerensEM": "no",
    }  # fmt: skip


def test_words_of_a_notice_change_nothing() -> None:
    """A column or a class may be called like any sentence of this library."""
    text = "column 'OpenSetEstimator cannot see unseen classes' is constant."
    study = Study(made_estimate(("a", "b"), notices=warnings(text)))
    assert shares_table(study).rows[-1].cells[2] == "30.0%"
    page = render(study)
    assert "far too large" in page
    assert "What labels would buy" in page


def test_severity_decides_where_a_notice_stands_and_each_is_told_once() -> None:
    study = Study(
        made_estimate(("a", "b"), notices=(*warnings("w1", "both"), *notes("n1"))),
        notices=(*notes("n2", "n1", "both"), *warnings("w2", "w1")),
        timeline=replace(
            made_timeline(("a", "b"), 3), skipped=(), n_missing=0, notices=warnings("w3")
        ),
    )
    assert warnings_and_notes(study) == (["w1", "both", "w3", "w2"], ["n1", "n2"])


# How sure


def test_the_probability_stands_beside_the_one_before_the_data() -> None:
    for before in (0.05, 0.5):
        found = made_estimate(("a", "b"), diagnostics=believed(0.8, before))
        said = "That anything is unseen is likely: its probability was "
        assert certainty(found)[0] == f"{said}{before:.0%} before the data, now about 80%."


@pytest.mark.parametrize("diagnostics", [{}, {"probability_unseen": 0.97}, believed(0.97, 0.98)])
def test_with_one_class_or_without_its_origin_no_probability_is_told(diagnostics) -> None:
    labels = ("a",) if "bayes_factor" in diagnostics else ("a", "b")
    found = certainty(made_estimate(labels, 0.02, diagnostics=diagnostics))
    assert found == ["Intervals should hold the true share 95 times in 100."]


@pytest.mark.parametrize(
    ("factor", "is_told"), [(1e20, True), (float("inf"), True), (3.0, False), (1e-20, False)]
)
def test_where_the_probability_is_rounded_off_the_data_speak_for_themselves(
    factor, is_told
) -> None:
    said = {"probability_unseen": 1.0, "bayes_factor": factor}
    found = certainty(made_estimate(("a", "b"), diagnostics=said))
    assert ("almost certain, whatever one believed before" in found[0]) == is_told
    assert len(found) == 1 + is_told


# Time


def test_caption_and_table_mark_the_same_windows() -> None:
    """The unseen share alone has changed in one window, and something else in another."""
    timeline = replace(
        made_timeline(("a", "b"), 4),
        raw_p_values=[np.nan, 0.6, 1e-4, 0.6],
        raw_p_values_unseen=[np.nan, 0.6, 0.6, 1e-4],
    )
    caption = history_picture(timeline).caption
    assert "2 windows marked ▼ differ from 2024-01-01" in caption
    table = history_table(timeline)
    assert [row.marked for row in table.rows] == [False, False, True, True]
    verdicts = [row.cells[3:5] for row in table.rows]
    assert verdicts[2:] == [("changed", "< 0.001"), ("unseen changed", "< 0.001")]


@pytest.mark.parametrize(
    ("reference", "name"), [([], "training"), ([0], "2024-01-01"),
                            ([0, 1], "the reference windows")],
)  # fmt: skip
def test_the_page_says_what_windows_are_compared_with(reference, name) -> None:
    inside = np.isin(np.arange(4), reference)
    p_values = np.where(inside, np.nan, 0.6)
    timeline = replace(
        made_timeline(("a", "b"), 4),
        in_reference=inside, raw_p_values=p_values, raw_p_values_unseen=p_values,
    )  # fmt: skip
    text = Outline(render(Study(made_estimate(("a", "b")), timeline=timeline))).texts["body"][0]
    assert f"no window differs clearly from {name}." in text
    assert f"such a difference from {name}," in text
    assert f"Since {name}" in text


# Labels


@pytest.mark.parametrize(
    ("unseen", "width", "is_said"),
    [(0.3, 0.05, True), (0.0, 0.02, True), (0.0, 0.002, False), (0.3, 0.02, False)],
)
def test_no_worth_beyond_the_rows_that_could_be_labelled(unseen, width, is_said) -> None:
    study = Study(made_estimate(("a", "b"), unseen, width))
    assert (shown_labelling(study) is not None) == is_said
    assert ("What labels would buy" in render(study)) == is_said
