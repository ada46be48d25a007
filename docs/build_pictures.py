"""Take the README's pictures: ``python docs/build_pictures.py results/quickstart``.

The quickstart must have been played. Needs the extra ``test`` and a Chromium.
"""  # noqa: INP001 - a script beside what it writes

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

__all__ = ["main"]

_PICTURES = Path(__file__).resolve().parent / "pictures"
_CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_WIDTH = 1280


def main(results: Path) -> None:
    """Write ``standings.png`` and ``replay.png``."""
    site = results.resolve() / "site"
    replay = min((site / "replays").glob("*.html"))
    _PICTURES.mkdir(exist_ok=True)
    program = next(filter(None, map(shutil.which, _CHROMIUMS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
        page = browser.new_page(viewport={"width": _WIDTH, "height": 760})
        page.goto(f"{site.as_uri()}/index.html")
        page.screenshot(path=_PICTURES / "standings.png")
        page.goto(f"{replay.as_uri()}#move=12")
        page.screenshot(path=_PICTURES / "replay.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
