"""Lines of the protocol: encoding messages, and decoding what a bot writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from tourney_runner.games.base import Answer
from tourney_runner.protocol.messages import Ready

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "UNREADABLE",
    "AnswerReader",
    "Noise",
    "WrongShape",
    "encode",
    "encode_lines",
    "quoted",
    "read_ready",
]

encode_lines = msgspec.json.Encoder().encode_lines
"""Encode messages as lines. It is faster than `Encoder.encode` and a newline, even for one."""
_ready_decoder = msgspec.json.Decoder(Ready)

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_BOM = b"\xef\xbb\xbf"
"""Some runtimes begin their output with it; JSON's readers may ignore it."""

QUOTE_LENGTH = 2000


def encode(message: msgspec.Struct) -> bytes:
    """Return a message as one line."""
    return encode_lines((message,))


def quoted(line: bytes, length: int = QUOTE_LENGTH) -> str:
    """Return a line of a bot as text for people, cut to a readable length."""
    text = line[: 4 * length].decode(errors="replace").rstrip("\r\n")
    if len(text) > length or len(line) > 4 * length:
        return f"{text[:length]}... ({len(line)} bytes)"
    return text


class Noise(msgspec.Struct, frozen=True):
    """A line that answers nothing: not a JSON object, or one without an id, or with an old id."""

    why: str
    kind: Literal["stray", "stale"] = "stray"


class WrongShape(msgspec.Struct, frozen=True):
    """A line with the right id that is not an answer."""

    why: str


_NO_OBJECT = Noise("not a JSON object")

AnswerT = TypeVar("AnswerT", bound=Answer)


class AnswerReader(Generic[AnswerT]):
    """A reader of the lines that a bot writes after a `Move`.

    Args:
        answer: The game's answer type.
    """

    def __init__(self, answer: type[AnswerT]) -> None:
        self.decode: Callable[[bytes], AnswerT] = msgspec.json.Decoder(answer).decode
        """Decode a line as an answer, whatever its id; raises one of `UNREADABLE` if it is not one.
        `read` tries this first."""

    def read(self, line: bytes, request_id: int) -> AnswerT | Noise | WrongShape:
        """Decode a line that was read while request `request_id` was open."""
        try:
            answer = self.decode(line)
        except UNREADABLE as error:
            if line.startswith(_BOM):
                return self.read(line.lstrip(_BOM), request_id)
            if not line.lstrip().startswith(b"{"):  # a bot may print a hundred thousand of these
                return _NO_OBJECT
            if (whole := _with_whole_id(line, request_id)) is not None:
                return self.read(whole, request_id)
            return _explain(line, request_id, error)
        if answer.id == request_id:
            return answer
        return _stale(answer.id, request_id)


def _with_whole_id(line: bytes, request_id: int) -> bytes | None:
    """Return a line whose id is the request's as 12.0, natural in Lua or Julia, with the id as 12.

    JSON Schema calls 12.0 an integer. None for any other line.
    """
    value = _loosely(line)
    if not isinstance(value, dict) or type(value.get("id")) is not float:
        return None
    if value["id"] != request_id:
        return None
    try:
        return msgspec.json.encode({**value, "id": request_id})
    except UnicodeEncodeError:
        return None


def _stale(got: int, request_id: int) -> Noise:
    return Noise(f"an answer to request {got!r:.40} while {request_id} was open: dropped", "stale")


def _explain(line: bytes, request_id: int, error: Exception) -> Noise | WrongShape:
    """Return the reason why a line is not an answer. This is slow, and rarely needed."""
    value = _loosely(line)
    if not isinstance(value, dict):
        return _NO_OBJECT
    if "id" not in value:
        return Noise("an object without an id")
    got = value["id"]
    if got == request_id and not isinstance(got, bool):
        return WrongShape(_complaint(error))
    if got == str(request_id):
        return WrongShape(f"its id is text, expected the number {request_id}")
    if type(got) is int:
        return _stale(got, request_id)
    return Noise("an object whose id is not a whole number")


def read_ready(line: bytes) -> Ready | Noise | WrongShape:
    """Decode a line that was read while a `Hello` was open."""
    line = line.lstrip(_BOM)
    value = _loosely(line)
    # The decoder alone would take an object without any type for a `Ready`.
    if not isinstance(value, dict) or value.get("type") != "ready":
        return Noise("not a ready message")
    try:
        return _ready_decoder.decode(line)
    except UNREADABLE as error:
        return WrongShape(_complaint(error))


def _loosely(line: bytes) -> Any:
    """Decode a line with a more tolerant reader than JSON's; None if that fails too."""
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError):
        return None


def _complaint(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return str(error)
    return f"not strict JSON, which has no NaN, no Infinity and no half surrogate pairs ({error})"
