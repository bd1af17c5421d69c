"""The README as a package index shows it, where links into the repository lead nowhere."""

from __future__ import annotations

import re

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_SOURCE = re.compile(r'(?P<name>src|srcset)="(?P<target>[^"]+)"')


def package_readme(text: str, repository: str | None, version: str) -> str:
    """The README with links and pictures that a package index can follow.

    Parameters
    ----------
    text : str
        README.md, whose links are relative to the repository.
    repository : str or None
        Address of the repository, laid out as on GitHub. None leaves out the pictures, and keeps
        the words of the links alone.
    version : str
        Links lead to the tag of this version, such as ``v0.1.0``.

    Returns
    -------
    str

    Examples
    --------
    >>> package_readme("See [drift](docs/drift.md).", "https://host/o/unseen", "0.1.0")
    'See [drift](https://host/o/unseen/blob/v0.1.0/docs/drift.md).'
    >>> package_readme("See [drift](docs/drift.md).", None, "0.1.0")
    'See drift.'
    """
    if repository is None:
        without = _PICTURE.sub("", text)
        return _LINK.sub(lambda link: link[0] if _is_whole(link) else link["text"], without)

    def link(found: re.Match[str]) -> str:
        return found[0] if _is_whole(found) else f"[{found['text']}]({page}/{found['target']})"

    def source(found: re.Match[str]) -> str:
        return found[0] if _is_whole(found) else f'{found["name"]}="{raw}/{found["target"]}"'

    page, raw = (f"{repository.rstrip('/')}/{kind}/v{version}" for kind in ("blob", "raw"))
    return _SOURCE.sub(source, _LINK.sub(link, text))


def _is_whole(found: re.Match[str]) -> bool:
    """Whether a target needs no repository: an address, or a place on the same page."""
    return found["target"].startswith(("https://", "http://", "mailto:", "#"))
