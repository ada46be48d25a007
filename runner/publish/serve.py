"""A site shown to browsers on this machine, which look again when it was written anew."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from runner.errors import UsageError
from runner.publish.claim import MARKER
from runner.publish.rendering import asset

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SiteServer"]

_SCRIPT = "/-/reload.js"
_STAMP = "/-/stamp"


class SiteServer(ThreadingHTTPServer):
    """Serves one folder, nothing above it, and no lists of files.

    Args:
        folder: The site.
        host: The address to listen on.
        port: 0 for any that is free.

    Raises:
        UsageError: The address cannot be had.
    """

    daemon_threads = True

    def __init__(self, folder: Path, host: str, port: int) -> None:
        self.folder = folder
        try:
            super().__init__((host, port), partial(_Handler, directory=str(folder)))
        except OSError as error:
            raise UsageError(
                f"{host}:{port}: cannot listen there ({error.strerror}); give --port another number"
            ) from error
        self.local = _is_local(host)

    @property
    def address(self) -> str:
        """Where the site is."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/"

    def stamp(self) -> str:
        """Changes whenever the site has been written."""
        try:
            return str((self.folder / MARKER).stat().st_mtime_ns)
        except OSError:
            return ""


class _Handler(SimpleHTTPRequestHandler):
    server: SiteServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a request; pages get a line that has them look for changes."""
        path = self.path.partition("?")[0].partition("#")[0]
        if self.server.local and not self._asked_for_this_machine():
            self.send_error(HTTPStatus.FORBIDDEN)
        elif path == _STAMP:
            self._send(self.server.stamp(), "text/plain")
        elif path == _SCRIPT:
            self._send(asset("reload.js"), "text/javascript")
        elif path.endswith(("/", ".html")):
            self._send_page(path)
        else:
            super().do_GET()

    def _asked_for_this_machine(self) -> bool:
        """A page elsewhere must not read this one under a name of its own."""
        host = self.headers.get("Host", "").rpartition(":")[0].strip("[]")
        return host == "localhost" or _is_local(host)

    def _send_page(self, path: str) -> None:
        name = f"{path}index.html" if path.endswith("/") else path
        try:
            with open(self.translate_path(name), encoding="utf-8") as file:  # noqa: PTH123
                text = file.read()
        except OSError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        script = f'<script src="{_SCRIPT}" defer></script></body>'
        self._send(script.join(text.rsplit("</body>", 1)), "text/html")

    def _send(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def list_directory(self, path: Any) -> None:
        """There are no lists."""
        del path
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing of each request."""


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
