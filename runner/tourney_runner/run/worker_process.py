"""The parent's side of a worker program, and the messages between the two."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tourney_runner.play.bot import Bot
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.process.sandbox.selection import Mode
from tourney_runner.protocol.messages import Ready
from tourney_runner.results.records import DealRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

__all__ = [
    "Alive",
    "Broken",
    "Check",
    "Checked",
    "Chunk",
    "FrameReader",
    "HostFailed",
    "Outcome",
    "Played",
    "Setup",
    "Task",
    "VoidDeal",
    "Waiting",
    "WorkerProgram",
    "outcome_frame",
    "read_outcome",
    "read_setup",
    "read_task",
    "setup_frame",
    "task_frame",
]


class Setup(msgspec.Struct, frozen=True):
    """The first message to a worker."""

    version: str
    """The runner's version; a worker of another version refuses to start."""
    settings: PlaySettings
    bots: tuple[Bot, ...]
    sandbox: Mode
    """The confinement of bots, chosen for the whole run."""
    clock: Literal["fair", "wall"]
    most_alive: int
    """The largest number of bots that one worker keeps alive."""
    build_network: bool = False
    """Whether builds of bots may use the network."""
    cpu: int | None = None
    """The core for the worker and its bots; None for any."""
    temp: str | None = None
    """The folder for temporary folders; None for the system's."""


class VoidDeal(msgspec.Struct, frozen=True):
    """A deal that was void twice, so that its match is still to be played."""

    match: MatchPlan
    deal: int
    voids: tuple[str, ...]
    """The failures of the host, one for each play."""


class Check(msgspec.Struct, frozen=True, tag=True):
    """A task: start one bot and end it again."""

    number: int
    entrant: int


class Chunk(msgspec.Struct, frozen=True, tag=True):
    """A task: play some matches."""

    number: int
    matches: tuple[MatchPlan, ...]
    block: int = 0
    """The number of the block; only matches of one block can share cards."""
    lane: int = 0
    """The lane of the preferred worker; see `run.lanes`."""
    renew: bool = False
    """Whether all bots are renewed for it."""
    voided: VoidDeal | None = None
    """The deal of its only match that was void before; all other workers are idle then."""
    seconds: float | None = None
    """The time after which no further deal begins, so that finished deals are stored soon; None to
    play all matches to their ends.
    """


class Checked(msgspec.Struct, frozen=True, tag=True):
    """The outcome of a `Check`."""

    number: int
    entrant: int
    ready: Ready | None
    """The bot's ``ready`` message; None if it could not be started."""
    cause: str = ""
    stderr: str = ""
    stdout: str = ""
    """The text that it wrote instead of `ready`."""


class Played(msgspec.Struct, frozen=True, tag=True):
    """The outcome of a `Chunk`: its deals."""

    number: int
    records: tuple[DealRecord, ...]
    seconds: float
    """Its duration."""
    cpu: float
    """CPU seconds of the worker itself, without the bots."""
    void: tuple[VoidDeal, ...] = ()
    """The void deals; their matches go on with them."""
    rest: tuple[MatchPlan, ...] = ()
    """The matches, or the parts of them, for which there was no time."""


class Waiting(msgspec.Struct, frozen=True, tag=True):
    """A sign of life: the worker waits for a bot."""

    number: int
    bot: str


class Alive(msgspec.Struct, frozen=True, tag=True):
    """A sign of life: the worker is busy with its task."""

    number: int


class HostFailed(msgspec.Struct, frozen=True, tag=True):
    """An outcome: the host failed in every play of a deal, or at every start of a bot."""

    number: int
    cause: str


class Broken(msgspec.Struct, frozen=True, tag=True):
    """An outcome: the worker itself failed, which is a bug of this program or of a game."""

    number: int
    traceback: str
    cause: str = ""
    """The cause, if it is known and not a bug of this program."""


Task = Check | Chunk
Outcome = Checked | Played | Waiting | Alive | HostFailed | Broken


def _plain(settings: Any) -> Any:
    """Return `PlaySettings`, the only value of a message that msgspec cannot write, as a dict."""
    return settings.model_dump()


def _settings(kind: Any, values: Any) -> Any:
    return kind.model_validate(values)


_encode = msgspec.msgpack.Encoder(enc_hook=_plain).encode
_header = struct.Struct(">I")


def _frame(message: msgspec.Struct) -> bytes:
    body = _encode(message)
    return _header.pack(len(body)) + body


def setup_frame(setup: Setup) -> bytes:
    """Return a `Setup` as a frame."""
    return _frame(setup)


def task_frame(task: Task) -> bytes:
    """Return a task as a frame."""
    return _frame(task)


def outcome_frame(outcome: Outcome) -> bytes:
    """Return an outcome as a frame."""
    return _frame(outcome)


read_setup = msgspec.msgpack.Decoder(Setup, dec_hook=_settings).decode
read_task = msgspec.msgpack.Decoder(Task).decode
read_outcome = msgspec.msgpack.Decoder(Outcome).decode


class FrameReader:
    """An assembler of frames from the pieces that a pipe delivers."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the bodies of the frames that are complete now."""
        self._buffer += data
        while len(self._buffer) >= _header.size:
            (length,) = _header.unpack_from(self._buffer)
            end = _header.size + length
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_header.size : end])
            del self._buffer[:end]
            yield body


_READ = 1 << 20
_UNREAD = 20
"""Seconds after which a program that does not read is killed."""


class WorkerProgram:
    """A process of ``tourney_runner.run.worker``, with its tasks and outcomes.

    It ends with its standard input, and with the thread that started it.

    Args:
        setup: Its first message.
        stderr: The file for its standard error; None for that of this process.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, setup: Setup, stderr: IO[bytes] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tourney_runner.run.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("a worker's streams must be pipes")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._frames = FrameReader()
        self.pid = self._process.pid
        self.output = self._stdout.fileno()
        """The descriptor to poll; when it is readable, `read` does not wait."""
        self._poll = select.poll()
        self._poll.register(self.output, select.POLLIN)
        os.set_blocking(self._stdin.fileno(), False)
        self._room = select.poll()
        self._room.register(self._stdin.fileno(), select.POLLOUT)
        self.write(setup_frame(setup))

    def write(self, frame: bytes) -> None:
        """Write a frame; `read` reports if the program has died.

        A program that has stopped reading is killed, so that a run never hangs on it.
        """
        rest = memoryview(frame)
        with suppress(BrokenPipeError):
            while rest:
                if not self._room.poll(_UNREAD * 1000):
                    self.kill()
                    return
                with suppress(BlockingIOError):  # there is room for less than a page
                    rest = rest[os.write(self._stdin.fileno(), rest) :]

    def has_output(self, seconds: float) -> bool:
        """Wait for output or its end; return whether there is something to `read`."""
        return bool(self._poll.poll(seconds * 1000))

    def read(self) -> list[Outcome] | None:
        """Wait for output and return the complete outcomes; None if the program has ended."""
        data = os.read(self.output, _READ)
        return [read_outcome(frame) for frame in self._frames.feed(data)] if data else None

    def finish(self) -> None:
        """Let it end after its tasks."""
        self._stdin.close()

    def stop(self) -> None:
        """Let it end its bots and itself at once."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it; its bots end with it."""
        self._process.kill()

    def end(self, seconds: float = 0.0) -> int:
        """Wait for its end, then kill it; return its exit status."""
        try:
            status = self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        if not self._stdin.closed:
            self._stdin.close()
        self._stdout.close()
        return status
