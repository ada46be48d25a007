"""A program that tests run as another user: ``sandbox_driver.py JOB BACKEND ...`` prints JSON.

It stands in for a worker: it starts bots with one backend, and victims beside them.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tourney_runner.process.channel import Caps, Channel, ExchangeError
from tourney_runner.process.launcher import Launcher, Program, ResourceLimits, Rights
from tourney_runner.process.process_tree import clean_up, end_unknown_children
from tourney_runner.process.procfs import become_subreaper
from tourney_runner.process.sandbox import choose

if TYPE_CHECKING:
    from tourney_runner.process.child import Child
    from tourney_runner.process.sandbox import Mode

HERE = Path(__file__).parent
PYTHON = (sys.executable, "-I", "-S")
VICTIM = """
import os, signal, sys, time
signal.signal(signal.SIGURG, lambda *_: os.write(1, b"hit\\n"))
print("here", flush=True)
for line in sys.stdin: pass
"""
HOST_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/usr/local")
MEMORY = 512 * 1024 * 1024
LIMITS = ResourceLimits(memory=MEMORY)


def first_line(child: Child, seconds: float) -> bytes:
    """Return the output until a line is complete, the bot ends, or the watchdog would end it."""
    poll = select.poll()
    poll.register(child.stdout, select.POLLIN)
    until = time.monotonic() + seconds
    received = b""
    while b"\n" not in received and time.monotonic() < until:
        for _ in poll.poll(50):
            with suppress(BlockingIOError):
                received += os.read(child.stdout, 65536)
        if child.has_exited() or child.has_too_many_processes() or child.holds_more_than(MEMORY):
            break
    return received


def survivors(token: str) -> list[int]:
    """Processes of this user that carry a token in their arguments, and are alive."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdecimal() and int(folder.name) != os.getpid():
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if token.encode() in words:
                    found.append(int(folder.name))
    return found


def survivors_soon(token: str, seconds: float = 1.0) -> int:
    """Return the number that is left after a moment, which the kernel needs to end a namespace."""
    until = time.monotonic() + seconds
    while (left := len(survivors(token))) and time.monotonic() < until:
        time.sleep(0.01)
    return left


