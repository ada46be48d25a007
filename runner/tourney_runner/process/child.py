"""A running bot: its pipes, all the processes that belong to it, and how it ended."""

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
    threads,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.process.cgroup import Group
    from tourney_runner.process.cpu_meter import CpuMeter

__all__ = ["Child", "Exit"]

_RSS_UNIT = 1024 if IS_LINUX else 1
"""Bytes in which the system tells of a process's memory."""

_alive: set[int] = set()
"""The processes of all bots of this program that have not been collected."""


@dataclass(frozen=True)
class Exit:
    """How a process ended."""

    status: int
    """As `subprocess.Popen.returncode`: minus the number of the signal that ended it."""
    peak_memory: int
    """Bytes of RAM that it had at its largest; 0 where the system does not tell."""
    out_of_memory: bool = False
    """Whether the system ended it since its own memory was used up; only a control group tells."""
    host_out_of_memory: bool = False
    """Whether it did so for want of memory elsewhere, on the machine or for the whole run."""

    def __str__(self) -> str:
        """The ending in plain words, to follow the word *it*."""
        if self.status < 0:
            try:
                name = signal.Signals(-self.status).name
            except ValueError:
                name = "a signal"
            return f"was ended by {name} (signal {-self.status})"
        return f"exited with status {self.status}"


@dataclass
class Child:
    """A started bot and its pipes (file descriptors that do not block)."""

    pid: int
    stdin: int
    stdout: int
    stderr: int
    mark: str
    """The value of the environment variable by which its orphans are recognised."""
    temp: Path | None
    """A folder that goes with it."""
    most_processes: int | None = field(default=None, kw_only=True)
    """Processes and threads that the tree may have, where the system cannot hold it to that."""
    group: Group | None = field(default=None, kw_only=True)
    """The control group that it is alone in, with all that it starts; None where there is none."""
    user: int | None = field(default=None, kw_only=True)
    """The user that it alone runs as; None if it has none of its own."""
    namespace: int | None = field(default=None, kw_only=True)
    """The inode of the user namespace that it alone is in; None if it has none of its own."""
    meter: CpuMeter | None = field(default=None, init=False)
    """Counts its processor time; None until it is needed, and where the kernel cannot."""
    exit: Exit | None = field(default=None, init=False)
    collected: int = field(default=0, init=False)
    """Processor time, in nanoseconds, of those of its processes that `processes` has collected."""
    _meter_tried: bool = field(default=False, init=False)
    _below: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        _alive.add(self.pid)
        self.meter = group_meter(self.group)

    def processes(self) -> list[int]:
        """Return the bot's own process, all below it and what lost its parent; no wrappers.

        The dead among the latter are collected: a bot may leave behind any number of them.
        """
        tree = [self.pid, *descendants(self.pid)]
        for pid in orphans(self._origin, _alive):
            if not self._collect(pid):
                tree += [pid, *descendants(pid)]
        return tree

    def cpu_time(self, processes: list[int]) -> int:
        """Return the processor time of a tree from ``/proc``, with what has ended in it, in ns.

        Args:
            processes: What `processes` has just given.
        """
        # What ends in the meantime must not count twice, as its own and as its parent's.
        total = sum(map(reaped_cpu_time, self._parents(processes)))
        return total + sum(map(process_cpu_time, processes)) + self.collected

    def start_meter(self, processes: list[int]) -> None:
        """Count processor time by a meter from now on, where there can be one.

        Args:
            processes: What `processes` has just given.
        """
        if self.meter is None and not self._meter_tried:
            self._meter_tried = True
            self.meter = tree_meter(thread for pid in processes for thread in threads(pid))

    def _parents(self, processes: list[int]) -> list[int]:
        """Return all processes that collect what ends in the tree."""
        return processes

    @property
    def _origin(self) -> Origin:
        return Origin(self.mark, self.pid, self.user, self.namespace)

    def _collect(self, pid: int) -> bool:
        """Collect a process if it is dead; says whether it is gone."""
        try:
            ended, _, usage = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if ended:
            self.collected += int((usage.ru_utime + usage.ru_stime) * 1e9)
        return bool(ended)

    def has_exited(self) -> bool:
        """Whether the bot's own process is over; it stays uncollected, so its id stays ours."""
        return self.exit is not None or has_exited(self.pid)

    def has_closed_output(self) -> bool:
        """Return whether no process of the bot has stdout open although it cannot show at our end.

        Where nothing but the bot has the other end, our end of the pipe shows it.
        """
        return False

    def memory(self, processes: list[int] | None = None) -> int:
        """Return the bytes of RAM of the whole tree; shared ones count for each process.

        Args:
            processes: What `processes` has just given, if it was called.
        """
        return sum(map(resident_bytes, processes or self.processes()))

    def holds_more_than(self, cap: int, processes: list[int] | None = None) -> bool:
        """Return whether the whole tree takes up more RAM than a cap; shared bytes count once.

        The exact count walks all pages, so it is made only if the quick one is over the cap.

        Args:
            cap: In bytes.
            processes: As for `memory`.
        """
        processes = processes or self.processes()
        return self.memory(processes) > cap and sum(map(proportional_bytes, processes)) > cap

    def has_too_many_processes(self, processes: list[int] | None = None) -> bool:
        """Return whether the tree is over its `most_processes`; threads count as well.

        Args:
            processes: As for `memory`.
        """
        most = self.most_processes
        return most is not None and sum(map(tasks, processes or self.processes())) > most

    def wait(self, grace: float) -> bool:
        """Give the process a little time to end by itself; says whether it did.

        Args:
            grace: Seconds.
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
        """Let the tree go on."""
        if self.group is not None:
            self.group.thaw()
        else:
            thaw(self.processes())

    def close_input(self) -> None:
        """Tell the bot that nothing more will come."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def kill(self) -> Exit:
        """End the bot and everything it started, at once; may be called again."""
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
            self.group.remove()  # which waits for all in it to be dead, so that they are found so
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
        """Kill everything; only the process that was started is left to be collected."""
        self._below = end_tree(self.pid)

    def _exit_status(self, wait_status: int) -> int:
        """The bot's own status, from that of the process that was started."""
        return os.waitstatus_to_exitcode(wait_status)

    def _sweep(self) -> None:
        """Collect what was killed with the bot; kill and collect what got away."""
        reap(*self._below)
        end_orphans(self._origin, _alive)


def _peak_memory(usage: resource.struct_rusage) -> int:
    # Linux counts the memory that this program had when it started a process as that process's
    # own, so only a higher peak says anything.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss * _RSS_UNIT if usage.ru_maxrss > own else 0
