from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made import make_results
from playwright.sync_api import sync_playwright
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.site import Site
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request

NAMES = ("planner", "greedy", "random", "Zoë 漢字", "a'b\"c&d", "sixth")

_CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first needs a quarter of the time of the others, which draw windows for nobody."""
_ARGUMENTS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    if path is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        # Root, as in a container, has no sandbox of chromium's; the pages are our own.
        browser = playwright.chromium.launch(
            executable_path=path, args=list(_ARGUMENTS), chromium_sandbox=False
        )
        yield browser
        browser.close()


class Windows:
    """Pages of a browser, one for each set of options; they write down what they should not do.

    One test after the other looks at them: to open one costs more than most tests do there.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._pages: dict[str, Page] = {}
        self.complaints: list[str] = []

    def page(self, options: dict[str, object]) -> Page:
        """The page with these options of a browser's context, empty."""
        name = str(sorted(options.items()))
        if name not in self._pages:
            context = self._browser.new_context(**options)
            context.set_default_timeout(10_000)
            self._pages[name] = context.new_page()
            self._listen(self._pages[name])
        page = self._pages[name]
        page.mouse.move(0, 0)
        page.goto("about:blank")  # else another part of the same page would not be loaded anew
        return page

    def _listen(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "http://127.0.0.1:")):
            self.complaints.append(f"request: {request.url}")


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Windows:
    return Windows(browser)


@pytest.fixture
def look(windows: Windows) -> Iterator[Callable[..., Page]]:
    """Open a page; in the end, no page may have complained or asked anybody for anything."""

    def open_page(address: Path | str, **options: object) -> Page:
        page = windows.page(options)
        page.goto(address.as_uri() if isinstance(address, Path) else address)
        return page

    windows.complaints.clear()
    yield open_page
    assert windows.complaints == []


def write_site(results: Path, folder: Path) -> Path:
    with closing(Store(results / FILE_NAME)) as store:
        Site(store, kept_choices(store)).write(folder)
    return folder


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_results(tmp_path_factory.mktemp("results"), NAMES, forfeits=2)


@pytest.fixture(scope="session")
def site(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(results, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def big_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen at a table of Speahx."""
    return make_results(
        tmp_path_factory.mktemp("fourteen"),
        [f"bot {number}" for number in range(14)],
        game="speahx",
        rules={"players": 14},
        matches=1,
        publish={"debug": True},
    )


@pytest.fixture(scope="session")
def big_site(big_results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(big_results, tmp_path_factory.mktemp("big_site"))