class Scene:
    """A room with an opponent, a runner and their files."""

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self.room = Path(tempfile.mkdtemp(prefix="sandbox-room-"))
        self.room.chmod(0o755)
        self.token = f"token-{os.getpid()}"
        self.hits = 0
        signal.signal(signal.SIGURG, self._hit)
        self.facts = (
            self._files()
            | self._sockets()
            | self._secrets()
            | {
                "room": str(self.room),
                "token": self.token,
                "secret": os.environ["SANDBOX_TEST_SECRET"],
                "opponent_token": f"opponent-{os.getpid()}",
                "runner_pid": os.getpid(),
                "system_file": "/usr/bin/env",
                "harmless_capability": 4 if os.getuid() == 0 else 0,
            }
        )
        self.opponent = launcher.start(
            Program((*PYTHON, "-c", VICTIM, self.facts["opponent_token"]), str(self.bot)), LIMITS
        )
        assert first_line(self.opponent, 10) == b"here\n"
        self.facts["opponent_pid"] = self.opponent.processes()[0]
        (self.bot / "scene.json").write_text(json.dumps(self.facts))

    def _hit(self, *_: Any) -> None:
        self.hits += 1

    def _files(self) -> dict[str, Any]:
        secret = os.environ["SANDBOX_TEST_SECRET"]
        self.bot = self.room / "bot"
        opponent = self.room / "opponent"
        for folder in (self.bot, opponent):
            folder.mkdir()
            folder.chmod(0o755)
        for name in ("sandbox_attack.py", "sandbox_probes.py"):
            shutil.copy(HERE / name, self.bot)
        self.results = self.room / "results"
        for path in (opponent / "bot.py", self.room / "configuration", self.results):
            path.write_text(secret)
        return {
            "opponent_file": str(opponent / "bot.py"),
            "configuration": str(self.room / "configuration"),
            "results": str(self.results),
        }

    def _secrets(self) -> dict[str, Any]:
        """Set up the targets of the probes: one secret in many places, and public names."""
        hidden = self.room / "deep" / ".hidden"
        hidden.parent.mkdir()
        for path in (hidden, open_to_all := self.room / "open to all", self.room / "results-wal"):
            path.write_text("secret")
        open_to_all.chmod(0o666)
        (self.bot / "link").symlink_to(hidden)
        (self.bot / "link to a folder").symlink_to(self.room)
        name, runner = str(self.room / "configuration"), f"/proc/{os.getpid()}"
        shown = [self.bot, Path(sys.prefix), Path(os.path.realpath(sys.executable))]
        here = Path.home() if os.access(Path.home(), os.W_OK) else Path("/nowhere")
        return {
            "secret_files": {
                "a file": name,
                "a hidden file": str(hidden),
                "a file open to all": str(open_to_all),
                "a database's log": str(self.room / "results-wal"),
                "by a link": "link",
                "by a link to a folder": "link to a folder/configuration",
                "by ..": "../configuration",
                "by /proc/self/root": f"/proc/self/root{name}",
                "by /proc/self/cwd": "/proc/self/cwd/../configuration",
                "by the root of init": f"/proc/1/root{name}",
                "by the root of the runner": f"{runner}/root{name}",
                "by the folder of the runner": f"{runner}/cwd{name}",
                "by a descriptor of the runner": f"{runner}/fd/{self._open(name)}",
            },
            "opponent_folder": str(self.room / "opponent"),
            "organiser_home": str(here),
            "organiser_file": str(Path(sys.prefix).parent / "pyvenv.cfg"),
            "shown": sorted({part for path in shown for part in path.parts}),
            "devices": sorted(
                entry.name
                for entry in Path("/dev").iterdir()
                if not entry.is_symlink()
                if entry.is_char_device() or entry.is_block_device()
                if entry.name not in {"null", "zero", "full", "random", "urandom", "ptmx"}
            ),
        }

    def _open(self, path: str) -> int:
        self.descriptor = os.open(path, os.O_RDONLY)
        return self.descriptor

    def _sockets(self) -> dict[str, Any]:
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.settimeout(0)
        tcp, abstract, path = (socket.socket(f) for f in (socket.AF_INET, *[socket.AF_UNIX] * 2))
        datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = f"sandbox-{os.getpid()}"
        tcp.bind(("127.0.0.1", 0))
        abstract.bind("\0" + name)
        self.by_name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.by_name.bind("\0" + name + "-datagram")
        for bound, place in ((path, "path"), (datagram, "datagram")):
            bound.bind(str(self.room / place))
            (self.room / place).chmod(0o777)
        for listener in (tcp, abstract, path):
            listener.listen(8)
        self.kept = (tcp, abstract, path, datagram)
        return {
            "tcp": tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "abstract": name,
            "abstract_datagram": f"{name}-datagram",
            "path_socket": str(self.room / "path"),
            "path_datagram": str(self.room / "datagram"),
        }

    def run(self, name: str) -> dict[str, Any]:
        """One attack by a bot of its own, and what it changed in the world."""
        program = Program(
            (*PYTHON, str(self.bot / "sandbox_attack.py"), name, "scene.json", self.token),
            str(self.bot),
        )
        child = self.launcher.start(program, LIMITS)
        try:
            line = first_line(child, 20)
        finally:
            ending = child.kill()
        left = survivors_soon(self.token)
        end_unknown_children({self.opponent.pid})
        try:
            claim = json.loads(line)
        except ValueError:
            claim = {"done": False, "how": f"the bot {ending}"}
        traces = self._traces()
        if left:
            traces.append(f"{left} processes left")
        return {"done": claim["done"] or bool(traces), "how": [claim["how"], *traces]}

    def _traces(self) -> list[str]:
        """Return an attack's effects outside, and undo them before the next attack."""
        secret = self.facts["secret"]
        found = []
        if self.results.read_text() != secret:
            found.append("the results were changed")
            self.results.write_text(secret)
        opponent = Path(self.facts["opponent_file"])
        if opponent.stat().st_mode & 0o777 == 0:
            found.append("a mode was changed")
            opponent.chmod(0o644)
        for place in (*HOST_PLACES, self.bot, self.room):
            path = Path(place, self.token)
            if path.exists():
                found.append(f"there is {path}")
                path.unlink()
        with suppress(BlockingIOError):
            self.udp.recv(10)
            found.append("a datagram arrived")
        if self.hits:
            found.append("the runner was signalled")
            self.hits = 0
        with suppress(BlockingIOError):
            found.append(f"the opponent said {os.read(self.opponent.stdout, 1000)!r}")
        return found

    def close(self) -> None:
        self.opponent.kill()
        shutil.rmtree(self.room)


def attacks(launcher: Launcher, names: list[str]) -> dict[str, Any]:
    scene = Scene(launcher)
    try:
        return {name: scene.run(name) for name in names}
    finally:
        scene.close()


def probes(launcher: Launcher, *, online: bool) -> dict[str, Any]:
    """Return what one bot reached that tries all probes; it may be granted the network."""
    scene = Scene(launcher)
    words = (*PYTHON, str(scene.bot / "sandbox_probes.py"), "scene.json")
    program = Program(words, str(scene.bot), rights=Rights(network=online))
    child = launcher.start(program, LIMITS)
    line = first_line(child, 120)
    complaint = "" if line else os.read(child.stderr, 65536).decode()
    ending = child.kill()
    end_unknown_children({scene.opponent.pid})
    scene.close()
    assert line, f"the bot {ending}: {complaint}"
    found: dict[str, Any] = json.loads(line)
    return found


