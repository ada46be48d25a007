"""Filters for the system calls that a bot may not make.

A filter lists refused calls, not allowed ones: bots are written in every language, and the calls of
a runtime change between releases. Calls are refused if they reach other processes, other
namespaces or rarely used parts of the kernel, or pass messages or memory around every other limit.
A refused call fails with EPERM, which programs expect, instead of ending the bot.
"""

from __future__ import annotations

import errno
import os
import struct
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

from tourney_runner.process.sandbox.probe_result import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.process.launcher import Program

__all__ = [
    "ARCH_OFFSET",
    "MACHINES",
    "NUMBER_OFFSET",
    "Assembler",
    "Machine",
    "Policy",
    "argument_offset",
    "assemble_filter",
    "filter_for_this_machine",
    "policy_of",
    "this_machine",
]


NUMBER_OFFSET = 0
"""The offset of the system call number in ``struct seccomp_data``."""
ARCH_OFFSET = 4

_LOAD_WORD = 0x20
_AND = 0x54
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_AT_LEAST = 0x35
_RETURN = 0x06

_LONGEST_JUMP = 255


def argument_offset(index: int) -> int:
    """Return the offset of an argument's low half in ``struct seccomp_data`` (little-endian)."""
    return 16 + 8 * index


@dataclass
class _Instruction:
    code: int
    value: int
    yes: str = ""
    no: str = ""


@dataclass
class Assembler:
    """A list of instructions under construction. An empty label means the next instruction."""

    _instructions: list[_Instruction] = field(default_factory=list)
    _labels: dict[str, int] = field(default_factory=dict)

    def load(self, offset: int) -> None:
        """Load the 32-bit word at an offset of ``struct seccomp_data``."""
        self._instructions.append(_Instruction(_LOAD_WORD, offset))

    def mask(self, bits: int) -> None:
        """Keep only some bits of the loaded word."""
        self._instructions.append(_Instruction(_AND, bits))

    def if_equal(self, value: int, yes: str = "", no: str = "") -> None:
        """Go to `yes` if the word has this value, else to `no`."""
        self._instructions.append(_Instruction(_JUMP_IF_EQUAL, value, yes, no))

    def if_at_least(self, value: int, yes: str = "", no: str = "") -> None:
        """Go to `yes` if the word, unsigned, is this value or more, else to `no`."""
        self._instructions.append(_Instruction(_JUMP_IF_AT_LEAST, value, yes, no))

    def give(self, verdict: int) -> None:
        """Return a verdict, a ``SECCOMP_RET_*`` value."""
        self._instructions.append(_Instruction(_RETURN, verdict))

    def label(self, name: str) -> None:
        """Name the instruction that comes next."""
        self._labels[name] = len(self._instructions)

    def assemble(self) -> bytes:
        """Return the program as an array of ``struct sock_filter``.

        Raises:
            ValueError: A jump is too long for one byte, goes backwards or has no target.
        """
        return b"".join(
            struct.pack(
                "<HBBI",
                instruction.code,
                self._distance(place, instruction.yes),
                self._distance(place, instruction.no),
                instruction.value,
            )
            for place, instruction in enumerate(self._instructions)
        )

    def _distance(self, place: int, label: str) -> int:
        if not label:
            return 0
        distance = self._labels.get(label, -1) - place - 1
        if not 0 <= distance <= _LONGEST_JUMP:
            raise ValueError(f"cannot jump from instruction {place} to {label!r}")
        return distance


_NUMBERS: dict[str, tuple[int, int | None]] = {
    # name: (x86_64, aarch64); None where the machine never had the call
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "fcntl": (72, 25),
    "file_setattr": (469, 469),
    "finit_module": (313, 273),
    "flock": (73, 32),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsetxattr": (190, 7),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lchown": (94, None),
    "listmount": (458, 458),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "statmount": (457, 457),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "syslog": (103, 116),
    "truncate": (76, 45),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
}


@dataclass(frozen=True)
class Machine:
    """One kind of processor, as seen by the kernel."""

    name: str
    audit_arch: int
    """``AUDIT_ARCH_*``: distinguishes its system calls from those of its 32-bit relative."""
    column: int
    foreign_from: int | None = None
    """The first number of another table of system calls on the same processor (x32)."""

    def number(self, call: str) -> int | None:
        """Return the number of a system call, or None if the machine does not have it."""
        return _NUMBERS[call][self.column]


