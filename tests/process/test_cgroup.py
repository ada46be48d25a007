"""Bots in control groups of their own.

What a group stops and ends is tried wherever a group can be made; what it bounds, and how runs
share a place, only where memory and processes are left to whoever runs the tests:

    systemd-run --user --scope -p Delegate=yes pytest tests/process/test_cgroup.py
"""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.errors import RunError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play import faults as fault_classifier
from tourney_runner.play.bot import Bot
from tourney_runner.play.faults import HostFailureError
from tourney_runner.play.player import Player, PlayerSetup
from tourney_runner.process.cgroup import Group, Groups
from tourney_runner.process.channel import Caps
from tourney_runner.process.child import Exit
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher, Program, ResourceLimits
from tourney_runner.process.procfs import become_subreaper, is_alive
from tourney_runner.process.sandbox import probe_groups
from tourney_runner.process.sandbox.cgroup_delegation import control_groups
from tourney_runner.process.sandbox.probe_result import UnavailableError
from tourney_runner.process.sandbox.selection import BACKENDS
from tourney_runner.protocol.lines import AnswerReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tourney_runner.process.child import Child
    from tourney_runner.process.launcher import Launcher

MEMORY = 64 << 20
LIMITS = ResourceLimits(memory=MEMORY, processes=16)
PATIENCE = 60.0

RUNAWAY = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, ["python", "-S", "-c", "while True: pass"], {})
    os._exit(0)
