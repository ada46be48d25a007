"""Many small probes of one hostile bot: ``python sandbox_probes.py SCENE``, run inside a sandbox.

Each probe asks for one thing that no bot needs. It *reaches* it if the kernel grants it, or if the
kernel looks at the arguments, which are invalid wherever success would do harm. Prints a list of
the names of all probes, and the list of those that reached something.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH115, PTH123, PTH208, PTH211, S103 - attacks
from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIBC = ctypes.CDLL(None, use_errno=True)
KNOWS_NUMBERS = os.uname().machine == "x86_64"
STOPPED = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS}
"""The errors of a call that was refused. Any other error is an answer about the arguments."""
NOWHERE = -1
"""An address, descriptor or number that is never valid."""

Probe = tuple[str, "Callable[[], bool]"]


def call(number: int, *arguments: Any, fine: frozenset[int] = frozenset()) -> bool:
    """Return whether a system call of x86_64 gets past the checks of permission.

    Args:
        number: Of the call.
        arguments: Integers, bytes, or buffers.
        fine: Further errors that mean that there was nothing to reach.
    """
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    words += [ctypes.c_long(0)] * (6 - len(words))
    ctypes.set_errno(0)
    if LIBC.syscall(ctypes.c_long(number), *words) >= 0:
        return True
    return ctypes.get_errno() not in STOPPED | fine


def opens(path: str, flags: int) -> bool:
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
    return True


def reads(path: str) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, 64) != b""
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def lists(path: str) -> bool:
    return os.listdir(path) != []


def in_child(job: Callable[[], bool]) -> bool:
    """Return whether a job succeeds in a child, for jobs that would change this process."""
    pid = os.fork()
    if not pid:
        done = False
        with suppress(OSError, ValueError):
            done = job()
        os._exit(done)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


# --- other processes

NOT_THERE = frozenset({errno.ESRCH})
FROM_A_QUEUE = struct.pack("iii116x", 0, 0, -1)
"""A ``siginfo_t`` with the code of a queued signal."""


def processes(scene: dict[str, Any]) -> Iterator[Probe]:
    names = ("environ", "mem", "maps", "pagemap", "auxv", "io", "stack", "syscall", "personality")
    for whom in ("opponent", "runner"):
        pid = scene[f"{whom}_pid"]
        folder = f"/proc/{pid}"
        for name in (*names, "cmdline", "status", "smaps", "mountinfo", "wchan", "numa_maps"):
            yield f"{whom}: {name}", lambda path=f"{folder}/{name}": reads(path)
        for name in ("root", "cwd", "fd", "fdinfo", "task", "map_files", "net", "ns"):
            yield f"{whom}: {name}/", lambda path=f"{folder}/{name}/": lists(path)
        for name in ("exe", "cwd", "root", "fd/0", "ns/mnt"):
            yield f"{whom}: link {name}", lambda path=f"{folder}/{name}": bool(os.readlink(path))
        for name in ("mem", "oom_score_adj", "clear_refs", "comm", "coredump_filter", "autogroup"):
            yield f"{whom}: write {name}", lambda path=f"{folder}/{name}": opens(path, os.O_WRONLY)
        yield f"{whom}: kill", lambda pid=pid: os.kill(pid, 0) is None
        yield f"{whom}: limits", lambda pid=pid: bool(resource.prlimit(pid, resource.RLIMIT_CPU))
        yield f"{whom}: affinity", lambda pid=pid: os.sched_setaffinity(pid, {0}) is None
        yield f"{whom}: priority", lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 9) is None
        yield f"{whom}: setpgid", lambda pid=pid: os.setpgid(pid, os.getpgrp()) is None
        for name, number, *rest in (
            ("ptrace seize", 101, 0x4206, pid),
            ("process_vm_readv", 310, pid, NOWHERE, 1, NOWHERE, 1),
            ("process_vm_writev", 311, pid, NOWHERE, 1, NOWHERE, 1),
            ("kcmp", 312, os.getpid(), pid, 0, 0, 0),
            ("tgkill", 234, pid, pid, 0),
            ("tkill", 200, pid, 0),
            ("rt_sigqueueinfo", 129, pid, 0, FROM_A_QUEUE),
            ("move_pages", 279, pid, 1, NOWHERE, NOWHERE, NOWHERE),
            ("migrate_pages", 256, pid, 0, 0, 0),
            ("get_robust_list", 274, pid, NOWHERE, NOWHERE),
            ("sched_setscheduler", 144, pid, 0, NOWHERE),
            ("sched_setattr", 314, pid, NOWHERE, 0),
            ("ioprio_set", 251, 1, pid, 2 << 13),
        ):
            yield (
                f"{whom}: {name}",
                lambda number=number, rest=tuple(rest): in_child(
                    lambda: call(number, *rest, fine=NOT_THERE)
                ),
            )
        yield f"{whom}: pidfd_send_signal", lambda pid=pid: _by_pidfd(pid, 424, 0)
        yield f"{whom}: pidfd_getfd", lambda pid=pid: _by_pidfd(pid, 438, 1)
        yield f"{whom}: setns by pidfd", lambda pid=pid: _by_pidfd(pid, 308, 0x40000000)
        yield f"{whom}: signal on output", lambda pid=pid: _own_pipe(pid)
    yield "everyone: kill", lambda: os.kill(-1, 0) is None and len(os.listdir("/proc")) < 0


def _by_pidfd(pid: int, number: int, argument: int) -> bool:
    handle = os.pidfd_open(pid)
    try:
        return call(number, handle, argument)
    finally:
        os.close(handle)


def _own_pipe(pid: int) -> bool:
    """Return whether a pipe may name another process as the one to signal."""
    read, _ = os.pipe()
    fcntl.fcntl(read, fcntl.F_SETOWN, pid)
    return fcntl.fcntl(read, fcntl.F_GETOWN) == pid


# --- namespaces, mounts, and rarely used parts of the kernel

NAMESPACES = {
    "mount": 0x00020000, "cgroup": 0x02000000, "uts": 0x04000000, "ipc": 0x08000000,
    "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000, "time": 0x80,
}  # fmt: skip

CALLS: dict[str, tuple[Any, ...]] = {
    "mount": (165, NOWHERE, NOWHERE, NOWHERE, 0, 0),
    "umount2": (166, b"/proc", 0),
    "pivot_root": (155, b"/", b"/"),
    "chroot": (161, b"/"),
    "open_tree": (428, -100, b"/", 1),
    "open_tree_attr": (467, -100, b"/", 1, 0, 0),
    "move_mount": (429, NOWHERE, b"", NOWHERE, b"", 0),
    "fsopen": (430, b"tmpfs", 0),
    "fsconfig": (431, NOWHERE, 0, 0, 0, 0),
    "fsmount": (432, NOWHERE, 0, 0),
    "fspick": (433, -100, b"/", 0),
    "mount_setattr": (442, -100, b"/", 0, NOWHERE, 32),
    "name_to_handle_at": (303, -100, b"/", NOWHERE, NOWHERE, 0),
    "open_by_handle_at": (304, NOWHERE, NOWHERE, 0),
    "statmount": (457, NOWHERE, NOWHERE, 0, 0),
    "listmount": (458, NOWHERE, NOWHERE, 0, 0),
    "add_key": (248, b"user", b"probe", b"x", 1, -3),
    "request_key": (249, b"user", b"probe", 0, -3),
    "keyctl": (250, 0, -3, 0),
    "shmget": (29, 0, 4096, 0o1600),
    "shmat": (30, NOWHERE, 0, 0),
    "semget": (64, 0, 1, 0o1600),
    "msgget": (68, 0, 0o1600),
    "mq_open": (240, b"probe", os.O_RDWR | os.O_CREAT, 0o600, 0),
    "memfd_create": (319, b"probe", 0),
    "memfd_secret": (447, 0),
    "userfaultfd": (323, 1),
    "perf_event_open": (298, NOWHERE, 0, -1, -1, 0),
    "bpf": (321, 0, NOWHERE, 0),
    "io_uring_setup": (425, 1, NOWHERE),
    "io_uring_enter": (426, NOWHERE, 0, 0, 0, 0),
    "io_uring_register": (427, NOWHERE, 0, 0, 0),
    "init_module": (175, NOWHERE, 0, NOWHERE),
    "finit_module": (313, NOWHERE, NOWHERE, 0),
    "delete_module": (176, NOWHERE, 0),
    "kexec_load": (246, 0, 0, 0, 0x7FFF0000),
    "kexec_file_load": (320, NOWHERE, NOWHERE, 0, NOWHERE, 0x8000),
    "reboot": (169, 0, 0, 0, 0),
    "swapon": (167, NOWHERE, 0),
    "swapoff": (168, NOWHERE),
    "acct": (163, NOWHERE),
    "settimeofday": (164, 0, (10_000).to_bytes(8, "little")),
    "sethostname": (170, b"probe", 5),
    "setdomainname": (171, b"probe", 5),
    "iopl": (172, 3),
    "ioperm": (173, 0, 1, 1),
    "syslog": (103, 3, NOWHERE, 1),
    "syslog size": (103, 10, 0, 0),
    "vhangup": (153,),
    "fanotify_init": (300, 0, 0),
    "inotify_init": (253,),
    "inotify_init1": (294, 0),
    "sched_setaffinity": (203, 0, 8, NOWHERE),
    "sched_setparam": (142, 0, NOWHERE),
    "sched_setscheduler": (144, 0, 0, NOWHERE),
    "sched_setattr": (314, 0, NOWHERE, 0),
    "setpriority": (141, 0, 0, 19),
    "setpriority of the user": (141, 2, 0, 19),
    "ioprio_set": (251, 1, 0, 2 << 13),
    "setgroups": (116, 1, NOWHERE),
    "clone3": (435, NOWHERE, 64),
    "prctl: map": (157, 35, NOWHERE, 0, 0, 0),
    "prctl: core scheduling": (157, 62, 1, 0, 0, 0),
    "syncfs": (306, 0),
    "x32": (0x40000000 + 39,),
    "process_madvise": (440, NOWHERE, 0, 0, 0, 0),
    "lookup_dcookie": (212, 0, 0, 0),
    "nfsservctl": (180, 0, 0, 0),
    "uselib": (134, b"/probe"),
    "_sysctl": (156, NOWHERE),
    "create_module": (174, NOWHERE, 0),
}


def kernel(_: dict[str, Any]) -> Iterator[Probe]:
    for name, flag in NAMESPACES.items():
        yield f"unshare {name}", lambda flag=flag: in_child(lambda: call(272, flag))
        yield f"setns {name}", lambda name=name, flag=flag: _enter(name, flag)
        if name != "time":  # its flag means something else for clone
            yield f"clone {name}", lambda flag=flag: _clone(flag)
    for name, (number, *rest) in CALLS.items():
        yield (
            name,
            lambda number=number, rest=tuple(rest): in_child(lambda: call(number, *rest)),
        )
    for name in ("setuid", "setgid", "seteuid", "setegid"):
        yield name, lambda name=name: in_child(lambda: getattr(os, name)(0) is None)


def _enter(name: str, flag: int) -> bool:
    file = os.open(f"/proc/self/ns/{'mnt' if name == 'mount' else name}", os.O_RDONLY)
    try:
        return call(308, file, flag)
    finally:
        os.close(file)


def _clone(flag: int) -> bool:
    pid = LIBC.syscall(ctypes.c_long(56), ctypes.c_long(flag | signal.SIGCHLD), *[0] * 4)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
    return bool(pid > 0)


# --- sockets and messages

KINDS = {"stream": 1, "datagram": 2, "raw": 3, "sequence": 5}


def network(scene: dict[str, Any]) -> Iterator[Probe]:
    for family in range(2, 46):
        yield (
            f"family {family}",
            lambda family=family: any(_socket(family, kind) for kind in KINDS.values()),
        )
    for protocol in range(23):
        yield f"netlink {protocol}", lambda protocol=protocol: _socket(16, 3, protocol)
    yield "ping", lambda: _socket(2, 2, 1)
    yield "ping by IPv6", lambda: _socket(10, 2, 58)
    yield "MPTCP", lambda: _socket(2, 1, 262)
    yield "DNS", lambda: bool(socket.getaddrinfo("example.org", 80))
    for kind, number in KINDS.items():
        if kind != "raw":
            yield (
                f"abstract {kind}",
                lambda number=number: _connect("\0" + scene["abstract"], number),
            )
            yield f"path {kind}", lambda number=number: _connect(scene["path_socket"], number)
    yield "a pair to a path", lambda: _send_from_pair(scene["path_datagram"])
    yield "a pair to an abstract name", lambda: _send_from_pair("\0" + scene["abstract_datagram"])
    for name in ("tcp", "udp", "unix", "raw", "packet", "icmp"):
        yield f"/proc/net/{name}", lambda name=name: _seen(f"/proc/net/{name}")


def _socket(family: int, kind: int, protocol: int = 0) -> bool:
    with suppress(OSError):
        socket.socket(family, kind, protocol).close()
        return True
    return False


def _connect(place: str, kind: int) -> bool:
    with socket.socket(socket.AF_UNIX, kind) as one:
        try:
            one.connect(place)
        except OSError as error:
            return error.errno == errno.EPROTOTYPE  # it is there, and of another kind
    return True


def _send_from_pair(place: str) -> bool:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        return one.sendto(b"x", place) == 1


def _seen(path: str) -> bool:
    return len(Path(path).read_text().splitlines()) > 1


# --- files, devices, and the kernel's own file systems

SECRETS = (
    *("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/passwd-", "/etc/machine-id"),
    *("/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/slabinfo", "/proc/vmallocinfo"),
    *("/proc/timer_list", "/proc/sched_debug", "/proc/1/environ", "/proc/kpagecount"),
    *("/proc/modules", "/proc/locks"),
    *(
        "/sys/firmware/dmi/tables/DMI",
        "/sys/kernel/notes",
        "/sys/power/state",
        "/sys/kernel/vmcoreinfo",
    ),
)
FOLDERS = (
    *(
        "/root",
        "/home",
        "/boot",
        "/var",
        "/var/log",
        "/var/lib",
        "/var/spool",
        "/srv",
        "/mnt",
        "/opt",
    ),
    *("/media", "/run", "/etc/ssh", "/etc/ssl/private", "/sys/fs/cgroup", "/sys/kernel/debug"),
    *("/sys/kernel/tracing", "/sys/kernel/security", "/sys/class/net", "/dev/disk", "/dev/bus"),
    *("/proc/1/root/root", "/proc/1/fd", "/dev/mqueue", "/dev/hugepages", "/sys/module"),
)
SWITCHES = (
    *("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe"),
    *("/proc/sys/vm/drop_caches", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/hostname"),
    *("/proc/sys/fs/file-max", "/proc/sys/net/ipv4/ip_forward"),
    *("/proc/mtrr", "/proc/irq/default_smp_affinity", "/sys/fs/cgroup/cgroup.procs"),
    *("/sys/kernel/mm/transparent_hugepage/enabled", "/sys/power/state", "/proc/bus/pci"),
)
PLACES = (
    *(".", "/", "/etc", "/usr", "/usr/bin", "/usr/local", "/lib", "/var/tmp", "/run", "/run/lock"),
    *("/dev", "/dev/mqueue", "/proc", "/sys", "/sys/fs/cgroup", "/home", "/root", "/opt", "/srv"),
)
DEVICES = (
    *("mem", "kmem", "port", "kmsg", "fuse", "kvm", "net/tun", "loop-control", "mapper/control"),
    *("vhost-net", "vhost-vsock", "vsock", "userfaultfd", "hpet", "rtc0", "snapshot", "autofs"),
    *("uinput", "input/event0", "dri/card0", "snd/timer", "tty0", "tty1", "ttyS0", "vcs", "vcsa"),
    *("sda", "vda", "nvme0n1", "loop0", "cpu_dma_latency", "watchdog", "nvram", "btrfs-control"),
)


def files(scene: dict[str, Any]) -> Iterator[Probe]:
    for name, path in scene["secret_files"].items():
        yield f"read {name}", lambda path=path: reads(path)
        yield f"write {name}", lambda path=path: opens(path, os.O_WRONLY)
    for path in (*SECRETS, scene["organiser_file"]):
        yield f"read {path}", lambda path=path: reads(path)
    for path in (*FOLDERS, scene["room"], scene["opponent_folder"], scene["organiser_home"]):
        yield f"list {path}", lambda path=path: bool(set(os.listdir(path)) - set(scene["shown"]))
    for path in SWITCHES:
        yield f"write {path}", lambda path=path: opens(path, os.O_WRONLY)
    for path in PLACES:
        yield f"make a file in {path}", lambda path=path: _make(path, scene["token"])
        yield f"make a folder in {path}", lambda path=path: _make_folder(path, scene["token"])
    for name in (*DEVICES, *scene["devices"]):
        for mode in (os.O_RDONLY, os.O_WRONLY):
            how = "write" if mode else "read"
            yield f"{how} /dev/{name}", lambda name=name, mode=mode: opens(f"/dev/{name}", mode)
    yield "memory of the first process", lambda: opens("/proc/1/mem", os.O_RDWR)
    yield "memory of its thread", lambda: opens("/proc/1/task/1/mem", os.O_RDWR)
    yield "numbers of processes", lambda: _write_again("/proc/sys/kernel/ns_last_pid")
    yield "addresses of the kernel", _has_addresses
    yield "make a device", lambda: os.mknod(_temporary("zero"), 0o20666, os.makedev(1, 5)) is None
    yield "the own terminal", lambda: opens("/dev/tty", os.O_RDWR)


def _write_again(path: str) -> bool:
    found = Path(path).read_text()
    Path(path).write_text(found)
    return True


def _temporary(name: str) -> str:
    return f"{os.environ['TMPDIR']}/{name}"


def _make(folder: str, token: str) -> bool:
    path = f"{folder}/{token}-file"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return True


def _make_folder(folder: str, token: str) -> bool:
    path = f"{folder}/{token}-folder"
    os.mkdir(path)
    os.rmdir(path)
    return True


def _has_addresses() -> bool:
    with open("/proc/kallsyms") as file:
        return int(file.readline().split()[0], 16) != 0


# --- its own files, and what outlives it


def _reopen(path: str) -> None:
    with open(path) as file:
        os.close(os.open(f"/proc/self/fd/{file.fileno()}", os.O_WRONLY))


ATTRIBUTES = {
    "chmod": lambda path: os.chmod(path, 0o755),
    "chown": lambda path: os.chown(path, os.getuid(), os.getgid()),
    "lchown": lambda path: os.lchown(path, os.getuid(), os.getgid()),
    "utime": lambda path: os.utime(path, (0, 0)),
    "setxattr": lambda path: os.setxattr(path, "user.probe", b"x"),
    "removexattr": lambda path: os.removexattr(path, "user.told"),
    "truncate": lambda path: os.truncate(path, 0),
    "unlink": os.unlink,
    "rename": lambda path: os.rename(path, f"{path}~"),
    "link": lambda path: os.link(path, f"{path}~"),
    "link to temporary": lambda path: os.link(path, _temporary("link")),
    "symlink": lambda path: os.symlink("x", f"{path}~"),
    "append": lambda path: open(path, "a").close(),
    "write through /proc": _reopen,
}
ON_DESCRIPTOR = {
    "fchmod": lambda file: os.fchmod(file, 0o755),
    "fchown": lambda file: os.fchown(file, os.getuid(), os.getgid()),
    "futimens": lambda file: os.utime(file, (0, 0)),
    "flags": lambda file: fcntl.ioctl(file, 0x40086602, (0x40).to_bytes(8, "little")),
    "attributes": lambda file: fcntl.ioctl(file, 0x401C5820, bytes(28)),
    "generation": lambda file: fcntl.ioctl(file, 0x40087602, bytes(8)),
    "verity": lambda file: fcntl.ioctl(file, 0x40806685, bytes(128)),
    "encryption": lambda file: fcntl.ioctl(file, 0x400C6613, bytes(12)),
    "clone": lambda file: fcntl.ioctl(file, 0x40049409, file),
    "flock": lambda file: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "lock": lambda file: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "open-file lock": lambda file: fcntl.fcntl(file, 37, bytes(32)),
    "lease": lambda file: fcntl.fcntl(file, 1024, 0),
    "notification": lambda file: fcntl.fcntl(file, 1026, 1),
}
TERMINAL = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
REACHED_BY_FAILING = {errno.EINVAL, errno.EOPNOTSUPP, errno.EFAULT, errno.EBUSY, errno.EAGAIN}
"""The errors of a file system that looked at a request, rather than the filter before it."""


def own(scene: dict[str, Any]) -> Iterator[Probe]:
    for path, what in ((sys.argv[0], "program"), (scene["system_file"], "system")):
        for name, change in ATTRIBUTES.items():
            yield f"{name} of {what}", lambda change=change, path=path: change(path) is None
        for name, change in ON_DESCRIPTOR.items():
            yield f"{name} of {what}", lambda change=change, path=path: _on(change, path)
    for name, number in TERMINAL.items():
        yield name, lambda number=number: _terminal(number)
    yield "a set-user-ID file", _set_uid
    yield "new rights by a program", lambda: _status("NoNewPrivs") != "1"
    yield "no filter", lambda: _status("Seccomp") != "2"
    yield "core dumps to a program", lambda: resource.getrlimit(resource.RLIMIT_CORE) != (1, 1)
    for name in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_CORE"):
        yield f"raise {name}", lambda name=name: _raise(getattr(resource, name))


def _on(change: Callable[[int], Any], path: str) -> bool:
    with open(path) as file:
        try:
            change(file.fileno())
        except OSError as error:
            return error.errno in REACHED_BY_FAILING
    return True


def _terminal(number: int) -> bool:
    master, slave = os.openpty()
    try:
        fcntl.ioctl(slave, number, b"x")
    finally:
        os.close(master)
        os.close(slave)
    return True


def _set_uid() -> bool:
    path = _temporary("set-uid")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o755))
    os.chmod(path, 0o4755)
    return not os.statvfs(path).f_flag & os.ST_NOSUID


def _status(field: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{field}:"))


def _raise(kind: int) -> bool:
    _, most = resource.getrlimit(kind)
    if most == resource.RLIM_INFINITY:
        return True
    resource.setrlimit(kind, (most + 1, most + 1))
    return True


GROUPS = {
    "processes": processes,
    "kernel": kernel,
    "network": network,
    "files": files,
    "own": own,
}


def tried(probe: Callable[[], bool]) -> bool:
    """Return whether a probe reached its aim."""
    try:
        return probe()
    except (OSError, ValueError):
        return False


def main() -> None:
    scene = json.loads(Path(sys.argv[1]).read_text())
    report = {}
    for group, probes in GROUPS.items():
        found = list(probes(scene)) if group != "kernel" or KNOWS_NUMBERS else []
        reached = [name for name, probe in found if tried(probe)]
        report[group] = {"tried": len(found), "reached": reached}
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
