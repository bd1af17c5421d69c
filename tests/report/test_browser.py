"""The report in a real browser without a network: nothing is asked for, nothing goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reference import example_studies
from reference.chromium_pipe import CHROMIUM, Page, browser_page, chromium_starts
from reference.example_studies import page_of

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs chromium on the machine (Debian: apt install chromium)"
)
KINDS = ("rich", "minimal", "nasty")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports")
    for kind in KINDS:
        (made / f"{kind}.html").write_bytes(page_of(kind).encode("utf-8"))
    return made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if not chromium_starts(tmp_path_factory.mktemp("empty")):
        pytest.skip("chromium cannot show an empty page on this machine")
    with browser_page(tmp_path_factory.mktemp("profile")) as made:
        yield made


def test_the_browser_tells_of_errors_and_requests(page: Page, tmp_path: Path) -> None:
    """The checks below would fail on a page that deserves it."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<script>console.error("no")</script><img src="http://example.invalid/x.png">'
        '<div style="width:2000px">wide</div>'
    )
    page.look(360)
    page.open(bad)
    assert page.told("Runtime.consoleAPICalled")
    assert len(page.told("Network.requestWillBeSent")) == 2
    assert page.told("Log.entryAdded") or page.told("Network.loadingFailed")
    assert page.value("document.documentElement.scrollWidth") > 360


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_asked_for_and_nothing_goes_wrong(page: Page, folder: Path, kind: str) -> None:
    file = folder / f"{kind}.html"
    page.look(1280)
    page.open(file)
    requests = [told["request"]["url"] for told in page.told("Network.requestWillBeSent")]
    assert set(requests) <= {file.as_uri(), "data:,"}
    for trouble in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
        assert page.told(trouble) == []
    assert page.value("document.scripts.length") == 0
    assert page.value("document.compatMode") == "CSS1Compat"


@pytest.mark.parametrize("kind", KINDS)
def test_the_sentence_and_the_table_are_seen(page: Page, folder: Path, kind: str) -> None:
    study = getattr(example_studies, kind)()
    page.look(1280)
    page.open(folder / f"{kind}.html")
    assert page.value("document.querySelector('h1').innerText") == study.estimate.sentence()
    table = "document.querySelector('table')"
    assert page.value(f"{table}.tBodies[0].rows.length") == len(study.estimate.classes) + 1
    assert page.value(f"{table}.querySelector('.marked').innerText").startswith("Unseen classes")
    assert page.value(f"{table}.getBoundingClientRect().height") > 50


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_never_scrolls_sideways(page: Page, folder: Path, kind: str, width: int) -> None:
    page.look(width)
    page.open(folder / f"{kind}.html")
    assert page.value("document.documentElement.scrollWidth") <= width
    # Pictures keep within the page too, and the first table needs no scrolling on a phone.
    widest = "Math.max(...[...document.querySelectorAll('svg')].map(s => s.clientWidth))"
    assert page.value(widest) <= width
    if width < 480:
        assert page.value(
            "(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.scroll'))"
        )


def test_dark_is_dark_and_paper_is_light(page: Page, folder: Path, tmp_path: Path) -> None:
    page.open(folder / "rich.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme, medium in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        page.look(1280, scheme, medium)
        seen[scheme, medium] = page.value(ground)
    assert seen["light", "screen"] == seen["dark", "print"] == "rgb(255, 255, 255)"
    assert seen["dark", "screen"] == "rgb(22, 23, 27)"
    page.screenshot(tmp_path / "dark.png")
    assert (tmp_path / "dark.png").read_bytes().startswith(PNG)


def test_folded_pictures_come_out_on_paper(page: Page, folder: Path, tmp_path: Path) -> None:
    page.open(folder / "rich.html")
    last = "[...document.querySelectorAll('details svg')].pop().checkVisibility()"
    page.look(1280)
    assert page.value(last) is False
    page.look(1280, medium="print")
    assert page.value(last) is True
    page.print_to(tmp_path / "rich.pdf")
    assert (tmp_path / "rich.pdf").read_bytes().startswith(b"%PDF")


def test_the_first_screen_has_the_answer_what_to_do_and_the_picture(
    page: Page, folder: Path
) -> None:
    """800 pixels: the least that a laptop shows."""
    page.look(1280)
    page.open(folder / "rich.html")
    top = "document.querySelector('{}').getBoundingClientRect().{}"
    assert page.value(top.format("h1", "bottom")) < 300
    assert page.value(top.format("#to-do + ol", "bottom")) < 600
    assert page.value(top.format("figure svg", "top")) < 800


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_table_is_read_out_as_a_table(page: Page, folder: Path, width: int) -> None:
    """Where the phone lays it out as blocks, too."""
    page.look(width)
    page.open(folder / "rich.html")
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node.get("ignored")]
    table = roles[roles.index("table") :]
    assert table.count("columnheader") >= 5
    assert table.count("rowheader") >= 11  # ten classes, and unseen ones
    names = [
        node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == "image"
    ]
    assert names
    assert all(any(letter.isdigit() for letter in name) for name in names)