os.wait()
print("ready", flush=True)
while True: pass
"""
"""It has a child that has left its session, its parent and its environment behind."""
HUNGRY = f"""
for _ in range(5):
    if os.fork() == 0:
        held = bytearray({MEMORY // 3})
        time.sleep(60)
time.sleep(60)
"""
BOMB = """
children = 0
try:
    while children < 50:
        if os.fork() == 0:
            time.sleep(60)
        children += 1
except OSError:
    pass
print(children, flush=True)
time.sleep(60)
"""
RUN = """
import sys
from tourney_runner.process.launcher import Program, ResourceLimits
from tourney_runner.process.sandbox import choose
launcher = choose("limits", trusted=True)
for line in sys.stdin:
    child = launcher.start(Program(("/bin/sleep", "60"), "/"), ResourceLimits())
    print(child.group.folder, flush=True)
child.kill()
"""
"""Stands for a run: starts a bot for each line that it gets."""
INSIDE = 'echo 0 >"$0/cgroup.procs"; exec "$@"'


def until(true: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while not (value := true()):
        assert time.monotonic() < end, "this never came true"
        time.sleep(0.01)
    return value


def members(group: Path) -> set[int]:
    return set(map(int, (group / "cgroup.procs").read_text().split()))


def below(group: Path) -> list[str]:
    return [entry.name for entry in group.iterdir() if entry.is_dir()]


@pytest.fixture(scope="module", autouse=True)
def _collects_orphans() -> None:
    become_subreaper()


@pytest.fixture(scope="module")
def bounding() -> Groups:
    """Groups that hold bots to their limits."""
    groups = control_groups()
    if isinstance(groups, UnavailableError):
        pytest.skip(f"no control groups: {groups.why}; {groups.remedy}")
    return groups


@pytest.fixture(scope="module")
def groups() -> Iterator[Groups]:
    """The same, or groups that bound nothing, where only such can be made."""
    found = control_groups()
    if isinstance(found, Groups):
        yield found
        return
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    for folder in [Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"]:
        with suppress(OSError):
            (own := folder / f"test-{os.getpid()}").mkdir()
            yield Groups(own, ())
            own.rmdir()
            return
    pytest.skip(f"no control groups at all: {found.why}")


@pytest.fixture(params=["bwrap", "landlock", "limits"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def opened(mode: str, groups: Groups) -> Launcher:
    try:
        return BACKENDS[mode].open(groups)
    except UnavailableError as missing:
        pytest.skip(f"no {mode}: {missing.why}")


def needs(groups: Groups, controller: str) -> None:
    if controller not in groups.controllers:
        pytest.skip(f"{controller} is not delegated")


class Bots:
    """Starts bots of some lines of Python, and ends them with the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Child] = []

    def start(self, launcher: Launcher, code: str) -> tuple[Child, Path]:
        """A bot and the folder of its group."""
        words = (sys.executable, "-S", "-E", "-c", f"import os, sys, time\n{code}")
        child = launcher.start(Program(words, str(self._folder)), LIMITS)
        self._started.append(child)
        assert child.group is not None
        return child, child.group.folder

    def end(self) -> None:
        for child in self._started:
            child.kill()


@pytest.fixture
def bots(tmp_path: Path) -> Iterator[Bots]:
    tmp_path.chmod(0o755)
    started = Bots(tmp_path)
    yield started
    started.end()


def line_of(child: Child) -> str:
    poll = select.poll()
    poll.register(child.stdout, select.POLLIN)
    received = b""
    while not received.endswith(b"\n"):
        assert poll.poll(PATIENCE * 1000), "the bot is silent"
        received += (data := os.read(child.stdout, 100))
        assert data, "the bot has ended"
    return received.decode().strip()


def test_all_that_a_bot_starts_is_in_its_group(mode: str, groups: Groups, bots: Bots) -> None:
    child, group = bots.start(opened(mode, groups), RUNAWAY)
    line_of(child)
    found = members(group)
    assert set(child.processes()) <= found
    assert len(found) == 2 + (mode == "bwrap")  # whose first process is in it, too
    assert os.getpid() not in found


def test_a_bot_that_is_ended_leaves_no_process_and_no_group(
    mode: str, groups: Groups, bots: Bots
) -> None:
    child, group = bots.start(opened(mode, groups), RUNAWAY)
    line_of(child)
    found = members(group)
    child.freeze()  # a bot may be stopped when its end comes
    child.kill()
    assert not group.exists()
    assert not [pid for pid in found if is_alive(pid)]


def test_a_stopped_bot_uses_no_time_and_goes_on_when_it_may(
    mode: str, groups: Groups, bots: Bots
) -> None:
    def used() -> str:
        return (group / "cpu.stat").read_text().splitlines()[0]

    child, group = bots.start(opened(mode, groups), RUNAWAY)
    line_of(child)
    child.freeze()
    until(lambda: "frozen 1" in (group / "cgroup.events").read_text())
    before = used()
    time.sleep(0.05)
    assert used() == before
    child.thaw()
    until(lambda: used() != before)


def test_memory_counts_for_all_processes_of_a_bot_together(
    mode: str, bounding: Groups, bots: Bots
) -> None:
    needs(bounding, "memory")
    launcher = opened(mode, bounding)
    opponent, _ = bots.start(launcher, "for line in sys.stdin: print(line, end='', flush=True)")
    hungry, group = bots.start(launcher, HUNGRY)
    until(hungry.has_exited)
    ending = hungry.kill()
    assert ending.out_of_memory
    assert not group.exists()
    os.write(opponent.stdin, b"unharmed\n")
    assert line_of(opponent) == "unharmed"
    unharmed = opponent.kill()
    assert not unharmed.out_of_memory
    assert not unharmed.host_out_of_memory


@pytest.fixture
def crowded(bounding: Groups) -> Iterator[Groups]:
    """Groups in one that has less memory for all of them than a single bot may use."""
    needs(bounding, "memory")
    whole = Group.make(bounding.folder / f"test-{os.getpid()}", {"memory.max": f"{MEMORY // 2}"})
    try:
        (whole.folder / "cgroup.subtree_control").write_text("+memory")
        yield Groups(whole.folder, ("memory",))
    finally:
        whole.remove()


def test_memory_that_a_whole_run_has_used_up_is_not_laid_to_the_bot_that_was_ended_for_it(
    crowded: Groups, bots: Bots
) -> None:
    hungry, _ = bots.start(PlainLauncher(crowded), HUNGRY)
    until(hungry.has_exited)
    ending = hungry.kill()
    assert ending == Exit(-signal.SIGKILL, ending.peak_memory, host_out_of_memory=True)


def test_a_deal_is_void_whose_bot_was_ended_for_want_of_memory_elsewhere(
    crowded: Groups, tmp_path: Path
) -> None:
    words = (sys.executable, "-S", "-E", "-c", f"import os, sys, time\n{HUNGRY}")
    setup = PlayerSetup(
        hello=b"\n",
        reader=AnswerReader(find_game("tienlen").answer),
        launcher=PlainLauncher(crowded),
        clock=WallClock(),
        start_limit=60_000_000_000,
        resources=LIMITS,
        caps=Caps(output=1000, deal_output=1000, stderr=1000, memory=MEMORY),
        strict=False,
        ponder=True,
    )
    player = Player(Bot(number=0, name="hungry", command=words, folder=str(tmp_path)), setup)
    with pytest.raises(HostFailureError, match="the host ended it for want of memory"):
        player.start()


EVENTS = "low 0\nhigh 0\nmax {oom}\noom {oom}\noom_kill {killed}\noom_group_kill 0\n"


@pytest.mark.parametrize(
    ("oom", "killed", "whose"), [(0, 0, None), (1, 0, None), (1, 5, "bot"), (0, 5, "host")]
)
def test_what_the_kernel_counts_tells_whose_memory_was_used_up(
    oom: int, killed: int, whose: str | None, tmp_path: Path
) -> None:
    (tmp_path / "memory.events").write_text(EVENTS.format(oom=oom, killed=killed))
    assert Group(tmp_path).out_of_memory() == whose


def test_being_ended_for_its_own_memory_is_a_fault_of_that_kind() -> None:
    caps = Caps(output=1, deal_output=1, stderr=1, memory=MEMORY)
    assert (
        fault_classifier.ending(Exit(-signal.SIGKILL, 0, out_of_memory=True), "", caps)[0]
        == "memory"
    )
    assert fault_classifier.ending(Exit(-signal.SIGKILL, 0), "", caps)[0] == "crash"


def test_processes_are_counted_for_each_bot_by_itself(
    mode: str, bounding: Groups, bots: Bots
) -> None:
    needs(bounding, "pids")
    launcher = opened(mode, bounding)
    for _ in range(2):
        child, group = bots.start(launcher, BOMB)
        assert int(line_of(child)) < LIMITS.processes
        assert len(members(group)) <= LIMITS.processes


def test_what_holds_bots_is_told(mode: str, bounding: Groups) -> None:
    said = opened(mode, bounding).describe_limits(LIMITS)
    assert said.count("cgroup") == len(bounding.controllers)


class Place:
    """A delegated group with something in it already, and runs that are started there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._programs: list[subprocess.Popen[str]] = []
        self.stranger = self._inside("sleep", "600").pid

    def run(self) -> subprocess.Popen[str]:
        """A run with a bot."""
        program = self._inside(sys.executable, "-c", RUN)
        assert self.start_bot(program).parent == self.folder
        return program

    def _inside(self, *words: str) -> subprocess.Popen[str]:
        aside = [self.folder / name for name in below(self.folder) if name.endswith("runners")]
        command = ["sh", "-c", INSIDE, *map(str, aside or [self.folder]), *words]
        pipe = subprocess.PIPE
        self._programs.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))
        return self._programs[-1]

    @staticmethod
    def start_bot(program: subprocess.Popen[str]) -> Path:
        """Have a run start a bot; gives the folder of its group."""
        assert program.stdin
        assert program.stdout
        program.stdin.write("\n")
        program.stdin.flush()
        return Path(program.stdout.readline().strip())

    def close(self) -> None:
        for program in self._programs:
            program.kill()
            program.communicate()
        Group(self.folder).remove()


@pytest.fixture
def place(bounding: Groups) -> Iterator[Place]:
    opened = Place(bounding.folder / f"test-{os.getpid()}")
    until(lambda: opened.stranger in members(opened.folder))
    yield opened
    opened.close()


def test_a_run_leaves_a_delegated_group_as_it_was(place: Place) -> None:
    run = place.run()
    assert members(place.folder) == set()
    assert len(below(place.folder)) == 2
    run.communicate()
    assert below(place.folder) == []
    assert members(place.folder) == {place.stranger}
    assert (place.folder / "cgroup.subtree_control").read_text().split() == []


def test_what_a_killed_run_left_goes_with_the_next(place: Place) -> None:
    killed = place.run()
    killed.kill()
    killed.wait()
    assert below(place.folder) != []
    place.run().communicate()
    assert below(place.folder) == []
    assert members(place.folder) == {place.stranger}


def test_runs_side_by_side_do_not_end_each_others_groups(place: Place) -> None:
    first, second = place.run(), place.run()
    first.communicate()
    assert place.start_bot(second).exists()
    second.communicate()
    assert below(place.folder) == []


def test_a_group_is_not_believed_gone_while_no_descriptor_is_free_to_look(tmp_path: Path) -> None:
    (tmp_path / "group").mkdir()
    os.close(free := os.open(tmp_path, os.O_RDONLY))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    later = Timer(0.1, resource.setrlimit, (resource.RLIMIT_NOFILE, (soft, hard)))
    later.start()
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    Group(tmp_path / "group").remove()
    later.join()
    assert not (tmp_path / "group").exists()


def test_a_group_that_is_not_ours_is_named_with_a_remedy() -> None:
    finding = probe_groups()
    assert finding.works or finding.remedy


def test_a_bot_that_gets_no_group_is_not_to_blame(groups: Groups) -> None:
    missing = Groups(groups.folder / "missing", groups.controllers)
    with pytest.raises(RunError, match="a control group could not be made"):
        PlainLauncher(missing).start(Program(("/bin/true",), "/"), LIMITS)
