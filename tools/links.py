"""Every link of the built pages and of the README leads to a file and a place that exist.

    python tools/links.py docs/_build/html     `make docs` runs it; exit code 1 if a link is broken

Addresses of the web are not visited.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

# Sphinx's links from source code to its page name one module for all objects, rightly or not.
LINK = re.compile(r'(?<!"viewcode-back" )\b(?:href|src)="([^"]*)"')
PLACE = re.compile(r'\bid="([^"]*)"')
ROOT = Path(__file__).parents[1]


def broken(pages: dict[Path, tuple[list[str], set[str]]]) -> list[str]:
    """Links of pages, each with its links and places, that lead nowhere."""
    found = []
    for page, (links, _) in pages.items():
        for link in (one for one in links if not re.match(r"[a-z]+:", one)):
            name, place = map(unquote, urldefrag(link.partition("?")[0]))
            target = (page.parent / name).resolve() if name else page
            places = pages.get(target, ([], {place}))[1]
            if not target.exists() or (place and place not in places):
                found.append(f"{page.name}: {link}")
    return found


def of_markdown(text: str) -> tuple[list[str], set[str]]:
    """Links of a page of Markdown to files, and its places: headings and names of Sphinx."""
    heads = (re.sub(r"[^\w\- ]", "", head.lower()) for head in re.findall(r"(?m)^#+ (.*)$", text))
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    named = re.findall(r"(?m)^\(([\w-]+)\)=$", text)
    # Sphinx makes the gallery, and its pages are checked.
    links = [link for link in links if link != "examples/index"]
    return links, {*named, *(head.replace(" ", "-") for head in heads)}


def main() -> None:
    """Check one folder of HTML, and the Markdown of the repository that GitHub shows."""
    html = {one.resolve(): one.read_text("utf-8") for one in Path(sys.argv[1]).rglob("*.html")}
    pages = {page: (LINK.findall(text), {*PLACE.findall(text)}) for page, text in html.items()}
    markdown = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")]
    shown = {one: of_markdown(one.read_text("utf-8")) for one in markdown}
    if found := broken(pages) + broken(shown):
        sys.exit("\n".join(found))
    number = sum(len(links) for links, _ in (*pages.values(), *shown.values()))
    print(f"{number:,} links lead somewhere, or to the web, which was not asked.")


if __name__ == "__main__":
    main()
