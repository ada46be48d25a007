"""What passes between the runner and its workers: frames of MessagePack over pipes.

The same messages serve a worker on this machine and one that another engine starts elsewhere.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Literal

import msgspec

from tourney_runner.play.play_settings import BotSpec, MatchPlan, PlaySettings
from tourney_runner.process.sandbox.backends import Mode
from tourney_runner.protocol.messages import Ready
from tourney_runner.results.records import DealRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Alive",
    "Broken",
    "Check",
    "Checked",
    "Chunk",
    "FrameReader",
    "Outcome",
    "Played",
    "Setup",
    "Spoilt",
    "Task",
    "VoidDeal",
    "Waiting",
    "outcome_frame",
    "read_outcome",
    "read_setup",
    "read_task",
    "setup_frame",
    "task_frame",
]


class Setup(msgspec.Struct, frozen=True):
    """What a worker is told first."""

    version: str
    """Of this program; a worker of another version refuses."""
    settings: PlaySettings
    bots: tuple[BotSpec, ...]
    sandbox: Mode
    """What keeps bots in, as chosen for the whole run."""
    clock: Literal["fair", "wall"]
    most_alive: int
    """How many bots one worker may keep alive."""
    build_network: bool = False
    """Whether bots that a host has to build may use the network for it."""
    cpu: int | None = None
    """The core to stay on, with all bots; None to leave that to the system."""
    temp: str | None = None
    """Where temporary folders belong; None for the system's place for them."""


class VoidDeal(msgspec.Struct, frozen=True):
    """A deal that the host made void twice, so that its match is still to be played."""

    match: MatchPlan
    deal: int
    voids: tuple[str, ...]
    """What the host did, play by play."""


class Check(msgspec.Struct, frozen=True, tag=True):
    """Start one bot and end it again."""

    number: int
    entrant: int


class Chunk(msgspec.Struct, frozen=True, tag=True):
    """Play some matches."""

    number: int
    matches: tuple[MatchPlan, ...]
    block: int = 0
    """Only matches of one block can be of the same cards."""
    lane: int = 0
    """Whose it should be; see `run.affinity`."""
    renew: bool = False
    """Whether all bots are started again for it."""
    voided: VoidDeal | None = None
    """The deal of its only match that was void before; no other worker has anything to do then."""


class Checked(msgspec.Struct, frozen=True, tag=True):
    """How a `Check` went."""

    number: int
    entrant: int
    ready: Ready | None
    """What the bot said; None if it could not be started."""
    cause: str = ""
    stderr: str = ""


class Played(msgspec.Struct, frozen=True, tag=True):
    """The deals of a `Chunk`."""

    number: int
    records: tuple[DealRecord, ...]
    seconds: float
    """How long it took."""
    cpu: float
    """CPU seconds of the worker itself, without the bots."""
    void: tuple[VoidDeal, ...] = ()
    """Those whose matches are not among the records."""


class Waiting(msgspec.Struct, frozen=True, tag=True):
    """The worker is alive and waits for a bot."""

    number: int
    bot: str


class Alive(msgspec.Struct, frozen=True, tag=True):
    """The worker goes on with its task, and waits for nobody in particular."""

    number: int


class Spoilt(msgspec.Struct, frozen=True, tag=True):
    """The host failed in every play of a deal, or at every start of a bot."""

    number: int
    cause: str


class Broken(msgspec.Struct, frozen=True, tag=True):
    """The worker itself failed: a bug of this program."""

    number: int
    traceback: str


Task = Check | Chunk
Outcome = Checked | Played | Waiting | Alive | Spoilt | Broken

_encode = msgspec.msgpack.Encoder().encode
_header = struct.Struct(">I")


def _frame(message: msgspec.Struct) -> bytes:
    body = _encode(message)
    return _header.pack(len(body)) + body


def setup_frame(setup: Setup) -> bytes:
    """A `Setup`, ready to be written."""
    return _frame(setup)


def task_frame(task: Task) -> bytes:
    """A task, ready to be written."""
    return _frame(task)


def outcome_frame(outcome: Outcome) -> bytes:
    """An outcome, ready to be written."""
    return _frame(outcome)


read_setup = msgspec.msgpack.Decoder(Setup).decode
read_task = msgspec.msgpack.Decoder(Task).decode
read_outcome = msgspec.msgpack.Decoder(Outcome).decode


class FrameReader:
    """Puts frames together from whatever pieces a pipe gives."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bodies of the frames that are complete now."""
        self._buffer += data
        while len(self._buffer) >= _header.size:
            (length,) = _header.unpack_from(self._buffer)
            end = _header.size + length
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_header.size : end])
            del self._buffer[:end]
            yield body
