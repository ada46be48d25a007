"""The player of the bot under check, its recorded messages, and variants of the lines it gets."""

from __future__ import annotations

import json
from dataclasses import replace
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from tourney_runner.play.player import Player
from tourney_runner.protocol.lines import AnswerReader, Noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.games.base import Answer
    from tourney_runner.play.bot import Bot
    from tourney_runner.play.player import PlayerSetup
    from tourney_runner.protocol.lines import WrongShape

__all__ = ["WIRE_VARIANTS", "Asked", "Exchange", "RecordingPlayer"]


class Asked(NamedTuple):
    """A request, answered or not."""

    request: bytes
    """The request as the deal created it."""
    sent: bytes
    """The bytes that were written to the bot."""


class Exchange(NamedTuple):
    """A request that was answered."""

    request: bytes
    """The bytes that were written to the bot."""
    answer: bytes
    charged: int
    """The time charged for the answer, in nanoseconds."""


class _Ear(AnswerReader[Any]):
    """A reader of answers that also keeps the line of the last one."""

    def __init__(self, reader: AnswerReader[Any]) -> None:
        self._reader = reader
        self.heard = b""

    def decode(self, line: bytes) -> Any:
        """See `AnswerReader.decode`."""
        self.heard = line
        return self._reader.decode(line)

    def read(self, line: bytes, request_id: int) -> Any | Noise | WrongShape:
        """See `AnswerReader.read`."""
        answer = self._reader.read(line, request_id)
        if not isinstance(answer, Noise):
            self.heard = line
        return answer


class RecordingPlayer(Player):
    """A player that keeps the exchanges with its bot.

    Args:
        bot: The bot.
        setup: The setup, as in a tournament.
        transform: The function that changes each message on its way to the bot; by default none
            is changed.
        lives: The number of answers after which the process is ended once, so that a new one takes
            over in the middle of the deal; None for never.
    """

    def __init__(
        self,
        bot: Bot,
        setup: PlayerSetup,
        *,
        transform: Callable[[bytes], bytes] = bytes,
        lives: int | None = None,
    ) -> None:
        self._ear = _Ear(setup.reader)
        super().__init__(bot, replace(setup, reader=self._ear, hello=transform(setup.hello)))
        self._transform = transform
        self._lives = lives
        self.hello = transform(setup.hello)
        self.asked: list[Asked] = []
        self.exchanges: list[Exchange] = []

    def begin(self) -> int:
        """Start the bot; return the time that it took, in nanoseconds.

        Raises:
            Fault: The bot does not start; see `Player.start`.
        """
        began = monotonic_ns()
        self.start()
        return monotonic_ns() - began

    def tell(self, message: bytes) -> None:
        """See `Player.tell`."""
        super().tell(self._transform(message))

    def ask(self, request: bytes, request_id: int, limit: int) -> tuple[Answer, int]:
        """See `Player.ask`."""
        sent = self._transform(request)
        self.asked.append(Asked(request, sent))
        answer, charged = super().ask(sent, request_id, limit)
        self.exchanges.append(Exchange(sent, self._ear.heard, charged))
        if len(self.exchanges) == self._lives:
            self.stop()
        return answer, charged


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
