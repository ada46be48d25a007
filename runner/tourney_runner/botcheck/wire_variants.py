"""Variants of messages that are still valid: each function takes lines and returns lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WIRE_VARIANTS"]

_LATER = b'{"later":{"type":"result","id":-1,"legal":[],"text":"\\"}],\\\\ \\u2028"},'
_LATER_TOO = b',"later_too":[null,1.5e3,{"id":[]}]}\n'
_WEATHER = b'{"type":"weather","id":3,"legal":[{"pass":true}]}\n\n'


def _crlf(lines: bytes) -> bytes:
    return lines.replace(b"\n", b"\r\n")


def _more_fields(lines: bytes) -> bytes:
    """Add fields that a later version may have, before and after all others."""
    return b"".join(_LATER + line[1:-1] + _LATER_TOO for line in _split(lines))


def _more_messages(lines: bytes) -> bytes:
    """Add messages of a type that a later version may have, and blank lines."""
    return b"".join(_WEATHER + line + b"\n" for line in _split(lines))


def _spaced(lines: bytes) -> bytes:
    """Return the same JSON with spaces between its parts."""
    return b"".join(
        json.dumps(json.loads(line), separators=(" , ", " : ")).encode() + b"\n"
        for line in _split(lines)
    )


def _split(lines: bytes) -> list[bytes]:
    return lines.removesuffix(b"\n").split(b"\n")


WIRE_VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    r"lines that end with \r\n": _crlf,
    "unknown fields": _more_fields,
    "unknown types of messages, blank lines": _more_messages,
    "blanks in the JSON": _spaced,
}
