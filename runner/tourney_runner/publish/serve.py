"""A local web server for a site, whose pages reload when the site is written again."""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, BinaryIO

from tourney_runner.errors import UsageError
from tourney_runner.process.installations import holds
from tourney_runner.publish.rendering import asset
from tourney_runner.publish.site_folder import MARKER

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SiteServer"]

_SCRIPT = "/-/reload.js"
_STAMP = "/-/stamp"
_PORT = re.compile(r":[0-9]*\Z")
"""The port at the end of a ``Host`` header; browsers leave it out if it is 80."""


class SiteServer(ThreadingHTTPServer):
    """A server of one folder, without its parents and without directory listings.

    Args:
        folder: The site.
        host: The address to listen on.
        port: 0 for any free port.

    Raises:
        UsageError: The server cannot listen on that address.
    """

    daemon_threads = True

    def __init__(self, folder: Path, host: str, port: int) -> None:
        self.folder = folder
        self.local = _is_local(host)
        try:
            self.address_family = _family(host, port)
            super().__init__((host, port), partial(_Handler, directory=str(folder)))
        except (OSError, UnicodeError) as error:  # the latter for invalid host names
            raise UsageError(_refusal(host, port, error)) from error

    @property
    def address(self) -> str:
        """The URL of the site."""
        host, port = self.server_address[:2]
        return f"http://{_written(str(host), port)}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore lost connections; report any other error as usual."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def stamp(self) -> str:
        """Return a text that changes whenever the site is written."""
        try:
            return str((self.folder / MARKER).stat().st_mtime_ns)
        except OSError:
            return ""


class _Handler(SimpleHTTPRequestHandler):
    server: SiteServer
    protocol_version = "HTTP/1.1"
    timeout = 30.0
    """Seconds that a browser may take for a request, or leave a connection unused."""

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Answer a request except for its body; pages get a script that polls for changes.

        Returns:
            The body, or None if there is none.
        """
        if self.server.local and not self._asked_for_this_machine():
            self.send_error(HTTPStatus.FORBIDDEN)
            return None
        path = self.path.partition("?")[0].partition("#")[0]
        if path == _STAMP:
            return self._head(self.server.stamp(), "text/plain")
        if path == _SCRIPT:
            return self._head(asset("reload.js"), "text/javascript")
        try:
            self._check_inside(path)
            if path.endswith(("/", ".html")):
                return self._head(self._page(path), "text/html")
            return super().send_head()
        except (OSError, ValueError):  # the latter for invalid file names
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def _check_inside(self, path: str) -> None:
        """Refuse links that lead out of the site.

        Raises:
            OSError: The path is outside the site.
        """
        root = os.path.realpath(self.server.folder)
        if not holds(root, os.path.realpath(self.translate_path(path))):
            raise PermissionError(path)

    def _asked_for_this_machine(self) -> bool:
        """Return whether the ``Host`` is local, which prevents attacks by DNS rebinding."""
        host = _PORT.sub("", self.headers.get("Host", "")).strip("[]")
        return _is_local(host)

    def _page(self, path: str) -> str:
        name = f"{path}index.html" if path.endswith("/") else path
        stamp = self.server.stamp()  # read before the page, so that it never seems newer
        with open(self.translate_path(name), encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
        script = f'<script src="{_SCRIPT}" data-stamp="{stamp}" defer></script></body>'
        return script.join(text.rsplit("</body>", 1))

    def _head(self, text: str, kind: str) -> BytesIO:
        body = text.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        return BytesIO(body)

    def list_directory(self, path: Any) -> None:
        """Refuse to list directories."""
        del path
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing for single requests."""


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _family(host: str, port: int) -> socket.AddressFamily:
    """Return IPv4, or IPv6 for a host without an IPv4 address."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return min(family for family, *_ in found)


def _written(host: str, port: int) -> str:
    """Return an address and a port in the form that URLs use."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refusal(host: str, port: int, error: OSError | UnicodeError) -> str:
    """Explain why the server cannot listen on an address, and how to fix that."""
    if isinstance(error, OSError) and error.errno in {errno.EADDRINUSE, errno.EACCES}:
        remedy = "give --port another number"
    else:
        remedy = "give --host an address of this machine, or leave it out"
    cause = error.strerror if isinstance(error, OSError) else "this is not the name of a machine"
    return f"{_written(host, port)}: cannot listen there ({cause}); {remedy}"
