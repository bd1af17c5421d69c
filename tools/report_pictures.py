"""Take the pictures of "Read a report" in a real browser.

    python tools/report_pictures.py              # writes docs/images/report_*.png; needs chromium

The report is of the handwritten digits of ``unseen demo``: training knows 0 to 6, and three rows
in ten of the new ones are a 7, an 8 or a 9, which come on the third day and stay.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import unseen
from unseen.demo import digit_samples
from unseen.monitoring import monitor
from unseen.report import write_report
from unseen.study import Origin, Study

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from reference.chromium_pipe import browser_page  # noqa: E402

# Name, width of the window, colour scheme, and the part of the page: from, to.
PICTURES = (
    ("report_top", 820, "light", (20, 1105)),
    ("report_top_dark", 820, "dark", (20, 1105)),
    ("report_phone", 360, "dark", (0, 1800)),
)
COLOURS = 64


def digits_study() -> Study:
    """Shares of the digits, with everything that the report can show but rows."""
    X, y, X_new, y_new = digit_samples(0)
    rng = np.random.default_rng(0)
    days = np.where(y_new > 6, rng.integers(3, 6, len(y_new)), rng.integers(1, 6, len(y_new)))
    methods = [unseen.MPEIncomplete(), unseen.SaerensEM(), unseen.ClassifyAndCount()]
    return Study(
        unseen.estimate(X, y, X_new, confidence=0.95, random_state=0),
        baselines=unseen.compare(X, y, X_new, methods, random_state=0),
        timeline=monitor(X, y, X_new, [f"day {day}" for day in days], random_state=0),
        origin=Origin("python tools/report_pictures.py"),
    )


def main() -> None:
    """Make the report, look at it, and keep what the documentation shows."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        report = write_report(digits_study(), Path(folder, "report.html"))
        with browser_page(Path(folder, "profile")) as page:
            page.call("Emulation.setScrollbarsHidden", hidden=True)
            page.open(report)
            for name, width, scheme, (top, bottom) in PICTURES:
                page.look(width, scheme)
                shot = Path(folder, f"{name}.png")
                page.screenshot(shot)
                part = Image.open(shot).convert("RGB").crop((0, top, width, bottom))
                target = ROOT / "docs" / "images" / f"{name}.png"
                part.quantize(COLOURS).save(target, optimize=True)
                print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
