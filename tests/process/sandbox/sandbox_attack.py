"""One attack of a hostile bot: ``python sandbox_attack.py NAME SCENE``, run inside a sandbox.

Prints ``{"done": ..., "how": ...}``: whether the attack reached its aim, so far as it can tell.
All are bounded: at most 50 processes, at most 1 GiB.
"""

# ruff: noqa: ARG001, PTH101, PTH123, PTH208 - attacks share a signature, and use the plain calls
from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1024 * 1024
LIBC = ctypes.CDLL(None, use_errno=True)
ATTACKS: dict[str, Callable[[dict[str, Any]], bool]] = {}


def attack(function: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], bool]:
    ATTACKS[function.__name__] = function
    return function


def call(number: int, *arguments: Any) -> bool:
    """Return whether a system call of x86_64 succeeds."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return bool(LIBC.syscall(ctypes.c_long(number), *words) >= 0)


def other_processes(scene: dict[str, Any]) -> Iterator[int]:
    """Those that can be seen, and those whose number was told."""
    yield from (scene["opponent_pid"], scene["runner_pid"])
    with suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdecimal())


def opponents(scene: dict[str, Any]) -> Iterator[int]:
    yield from (pid for pid in other_processes(scene) if pid not in (os.getpid(), os.getppid(), 1))


@attack
def read_an_opponent(scene: dict[str, Any]) -> bool:
    return scene["secret"] in Path(scene["opponent_file"]).read_text()


@attack
def read_the_seed(scene: dict[str, Any]) -> bool:
    return scene["secret"] in Path(scene["configuration"]).read_text()


@attack
def write_the_results(scene: dict[str, Any]) -> bool:
    with open(scene["results"], "a") as file:
        file.write("I won\n")
    return False  # the runner looks at them: inside, it may be another file of this name


@attack
def empty_the_results_by_name(scene: dict[str, Any]) -> bool:
    os.truncate(scene["results"], 0)
    return True


@attack
def lock_out_the_opponent_by_mode(scene: dict[str, Any]) -> bool:
    os.chmod(scene["opponent_file"], 0)
    return True


@attack
def secrets_in_the_environment(scene: dict[str, Any]) -> bool:
    places = ("/proc/self/environ", "/proc/1/environ", f"/proc/{os.getppid()}/environ")
    seen = repr(dict(os.environ))
    for place in places:
        with suppress(OSError):
            seen += Path(place).read_text()
    return scene["secret"] in seen


@attack
def command_lines_of_others(scene: dict[str, Any]) -> bool:
    for pid in opponents(scene):
        for name in ("cmdline", "environ"):
            with suppress(OSError):
                if scene["opponent_token"] in Path(f"/proc/{pid}/{name}").read_text():
                    return True
    return False


@attack
def host_paths_in_the_wrapper(scene: dict[str, Any]) -> bool:
    with suppress(OSError):
        return scene["opponent_file"] in Path("/proc/1/cmdline").read_text()
    return False


@attack
def memory_of_others(scene: dict[str, Any]) -> bool:
    for pid in opponents(scene):
        with suppress(OSError), open(f"/proc/{pid}/mem", "rb"):
            return True
    return False


@attack
def trace_the_opponent(scene: dict[str, Any]) -> bool:
    return any(call(101, 16, pid, 0, 0) for pid in opponents(scene))  # PTRACE_ATTACH


@attack
def read_memory_by_system_call(scene: dict[str, Any]) -> bool:
    space = ctypes.create_string_buffer(8)
    place = (ctypes.c_size_t * 2)(ctypes.addressof(space), 8)
    for pid in opponents(scene):
        allowed = call(310, pid, place, 1, place, 1, 0)
        if allowed or ctypes.get_errno() == errno.EFAULT:  # nothing there, but it was looked at
            return True
    return False


@attack
def a_fake_move(scene: dict[str, Any]) -> bool:
    place = f"/proc/{scene['opponent_pid']}/fd/1"
    descriptor = os.open(place, os.O_WRONLY | os.O_NONBLOCK)
    os.write(descriptor, b"fake\n")
    return True


def _signal(pid: int) -> bool:
    with suppress(OSError):
        os.kill(pid, signal.SIGURG)  # ignored by whoever does not ask for it
        return True
    return False


@attack
def signal_the_opponent(scene: dict[str, Any]) -> bool:
    return _signal(scene["opponent_pid"])


@attack
def signal_the_runner(scene: dict[str, Any]) -> bool:
    return _signal(scene["runner_pid"])


@attack
def signal_everyone(scene: dict[str, Any]) -> bool:
    with suppress(OSError):
        os.kill(-1, signal.SIGURG)
    return False  # the victims tell; the call itself says yes even where it reached nobody


@attack
def starve_the_opponent(scene: dict[str, Any]) -> bool:
    resource.prlimit(scene["opponent_pid"], resource.RLIMIT_NOFILE, (0, 0))
    return True


@attack
def leave_the_own_core(scene: dict[str, Any]) -> bool:
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    return True


@attack
def connect_by_tcp(scene: dict[str, Any]) -> bool:
    socket.create_connection(("127.0.0.1", scene["tcp"]), timeout=2).close()
    return True


@attack
def send_by_udp(scene: dict[str, Any]) -> bool:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", scene["udp"]))
    return False  # the listener tells


@attack
def connect_to_an_abstract_socket(scene: dict[str, Any]) -> bool:
    socket.socket(socket.AF_UNIX).connect("\0" + scene["abstract"])
    return True


@attack
def connect_to_a_socket_with_a_path(scene: dict[str, Any]) -> bool:
    socket.socket(socket.AF_UNIX).connect(scene["path_socket"])
    return True


@attack
def send_to_a_path_through_a_pair(scene: dict[str, Any]) -> bool:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendmsg([b"x"], [], 0, scene["path_datagram"])
    return True


@attack
def raw_sockets_of_the_kernel(scene: dict[str, Any]) -> bool:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()
    return True


@attack
def leave_a_file_on_the_host(scene: dict[str, Any]) -> bool:
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", ".", scene["room"], "/usr/local"):
        with suppress(OSError):
            Path(place, scene["token"]).write_text("for later")
    return False  # the runner looks for them


def _fill(place: str, wanted: int) -> int:
    written = 0
    folder = Path(place, f"fill-{os.getpid()}")
    with suppress(OSError):
        folder.mkdir()
    for number in range(wanted // (16 * MIB)):
        with suppress(OSError), open(folder / f"{number}", "wb", buffering=0) as file:
            for _ in range(16):
                written += file.write(bytes(MIB))
    return written


@attack
def fill_the_disk(scene: dict[str, Any]) -> bool:
    places = ("/tmp", "/var/tmp", "/dev/shm", ".")
    return any(_fill(place, 256 * MIB) > 128 * MIB for place in places)


@attack
def one_big_file(scene: dict[str, Any]) -> bool:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("/tmp/big", "wb") as file:
        file.truncate(256 * MIB)
    return True


@attack
def fifty_forks(scene: dict[str, Any]) -> bool:
    children = []
    with suppress(OSError):
        for _ in range(50):
            pid = os.fork()
            if pid == 0:
                time.sleep(5)
                os._exit(0)
            children.append(pid)
        time.sleep(4)  # long enough to be seen
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    return len(children) == 50


@attack
def a_gibibyte(scene: dict[str, Any]) -> bool:
    return len(bytearray(1024 * MIB)) > 0


@attack
def half_a_gibibyte_by_memfd(scene: dict[str, Any]) -> bool:
    descriptor = os.memfd_create("x")
    os.ftruncate(descriptor, 512 * MIB)
    return True


@attack
def shared_memory_of_system_v(scene: dict[str, Any]) -> bool:
    return call(29, 0x7E57, 4096, 0o1666)


@attack
def message_queue(scene: dict[str, Any]) -> bool:
    return call(240, f"{scene['token']}".encode(), os.O_CREAT | os.O_RDWR, 0o666, 0)


@attack
def keyring(scene: dict[str, Any]) -> bool:
    return call(248, b"user", scene["token"].encode(), b"x", 1, -5)


@attack
def lock_a_file_of_the_system(scene: dict[str, Any]) -> bool:
    with open(scene["system_file"]) as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return True


@attack
def lock_a_part_of_a_file_of_the_system(scene: dict[str, Any]) -> bool:
    with open(scene["system_file"]) as file:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return True


@attack
def watch_a_file_of_the_system(scene: dict[str, Any]) -> bool:
    return bool(LIBC.inotify_init1(0) >= 0)


@attack
def new_namespaces(scene: dict[str, Any]) -> bool:
    return call(272, 0x10000000) or call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)


@attack
def io_uring(scene: dict[str, Any]) -> bool:
    return call(425, 1, ctypes.create_string_buffer(120))


@attack
def kernel_interfaces(scene: dict[str, Any]) -> bool:
    return call(321, 0, 0, 0) or call(323, 1) or call(298, 0, 0, 0, 0, 0)


@attack
def any_capability(scene: dict[str, Any]) -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    held = {int(line.split()[1], 16) for line in lines if line.startswith(("CapEff", "CapPrm"))}
    return not held <= {0, scene["harmless_capability"]}


@attack
def be_root(scene: dict[str, Any]) -> bool:
    return os.getuid() == 0 or os.geteuid() == 0


@attack
def change_its_own_program(scene: dict[str, Any]) -> bool:
    with open(sys.argv[0], "a") as file:
        file.write("# remembered\n")
    return True


@attack
def a_daemon(scene: dict[str, Any]) -> bool:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.environ.clear()
            time.sleep(30)
        os._exit(0)
    return False  # the runner looks for it


@attack
def a_chain_that_forks_and_exits(scene: dict[str, Any]) -> bool:
    if os.fork() == 0:
        os.setsid()
        until = time.monotonic() + 30
        while time.monotonic() < until:
            if os.fork() != 0:
                os._exit(0)
            time.sleep(0.001)
        os._exit(0)
    return False  # the runner looks for it


@attack
def memory_spread_over_children(scene: dict[str, Any]) -> bool:
    told, ready = os.pipe()
    for _ in range(5):
        if os.fork() == 0:
            held = bytearray(b"x") * (192 * MIB)
            os.write(ready, b"x")
            time.sleep(60)
            os._exit(len(held) & 1)
    for _ in range(5):
        os.read(told, 1)
    time.sleep(5)  # long enough to be seen
    return True


def main() -> None:
    name, scene = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    try:
        done, how = ATTACKS[name](scene), ""
    except (OSError, MemoryError) as error:
        done, how = False, f"{type(error).__name__}: {error}"
    sys.stdout.write(json.dumps({"done": done, "how": how}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


main()
