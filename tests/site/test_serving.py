"""The local server and the pages that follow a run, with real sockets and processes."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import struct
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made import make_results
from playwright.sync_api import expect
from site_fixtures import NAMES, write_site
from tourney_runner.cli.live import LiveReporter
from tourney_runner.errors import UsageError
from tourney_runner.publish.serve import SiteServer
from tourney_runner.run.progress import Progress, Reporter, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@contextmanager
def serving(folder: Path) -> Iterator[SiteServer]:
    with SiteServer(folder, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(
    server: SiteServer, path: str, host: str | None = None, method: str = "GET"
) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    try:
        connection.request(method, path, headers={"Host": host} if host else {})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_only_the_site_is_shown(tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES, matches=1)
    with serving(write_site(results, results / "site")) as server:
        assert get(server, "/")[0] == 200
        assert get(server, "/assets/style.css")[0] == 200
        for path in (
            "/../results.sqlite", "/%2e%2e/results.sqlite", "/bots/", "/nothing.html",
            "/index.html/", "/%00", "/%00.html", "/%ED%A0%80",
        ):  # fmt: skip
            assert get(server, path)[0] == 404, path


def test_no_link_leads_out_of_the_site(site: Path, tmp_path: Path) -> None:
    site = Path(shutil.copytree(site, tmp_path / "site"))
    outside = tmp_path / "outside"
    outside.mkdir()
    for target in ("page.html", "file.txt", "index.html"):
        (outside / target).write_text("secret")
    with serving(site) as server:
        for link in ("page.html", "file.txt"):
            (site / link).symlink_to(outside / link)
        (site / "folder").symlink_to(outside)
        for name in ("page.html", "file.txt", "folder/index.html", "folder/"):
            assert get(server, f"/{name}")[0] == 404, name


def test_a_browser_that_goes_away_is_not_worth_a_word(
    site: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(site) as server:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.server_address[1])) as browser:
                browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                browser.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        assert get(server, "/")[0] == 200
    assert capfd.readouterr().err == ""


def test_a_silent_browser_is_not_waited_for_for_ever(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tourney_runner.publish.serve._Handler.timeout", 0.2)
    with (
        serving(site) as server,
        socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=30) as browser,
    ):
        browser.sendall(b"GET / HT")
        assert browser.recv(100) == b""


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_another_name_for_this_machine_is_refused(site: Path, method: str) -> None:
    with serving(site) as server:
        for host in ("localhost:1", "localhost", "127.0.0.1", "[::1]", "[::1]:80"):
            assert get(server, "/", host=host, method=method)[0] == 200, host
        for host in ("evil.example:80", "evil.example", "localhost.evil.example", "192.0.2.1"):
            assert get(server, "/", host=host, method=method)[0] == 403, host


def test_it_listens_to_this_machine_only(site: Path) -> None:
    with serving(site) as server:
        assert server.server_address[0] == "127.0.0.1"


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
def test_it_listens_to_an_address_of_ipv6(site: Path) -> None:
    with SiteServer(site, "::1", 0) as server:
        assert server.address == f"http://[::1]:{server.server_address[1]}/"


def test_a_taken_port_is_told(site: Path) -> None:
    with serving(site) as server, pytest.raises(UsageError, match="give --port"):
        SiteServer(site, "127.0.0.1", server.server_address[1])


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-machine.invalid", "a..b"])
def test_an_address_of_another_machine_is_told(site: Path, host: str) -> None:
    with pytest.raises(UsageError, match=rf"{host}:0: .*; give --host an address of this machine"):
        SiteServer(site, host, 0)


def test_a_page_looks_again_when_the_site_is_written_anew(
    look: Callable[..., Page], tmp_path: Path
) -> None:
    results = make_results(tmp_path / "r", NAMES, matches=1, complete=False)
    site = write_site(results, tmp_path / "s")
    with serving(site) as server:
        page = look(server.address)
        expect(page.locator(".lead")).to_contain_text("2 deals so far")
        write_site(make_results(tmp_path / "r2", NAMES, matches=3), site)
        expect(page.locator(".lead")).to_contain_text(re.compile("6 deals"), timeout=20_000)


class Silent(Reporter):
    def say(self, line: str) -> None: ...

    def begin(self, progress: Progress) -> None: ...

    def update(self, progress: Progress) -> None: ...

    def end(self) -> None: ...

    def so_far(self, progress: Progress) -> None: ...


def test_pages_are_written_while_a_run_goes_on(tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES, matches=1, complete=False)
    reporter = LiveReporter(Silent(), results)
    progress = Progress(10, [Tally(name) for name in NAMES], done=1)
    reporter.begin(progress)
    deadline = time.monotonic() + 60
    while not (results / "index.html").exists() and time.monotonic() < deadline:
        reporter.update(progress)
        time.sleep(0.05)
    reporter.end()
    assert "2 deals so far" in " ".join((results / "index.html").read_text().split())
