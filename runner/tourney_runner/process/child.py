"""A running bot: its pipes, its processes, their resources and their end."""

from __future__ import annotations

import os
import resource
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tourney_runner.process.cpu_meter import group_meter, tree_meter
from tourney_runner.process.folder_tree import remove_tree
from tourney_runner.process.process_tree import (
    Origin,
    descendants,
    end_confined_strays,
    end_orphans,
    end_tree,
    freeze,
    orphans,
    reap,
    thaw,
)
from tourney_runner.process.procfs import (
    IS_LINUX,
    has_exited,
    process_cpu_time,
    proportional_bytes,
    reaped_cpu_time,
    resident_bytes,
    tasks,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.process.cgroup import Group
    from tourney_runner.process.cpu_meter import CpuMeter

__all__ = ["Child", "Exit"]

_RSS_UNIT = 1024 if IS_LINUX else 1
"""Unit in which the system reports a process's memory, in bytes."""

_alive: set[int] = set()
"""The main processes of all bots of this program that have not been collected."""


@dataclass(frozen=True)
class Exit:
    """The ending of a process."""

    status: int
    """The status as in `subprocess.Popen.returncode`: negative for the number of a signal."""
    peak_memory: int
    """The peak of its RAM in bytes; 0 if unknown."""
    out_of_memory: bool = False
    """Whether the system ended it because its own memory limit was reached; needs a control
    group."""
    host_out_of_memory: bool = False
    """Whether the system ended it because memory ran out elsewhere, on the machine or in the
    run."""

    def __str__(self) -> str:
        """Return the ending in plain words, to follow the word *it*."""
        if self.status < 0:
            try:
                name = signal.Signals(-self.status).name
            except ValueError:
                name = "a signal"
            return f"was ended by {name} (signal {-self.status})"
        return f"exited with status {self.status}"


@dataclass
class Child:
    """A started bot with its pipes, which are non-blocking file descriptors."""

    pid: int
    stdin: int
    stdout: int
    stderr: int
    mark: str
    """The value of the environment variable that identifies its orphans."""
    temp: Path | None
    """A temporary folder that is removed with it."""
    most_processes: int | None = field(default=None, kw_only=True)
    """The maximum of processes and threads in the tree, if the system cannot enforce it."""
    group: Group | None = field(default=None, kw_only=True)
    """The control group of the bot and all its processes, or None."""
    user: int | None = field(default=None, kw_only=True)
    """The user that only this bot runs as, or None."""
    namespace: int | None = field(default=None, kw_only=True)
    """The inode of the user namespace that only this bot is in, or None."""
    meter: CpuMeter | None = field(default=None, init=False)
    """The meter of its processor time. None until needed, and where the kernel has none."""
    exit: Exit | None = field(default=None, init=False)
    collected: int = field(default=0, init=False)
    """Processor time in nanoseconds of its dead processes that `processes` collected."""
    _meter_tried: bool = field(default=False, init=False)
    _below: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        _alive.add(self.pid)
        self.meter = group_meter(self.group)

    def processes(self) -> list[int]:
        """Return the bot's own process, its descendants and its orphans, without wrappers.

        Dead orphans are collected, because a bot may leave behind any number of them.
        """
        tree = [self.pid, *descendants(self.pid)]
        for pid in orphans(self._origin, _alive):
            if not self._collect(pid):
                tree += [pid, *descendants(pid)]
        return tree

    def cpu_time(self, processes: list[int]) -> int:
        """Return the processor time in ns of a tree and its ended processes, from ``/proc``.

        Args:
            processes: The latest result of `processes`.
        """
        # Parents are read first, so that a process that ends in between does not count twice.
        total = sum(map(reaped_cpu_time, self._parents(processes)))
        return total + sum(map(process_cpu_time, processes)) + self.collected

    def start_meter(self) -> None:
        """Use a meter for processor time from now on, if there can be one."""
        if self.meter is None and not self._meter_tried:
            self._meter_tried = True
            self.meter = tree_meter(self.processes)

    def _parents(self, processes: list[int]) -> list[int]:
        """Return all processes that collect ended processes of the tree."""
        return processes

    @property
    def _origin(self) -> Origin:
        return Origin(self.mark, self.pid, self.user, self.namespace)

    def _collect(self, pid: int) -> bool:
        """Collect a process if it is dead, and return whether it is gone."""
        try:
            ended, _, usage = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if ended:
            self.collected += int((usage.ru_utime + usage.ru_stime) * 1e9)
        return bool(ended)

    def has_exited(self) -> bool:
        """Return whether the bot's own process has ended.

        It is not collected, so its id is not reused.
        """
        return self.exit is not None or has_exited(self.pid)

    def has_closed_output(self) -> bool:
        """Return whether no process of the bot has stdout open although it cannot show at our end.

        Where nothing but the bot has the other end, our end of the pipe shows it.
        """
        return False

    def memory(self, processes: list[int] | None = None) -> int:
        """Return the bytes of RAM of the whole tree. Shared memory counts for each process.

        Args:
            processes: The latest result of `processes`, if available.
        """
        return sum(map(resident_bytes, processes or self.processes()))

    def holds_more_than(self, cap: int, processes: list[int] | None = None) -> bool:
        """Return whether the whole tree uses more RAM than a limit. Shared memory counts once.

        The exact count walks all pages, so it is made only if the quick one exceeds the limit.

        Args:
            cap: The limit in bytes.
            processes: As for `memory`.
        """
        processes = processes or self.processes()
        return self.memory(processes) > cap and sum(map(proportional_bytes, processes)) > cap

    def has_too_many_processes(self, processes: list[int] | None = None) -> bool:
        """Return whether the tree exceeds `most_processes`, counting threads as well.

        Args:
            processes: As for `memory`.
        """
        most = self.most_processes
        return most is not None and sum(map(tasks, processes or self.processes())) > most

    def wait(self, grace: float) -> bool:
        """Wait for the process to end by itself, and return whether it did.

        Args:
            grace: The maximum wait in seconds.
        """
        until = time.monotonic() + grace
        pause = 0.0005
        while not self.has_exited():
            if time.monotonic() >= until:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return True

    def freeze(self) -> None:
        """Stop the whole tree until `thaw`."""
        if self.group is not None:
            self.group.freeze()
        else:
            freeze(self.processes)

    def thaw(self) -> None:
        """Let the tree continue."""
        if self.group is not None:
            self.group.thaw()
        else:
            thaw(self.processes())

    def close_input(self) -> None:
        """Close the bot's stdin."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def kill(self) -> Exit:
        """End the bot and everything it started at once. May be called again."""
        if self.exit is not None:
            return self.exit
        shortage = None if self.group is None else self.group.out_of_memory()
        if self.group is not None:
            self.group.kill()
        self._end_processes()
        _, status, usage = os.wait4(self.pid, 0)
        _alive.discard(self.pid)
        self.exit = Exit(
            self._exit_status(status),
            _peak_memory(usage),
            out_of_memory=shortage == "bot",
            host_out_of_memory=shortage == "host",
        )
        if self.group is not None:
            self.group.remove()  # waits until all are dead, as `_sweep` expects
        self._sweep()
        self.close_input()
        os.close(self.stdout)
        os.close(self.stderr)
        if self.meter is not None:
            self.meter.close()
        if self.temp is not None:
            remove_tree(self.temp)
        return self.exit

    def _end_confined_strays(self) -> None:
        end_confined_strays(_alive)

    def _end_processes(self) -> None:
        """Kill everything. Only the started process is left to be collected."""
        self._below = end_tree(self.pid)

    def _exit_status(self, wait_status: int) -> int:
        """Return the status of the bot, given the status of the started process."""
        return os.waitstatus_to_exitcode(wait_status)

    def _sweep(self) -> None:
        """Collect the processes killed with the bot, and kill and collect those that escaped."""
        reap(*self._below)
        end_orphans(self._origin, _alive)


def _peak_memory(usage: resource.struct_rusage) -> int:
    # Linux counts the memory that this program had at the start of the process as the process's
    # own, so only a higher peak means anything.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * _RSS_UNIT if usage.ru_maxrss > own else 0