MACHINES = {
    "x86_64": Machine("x86_64", 0xC000003E, 0, foreign_from=0x40000000),
    "aarch64": Machine("aarch64", 0xC00000B7, 1),
}


def this_machine() -> Machine | None:
    """Return the machine that this program runs on, or None if its calls are unknown."""
    return MACHINES.get(os.uname().machine)


_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_FAIL = 0x00050000

_WORD = 0xFFFFFFFF

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_DGRAM, _SOCK_RAW, _SOCK_TYPE = 2, 3, 0xF
_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW, _F_SETLEASE, _F_NOTIFY = 6, 7, 37, 38, 1024, 1026
_F_SETOWN, _F_SETOWN_EX = 8, 15
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
_OF_TERMINALS, _OF_SOCKETS, _REQUEST_GROUP = 0x5400, 0x8900, 0xFF00
"""The second byte of an ioctl request is its group. That of terminals also has requests for any
descriptor, such as FIONREAD."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SCHED_CORE = 1, 4, 62
_NEW_NAMESPACES = (
    0x00020000,  # mount
    0x02000000,  # cgroup
    0x04000000,  # uts
    0x08000000,  # ipc
    0x10000000,  # user
    0x20000000,  # pid
    0x40000000,  # network
)

_OTHER_PROCESSES = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise"),
    *("pidfd_getfd", "kcmp"),
)
_PRIORITIES = (  # the runner chooses the core that a bot is pinned to, and its share of it
    *("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"),
    *("setpriority", "ioprio_set"),
)
_CHANNELS = (  # ways to communicate that no mount or network namespace closes
    *("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
    *("add_key", "request_key", "keyctl", "inotify_init", "inotify_init1", "fanotify_init"),
)
_NAMESPACES_AND_MOUNTS = (
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot"),
    *(
        "open_tree",
        "open_tree_attr",
        "move_mount",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "mount_setattr",
    ),
    *("open_by_handle_at", "name_to_handle_at", "statmount", "listmount"),
)
_KERNEL = (
    *("bpf", "perf_event_open", "userfaultfd"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "syslog"),
)
_HIDDEN_MEMORY = ("memfd_create", "memfd_secret")  # not counted by any limit of a process
_ATTRIBUTES = (  # Landlock leaves these to the owner of a file, which may be the bot
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
    *("utime", "utimes", "futimesat", "utimensat", "file_setattr", "truncate"),
)
_LOCKS = ("flock",)  # possible on any file that two bots can read
_FLUSHES = ("sync", "syncfs")  # these make the host write what others have written


@dataclass(frozen=True)
class Policy:
    """The settings of a filter that depend on the bot."""

    network: bool = False
    devices: bool = False
    """Whether it was granted devices, which have requests of their own."""
    builds: bool = False
    """Whether it is a build step. Build tools lock files, and there is no opponent to disturb."""
    shares_host: bool = False
    """Whether the bot is in the host's namespaces, as one user with others. Then sockets with a
    path, attributes of files, and the signs by which the runner notices its end need care."""

    @property
    def reaches_sockets(self) -> bool:
        """Return whether local sockets of other programs are within its reach.

        Those with an abstract name belong to the network's namespace.
        """
        return self.shares_host or self.network


def policy_of(program: Program, *, shares_host: bool) -> Policy:
    """Return the policy for a program; `shares_host` as in `Policy`."""
    return Policy(
        network=program.rights.network,
        devices=bool(program.rights.devices),
        builds=program.builds,
        shares_host=shares_host,
    )


@dataclass(frozen=True)
class _Refusal:
    """A rule to refuse a call if a masked argument is in `values`, or is not if `unless` is set."""

    call: str
    argument: int
    values: tuple[int, ...]
    mask: int = _WORD
    unless: bool = False


def filter_for_this_machine() -> Callable[[Policy], bytes]:
    """Return a function that returns the filter for a policy, assembling each only once.

    Raises:
        UnavailableError: The system calls of this processor are unknown.
    """
    machine = this_machine()
    if machine is None:
        raise UnavailableError(
            f"the system calls of a processor of kind {os.uname().machine} are not known here",
            "use a machine with x86_64 or aarch64",
        )
    return cache(partial(assemble_filter, machine))


def assemble_filter(machine: Machine, policy: Policy) -> bytes:
    """Return the filter as an array of ``struct sock_filter``."""
    code = Assembler()
    code.load(ARCH_OFFSET)
    code.if_equal(machine.audit_arch, no="kill")
    code.load(NUMBER_OFFSET)
    if machine.foreign_from is not None:
        code.if_at_least(machine.foreign_from, yes="refuse")
    for call in _refused(policy):
        number = machine.number(call)
        if number is not None:
            code.if_equal(number, yes="refuse")
    _refuse_by_argument(code, machine, _refusals(policy))
    # The C library then falls back to clone, whose flags a filter can read.
    code.if_equal(_needed(machine, "clone3"), yes="absent")
    code.give(_ALLOW)
    code.label("refuse")
    code.give(_FAIL | errno.EPERM)
    code.label("absent")
    code.give(_FAIL | errno.ENOSYS)
    code.label("kill")
    code.give(_KILL)
    return code.assemble()


def _refused(policy: Policy) -> tuple[str, ...]:
    """Return the calls that are refused with any arguments."""
    calls = _OTHER_PROCESSES + _PRIORITIES + _CHANNELS + _NAMESPACES_AND_MOUNTS + _KERNEL
    if policy.builds:
        return calls
    attributes = _ATTRIBUTES if policy.shares_host else ()
    return calls + _HIDDEN_MEMORY + _LOCKS + _FLUSHES + attributes


def _refusals(policy: Policy) -> list[_Refusal]:
    """Return the calls that are refused with some arguments, grouped by call."""
    refusals = [
        *(_Refusal("clone", 0, (flag,), mask=flag) for flag in _NEW_NAMESPACES),
        _Refusal("ioctl", 1, (_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP)),
        _Refusal("prlimit64", 0, (0,), unless=True),
        _Refusal("prctl", 0, (_PR_SCHED_CORE,)),
        _Refusal("socket", 0, _families(policy), unless=True),
    ]
    if not policy.builds:
        locks = (_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW, _F_SETLEASE, _F_NOTIFY)
        refusals.append(_Refusal("fcntl", 1, (*locks, _F_SETOWN, _F_SETOWN_EX)))
        if not policy.devices:
            # File systems have requests that change a file's attributes, which the owner of a file
            # may make with a descriptor for reading. Landlock does not stop them.
            usual = (_OF_TERMINALS, _OF_SOCKETS) if policy.network else (_OF_TERMINALS,)
            refusals.append(_Refusal("ioctl", 1, usual, mask=_REQUEST_GROUP, unless=True))
    if policy.reaches_sockets:
        # A connected pair of these can still send to any name or path.
        refusals.append(_Refusal("socketpair", 1, (_SOCK_DGRAM, _SOCK_RAW), mask=_SOCK_TYPE))
    if policy.shares_host:
        refusals.append(_Refusal("prctl", 0, (_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE)))
    return refusals


def _families(policy: Policy) -> tuple[int, ...]:
    """Return the kinds of sockets that a bot may open."""
    local = () if policy.reaches_sockets else (_AF_UNIX,)
    return (*local, _AF_INET, _AF_INET6, _AF_NETLINK) if policy.network else local


def _refuse_by_argument(code: Assembler, machine: Machine, refusals: list[_Refusal]) -> None:
    calls = list(dict.fromkeys(refusal.call for refusal in refusals))
    for call in calls:
        code.if_equal(_needed(machine, call), no=f"after {call}")
        for place, refusal in enumerate(r for r in refusals if r.call == call):
            _refuse_one(code, refusal, f"{call} {place}")
        code.give(_ALLOW)
        code.label(f"after {call}")


def _refuse_one(code: Assembler, refusal: _Refusal, name: str) -> None:
    code.load(argument_offset(refusal.argument))
    if refusal.mask != _WORD:
        code.mask(refusal.mask)
    if not refusal.unless:
        for value in refusal.values:
            code.if_equal(value, yes="refuse")
        return
    for value in refusal.values:
        code.if_equal(value, yes=f"fine {name}")
    code.give(_FAIL | errno.EPERM)
    code.label(f"fine {name}")


def _needed(machine: Machine, call: str) -> int:
    number = machine.number(call)
    if number is None:
        raise ValueError(f"{machine.name} has no {call}")
    return number
