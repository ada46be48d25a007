"""Control groups (version 2), one for each bot with all its processes, and the host's free memory.

A process cannot leave its group, neither by leaving its session nor by losing its parent. The
kernel counts the memory of the whole group, ends all its processes when the limit is reached, and
freezes or kills the group at once.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal, Self

from tourney_runner.errors import RunError
from tourney_runner.process.procfs import is_alive, place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Group", "Groups", "Shortage", "is_short"]


Shortage = Literal["bot", "host"]
"""The owner of the memory that was used up."""

_DYING_SECONDS = 2.0
"""Seconds that killed processes get to disappear."""

_numbers = count(1)


@dataclass(frozen=True)
class Group:
    """A control group, newly made or found."""

    folder: Path
    """The group's directory in the cgroup file system."""

    @classmethod
    def make(cls, folder: Path, settings: Mapping[str, str]) -> Self:
        """Make an empty group.

        Args:
            folder: The directory to create.
            settings: Files and the values to write to them. Missing files are skipped.

        Raises:
            RunError: The group cannot be made.
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
        """The file to which a process writes ``0`` to enter the group."""
        return self.folder / "cgroup.procs"

    def enter(self, pid: int) -> None:
        """Put a process into the group. Processes that it starts later belong to the group too.

        The kernel waits for all processors, which takes 10 ms, or almost nothing if another
        process has just been moved. Do other work in the meantime.

        Raises:
            RunError: The process cannot be moved.
        """
        try:
            self._write("cgroup.procs", f"{pid}")
        except ProcessLookupError:  # it has ended, which its parent will notice
            return
        except OSError as error:
            raise RunError(f"a bot could not be put into a control group: {error}") from error

    def freeze(self) -> None:
        """Freeze all processes before they run any more of their own code."""
        self._write("cgroup.freeze", "1")

    def thaw(self) -> None:
        """Let frozen processes continue."""
        self._write("cgroup.freeze", "0")

    def kill(self) -> None:
        """Kill all processes, including frozen ones. A missing group is ignored."""
        with suppress(OSError):
            self._write("cgroup.kill", "1")

    def out_of_memory(self) -> Shortage | None:
        """Return whose memory was used up when the kernel ended processes here, or None.

        If the group's own limit was not reached, memory ran out elsewhere, on the machine or for
        the whole run, and the bot did not cause it.
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
        """Kill all processes and remove the group with the groups inside it.

        If processes take too long to die, the group is removed when the program ends.
        """
        until = time.monotonic() + _DYING_SECONDS
        while not self._is_removed() and time.monotonic() < until:
            self.kill()
            time.sleep(0.001)

    def _is_removed(self) -> bool:
        try:
            for folder, _, _ in os.walk(self.folder, topdown=False, onerror=_raise):
                os.rmdir(folder)  # noqa: PTH106 - os.walk's own kind
        except FileNotFoundError:  # this group, or one inside it that was just removed
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
    """A place where this program can make one group for each bot."""

    folder: Path
    controllers: tuple[str, ...]
    """The available controllers among ``memory`` and ``pids``."""
    own: Path | None = None
    """The group of this program itself, or None if it is unknown."""

    def describe(self) -> str:
        """Return the location of the groups and their controllers, such as ``memory pids``."""
        return f"each bot in a group of its own below {self.folder}: {' '.join(self.controllers)}"

    def make(self, memory: int | None, processes: int) -> Group:
        """Make an empty group for a bot that is about to enter it.

        Args:
            memory: The limit in bytes, including files in memory; None for no limit.
            processes: The maximum number of processes and threads at one time.

        Raises:
            RunError: The group cannot be made.
        """
        if self.own is not None:
            with suppress(RuntimeError):  # no thread available: then the bot waits itself
                Thread(target=_move_nowhere, args=(self.own,)).start()
        settings: dict[str, str] = {}
        if "memory" in self.controllers:
            settings["memory.oom.group"] = "1"  # part of a bot is useless, so end all of it
            if memory is not None:
                settings |= {"memory.max": f"{memory}", "memory.swap.max": "0"}
        if "pids" in self.controllers:
            settings["pids.max"] = f"{processes}"
        return Group.make(self.folder / f"{_prefix()}{os.getpid()}-{next(_numbers)}", settings)

    def remove_left_behind(self) -> None:
        """Remove the groups of dead programs and kill the processes in them."""
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
    """Raise an error of `os.walk`, so that an unreadable folder is not taken for an empty one."""
    raise error


def _move_nowhere(own: Path) -> None:
    """Move this program into its own group, to get the kernel's wait over with early.

    A process that enters a group soon afterwards does not wait again, so the wait overlaps with the
    setup of the sandbox. With a group, a bubblewrap start takes 3 ms longer; without this, 11 ms.
    """
    with suppress(RunError):
        Group(own).enter(os.getpid())


def _prefix() -> str:
    return f"tourney-bot-{place()}-"


_KEPT_FREE = 8
"""The reciprocal of the share of memory to keep free, as bots grow while they play."""

_MACHINE = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")


def is_short() -> bool:
    """Return whether less than 1/8 of the memory is free. Takes 80 µs; always false off Linux."""
    try:
        return _machine_is_short() or any(_group_is_short(*group) for group in _limited_groups())
    except (OSError, ValueError):
        return False


def _machine_is_short() -> bool:
    table = _MACHINE.read_bytes()
    return _field(table, b"MemAvailable:") * _KEPT_FREE < _field(table, b"MemTotal:")


def _group_is_short(folder: Path, limit: int) -> bool:
    """Return whether a group is short of memory. Recently read files count as free."""
    used = int((folder / "memory.current").read_bytes())
    spare = _field((folder / "memory.stat").read_bytes(), b"inactive_file")
    return (limit - used + spare) * _KEPT_FREE < limit


@cache
def _limited_groups() -> list[tuple[Path, int]]:
    """Return the limited control groups (version 2) around this program, with their limits."""
    found = re.search(r"^0::/(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    own = _GROUPS / found[1] if found else _GROUPS
    limited = []
    for folder in (own, *own.parents):
        if not folder.is_relative_to(_GROUPS):
            break
        try:
            limited.append((folder, int((folder / "memory.max").read_text())))
        except (OSError, ValueError):  # the root has no limit; `max` means unlimited
            continue
    return limited


def _field(table: bytes, name: bytes) -> int:
    """Return the number after a name, in the table's unit."""
    start = table.index(name) + len(name)
    return int(table[start : start + 40].split(None, 1)[0])
