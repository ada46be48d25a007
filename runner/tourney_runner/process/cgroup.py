"""One bot and all below it as one control group (version 2), for the kernel to bound and to end.

Nothing gets out of its group: not by leaving its session, nor by losing its parent. The kernel
counts the memory of all that are in it, ends them together when that is used up, and stops or
kills them at once.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from threading import Thread
from typing import TYPE_CHECKING, Literal, Self

from tourney_runner.errors import RunError
from tourney_runner.process.procfs import is_alive, place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["Group", "Groups", "Shortage"]

Shortage = Literal["bot", "host"]
"""Whose memory was used up."""

_DYING_SECONDS = 2.0
"""How long the killed get to be gone."""

_numbers = count(1)


@dataclass(frozen=True)
class Group:
    """A group of processes, made or found."""

    folder: Path
    """Where the kernel shows it."""

    @classmethod
    def make(cls, folder: Path, settings: Mapping[str, str]) -> Self:
        """Make a group that nobody is in.

        Args:
            folder: Where.
            settings: Its files and what to write to them; those that it has not are left out.

        Raises:
            RunError: It cannot be made.
        """
        group = cls(folder)
        try:
            folder.mkdir()
            for name, value in settings.items():
                if (folder / name).exists():
                    group._write(name, value)
        except OSError as error:
            group.remove()
            raise RunError(f"a control group could not be made: {error}") from error
        return group

    @property
    def entrance(self) -> Path:
        """A process that writes ``0`` to this file goes in."""
        return self.folder / "cgroup.procs"

    def enter(self, pid: int) -> None:
        """Put a process in; what it starts from now on is in, too.

        The kernel waits for all processors to take note, which takes 10 ms, or next to nothing
        where a process has just been put anywhere: have something done meanwhile.

        Raises:
            RunError: It cannot be put in.
        """
        try:
            self._write("cgroup.procs", f"{pid}")
        except ProcessLookupError:  # it has ended: whoever waits for it will see that
            return
        except OSError as error:
            raise RunError(f"a bot could not be put into a control group: {error}") from error

    def freeze(self) -> None:
        """Stop all that are in it; it takes effect before they next run a line of their own."""
        self._write("cgroup.freeze", "1")

    def thaw(self) -> None:
        """Let them go on."""
        self._write("cgroup.freeze", "0")

    def kill(self) -> None:
        """End all that are in it, the stopped as well; nothing if it is gone."""
        with suppress(OSError):
            self._write("cgroup.kill", "1")

    def out_of_memory(self) -> Shortage | None:
        """Whose memory was used up when the kernel ended processes in it; None if it ended none.

        Where the group's own limit was not reached it did so for want of memory elsewhere, on the
        machine or for the whole run, and that is not the bot's doing.
        """
        try:
            lines = (self.folder / "memory.events").read_text().splitlines()
        except OSError:  # its memory is not counted
            return None
        events = dict(line.split() for line in lines)
        if events["oom_kill"] == "0":
            return None
        return "host" if events["oom"] == "0" else "bot"

    def remove(self) -> None:
        """End all that are in it, and remove it with the groups that they have made in it.

        Where the dying take too long, it is left to the end of the program.
        """
        until = time.monotonic() + _DYING_SECONDS
        while not self._is_removed() and time.monotonic() < until:
            self.kill()
            time.sleep(0.001)

    def _is_removed(self) -> bool:
        try:
            for folder, _, _ in os.walk(self.folder, topdown=False, onerror=_raise):
                os.rmdir(folder)  # noqa: PTH106 - os.walk's own kind
        except FileNotFoundError:  # of itself, or of one in it that was removed meanwhile
            return not self.folder.exists()
        except OSError:
            return False
        return True

    def _write(self, name: str, value: str) -> None:
        # One system call: not `write_text`, which would also create a file.
        file = os.open(self.folder / name, os.O_WRONLY)
        try:
            os.write(file, value.encode())
        finally:
            os.close(file)


@dataclass(frozen=True)
class Groups:
    """Where this program may make groups, each for one bot."""

    folder: Path
    controllers: tuple[str, ...]
    """Those of ``memory`` and ``pids`` that it can hand out."""
    own: Path | None = None
    """The group that this program itself is in; None if that is not known."""

    def describe(self) -> str:
        """What they hold bots to, such as ``memory pids``, and where they are."""
        return f"each bot in a group of its own below {self.folder}: {' '.join(self.controllers)}"

    def make(self, memory: int | None, processes: int) -> Group:
        """An empty group for one bot, which is to be entered soon.

        Args:
            memory: Bytes for all that are in it, files in memory included; None for any.
            processes: How many processes and threads may be in it at one time.

        Raises:
            RunError: It cannot be made.
        """
        if self.own is not None:
            with suppress(RuntimeError):  # no more threads: then the bot waits by itself
                Thread(target=_move_nowhere, args=(self.own,)).start()
        settings: dict[str, str] = {}
        if "memory" in self.controllers:
            settings["memory.oom.group"] = "1"  # half a bot is of no use, whatever ended the rest
            if memory is not None:
                settings |= {"memory.max": f"{memory}", "memory.swap.max": "0"}
        if "pids" in self.controllers:
            settings["pids.max"] = f"{processes}"
        return Group.make(self.folder / f"{_prefix()}{os.getpid()}-{next(_numbers)}", settings)

    def remove_left_behind(self) -> None:
        """Remove the groups of programs that are dead, with all that is in them."""
        self._remove(lambda pid: not is_alive(pid))

    def remove_own(self) -> None:
        """Remove the groups of this program."""
        self._remove(lambda pid: pid == os.getpid())

    def _remove(self, is_wanted: Callable[[int], bool]) -> None:
        name = re.compile(rf"{_prefix()}(\d+)-")
        for folder in list(self.folder.iterdir()):
            found = name.match(folder.name)
            if found is not None and is_wanted(int(found[1])):
                Group(folder).remove()


def _raise(error: OSError) -> None:
    """Whoever could not look, for want of a free descriptor perhaps, has not found nothing."""
    raise error


def _move_nowhere(own: Path) -> None:
    """Move this program into the group that it is in, for the wait that this takes.

    Whoever enters a group soon after has not to wait again. So the wait passes while the sandbox of
    a bot is set up: starts in bubblewrap take 3 ms longer with a group, and without this 11.
    """
    with suppress(RunError):
        Group(own).enter(os.getpid())


def _prefix() -> str:
    return f"tourney-bot-{place()}-"