EXIT = 60 if os.uname().machine == "x86_64" else 93
"""The system call that ends a thread, here the first."""

SILENT = {
    "closes it": "os.close(1)",
    "gives it a file": "os.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
    "closes it and has children": "os.close(1); os.fork() or os.fork()",
    "moves it": "os.dup2(1, 9); os.close(1); time.sleep(0.2); os.write(9, b'here\\n')",
    "leaves it to a child": (
        "os.fork() and (os.close(1), time.sleep(60)); time.sleep(0.2); os.write(1, b'here\\n')"
    ),
    "leaves it to a thread": (
        "threading.Thread(target=lambda: (time.sleep(0.2), os.write(1, b'here\\n'))).start();"
        f" ctypes.CDLL(None).syscall({EXIT}, 0)"
    ),
}
"""Ways to treat stdout; bots that keep it answer after a while."""


def outputs(launcher: Launcher) -> dict[str, str]:
    """Return how a request ends for each of `SILENT`; the bots live on."""
    found = {}
    for name, code in SILENT.items():
        words = (*PYTHON, "-c", f"import ctypes, os, threading, time\n{code}\ntime.sleep(60)")
        child = launcher.start(Program(words, str(HERE)), LIMITS)
        caps = Caps(output=1000, deal_output=1000, stderr=1000, memory=None)
        try:
            line = Channel(child, caps).exchange(b"?\n", time.monotonic_ns(), 20_000_000_000)
            found[name] = line.decode().strip()
        except ExchangeError as error:
            found[name] = f"{error}, alive: {not child.has_exited()}"
        finally:
            child.kill()
    return found


BROOD = """
import os, sys, time
for number in range(4):
    if os.fork() == 0:
        if number % 2: os.setsid()
        time.sleep(60); os._exit(0)
time.sleep(60)
"""


def trials(launcher: Launcher, count: int) -> dict[str, Any]:
    """Start and kill, after a moment that is random from nothing to well after the start."""
    token = f"trial-{os.getpid()}"
    for _ in range(count):
        child = launcher.start(Program((*PYTHON, "-c", BROOD, token), str(HERE)), LIMITS)
        time.sleep(random.uniform(0, 0.06))
        child.kill()
    return {"left": survivors_soon(token)}


def worker(launcher: Launcher, token: str) -> None:
    """To be killed."""
    sys.stdout.write("starting\n")
    sys.stdout.flush()
    child = launcher.start(Program((*PYTHON, "-c", BROOD, token), str(HERE)), LIMITS)
    time.sleep(60)
    child.kill()


def killed_workers(backend: str, count: int) -> dict[str, Any]:
    """Kill -9 of a worker that is starting a bot or has one.

    Then comes, in turn, what its runner does, and the next run where that was killed as well.
    """
    token = f"orphan-{os.getpid()}"
    left = []
    for number in range(count):
        process = subprocess.Popen(
            [sys.executable, __file__, "worker", backend, token], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.uniform(0, 0.1))
        process.kill()
        process.wait()
        process.stdout.close()
        if number % 2:
            time.sleep(0.1)  # nobody is so quick to start the next run
            clean_up()
        else:
            end_unknown_children(set())
        left.append(survivors_soon(token))
    return {"left": sum(left)}


TELLS_ITS_USER = ("/bin/sh", "-c", "id -u; read -r end")


def users(launcher: Launcher, count: int) -> list[int]:
    """Return the users of that many bots that run at once, some of them as replacements."""
    program = Program(TELLS_ITS_USER, str(HERE))
    living: list[Child] = []
    told: dict[int, int] = {}
    for _ in range(2):
        while len(living) < count:
            living.append(child := launcher.start(program, LIMITS))
            told[child.pid] = int(first_line(child, 20))
        found = [told[child.pid] for child in living]
        for child in living[::16]:
            child.kill()
        del living[::16]
    for child in living:
        child.kill()
    return found


def main() -> None:
    job, backend, *rest = sys.argv[1:]
    become_subreaper()
    if job == "killed":
        result = killed_workers(backend, int(rest[0]))
    else:
        launcher = choose(cast("Mode", backend), trusted=False)
        if job == "worker":
            worker(launcher, rest[0])
            return
        if job == "attacks":
            result = attacks(launcher, rest)
        elif job == "probes":
            result = probes(launcher, online="online" in rest)
        elif job == "outputs":
            result = outputs(launcher)
        elif job == "users":
            result = users(launcher, int(rest[0]))
        else:
            result = trials(launcher, int(rest[0]))
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
