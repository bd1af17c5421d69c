"""A package index gets a README without a link into nowhere."""

import re
from pathlib import Path

import pytest
from package_readme import package_readme

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
TARGET = re.compile(r"""\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)\"""")


def targets(text: str) -> list[str]:
    return ["".join(found) for found in TARGET.findall(text)]


def test_every_link_and_picture_leads_to_the_tag_in_the_repository() -> None:
    relative = [one for one in targets(TEXT) if "://" not in one]
    assert relative
    shown = targets(package_readme(TEXT, "https://host/owner/unseen/", "1.2.3"))
    whole = [one for one in shown if one.startswith("https://host/owner/unseen/")]
    paths = [
        re.fullmatch(r"https://host/owner/unseen/(?:blob|raw)/v1.2.3/(.*)", one) for one in whole
    ]
    assert [one[1] for one in paths] == relative
    assert all((ROOT / one[1].partition("#")[0]).exists() for one in paths)


def test_without_an_address_the_words_stay_and_nothing_leads_nowhere() -> None:
    shown = package_readme(TEXT, None, "1.2.3")
    assert all("://" in one for one in targets(shown))
    assert "<picture>" not in shown
    assert "[five-minute tutorial]" not in shown
    assert "five-minute tutorial" in shown


@pytest.mark.parametrize("repository", [None, "https://host/owner/unseen"])
def test_whole_addresses_and_places_of_the_page_stay(repository) -> None:
    text = "[a](https://b.org/c) [d](#e)"
    assert package_readme(text, repository, "1") == text
