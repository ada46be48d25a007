from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made import make_results
from playwright.sync_api import sync_playwright

from runner.publish.site import publish
from runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

NAMES = ("planner", "greedy", "random", "Zoë 漢字", "a'b\"c&d", "sixth")

_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
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


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page; in the end, no page may have complained or asked anybody for anything."""
    complaints: list[str] = []
    contexts = []

    def listen(page: Page) -> None:
        page.on("console", lambda it: it.type == "error" and complaints.append(it.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:", "http://127.0.0.1:"))
                or complaints.append(f"request: {request.url}")
            ),
        )

    def open_page(address: Path | str, **options: object) -> Page:
        context = browser.new_context(**options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        listen(page)
        page.goto(address.as_uri() if isinstance(address, Path) else address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def write_site(results: Path, folder: Path) -> Path:
    with closing(Store(results / FILE_NAME)) as store:
        publish(store, folder)
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
