from __future__ import annotations

import errno
import struct
from dataclasses import dataclass

import pytest
from tourney_runner.process.sandbox.seccomp import (
    MACHINES,
    Assembler,
    Machine,
    Policy,
    assemble_filter,
)

ALLOWED, KILLED = "allowed", "killed"
REFUSED, ABSENT = f"fails with {errno.EPERM}", f"fails with {errno.ENOSYS}"

BOT = Policy()
ONLINE = Policy(network=True)
WITH_DEVICES = Policy(devices=True)
BUILD = Policy(builds=True)
SHARED = Policy(shares_host=True)
SHARED_ONLINE = Policy(network=True, shares_host=True)

NEW_USER, SIGCHLD = 0x10000000, 17
UNIX, INET, INET6, NETLINK, PACKET = 1, 2, 10, 16, 17
STREAM, DATAGRAM, NONBLOCK = 1, 2, 0o4000

CALLS = [
    ("ptrace", (), BOT, REFUSED),
    ("process_vm_writev", (), BOT, REFUSED),
    ("keyctl", (), BOT, REFUSED),
    ("io_uring_setup", (), BOT, REFUSED),
    ("bpf", (), BUILD, REFUSED),
    ("mount", (), BUILD, REFUSED),
    ("open_by_handle_at", (), SHARED, REFUSED),
    ("shmget", (), BOT, REFUSED),
    ("sched_setaffinity", (), BOT, REFUSED),
    ("clone3", (), BOT, ABSENT),
    ("clone", (SIGCHLD,), BOT, ALLOWED),
    ("clone", (NEW_USER | SIGCHLD,), BOT, REFUSED),
    ("clone", (1 << 32 | NEW_USER,), BOT, REFUSED),
    ("memfd_create", (), BOT, REFUSED),
    ("memfd_create", (), BUILD, ALLOWED),
    ("flock", (), BOT, REFUSED),
    ("flock", (), BUILD, ALLOWED),
    ("fcntl", (3, 4), BOT, ALLOWED),  # F_SETFL
    ("fcntl", (3, 6), BOT, REFUSED),  # F_SETLK
    ("fcntl", (3, 1 << 40 | 6), BOT, REFUSED),  # the kernel reads the low half only
    ("fcntl", (3, 6), BUILD, ALLOWED),
    ("fcntl", (3, 8), BOT, REFUSED),  # F_SETOWN
    ("syncfs", (), BOT, REFUSED),
    ("syncfs", (), BUILD, ALLOWED),
    ("syslog", (), BUILD, REFUSED),
    ("listmount", (), BOT, REFUSED),
    ("ioctl", (0, 0x5401), BOT, ALLOWED),  # TCGETS
    ("ioctl", (0, 0x5412), BOT, REFUSED),  # TIOCSTI
    ("ioctl", (0, 1 << 32 | 0x5412), BOT, REFUSED),
    ("ioctl", (0, 0x541B), SHARED, ALLOWED),  # FIONREAD
    ("ioctl", (0, 0x802C542A), SHARED, ALLOWED),  # TCGETS2
    ("ioctl", (0, 0x40086602), SHARED, REFUSED),  # FS_IOC_SETFLAGS
    ("ioctl", (0, 0x40086602), BUILD, ALLOWED),
    ("ioctl", (0, 0xC00C6400), BOT, REFUSED),  # of a graphics card
    ("ioctl", (0, 0xC00C6400), WITH_DEVICES, ALLOWED),
    ("ioctl", (0, 0x8912), BOT, REFUSED),  # SIOCGIFCONF
    ("ioctl", (0, 0x8912), ONLINE, ALLOWED),
    ("ioctl", (0, 0x8902), ONLINE, REFUSED),  # SIOCSPGRP
    ("prlimit64", (0,), BOT, ALLOWED),
    ("prlimit64", (4711,), BOT, REFUSED),
    ("socket", (UNIX, STREAM), BOT, ALLOWED),
    ("socket", (INET, STREAM), BOT, REFUSED),
    ("socket", (NETLINK, STREAM), BOT, REFUSED),
    ("socket", (INET, STREAM), ONLINE, ALLOWED),
    ("socket", (INET6, DATAGRAM), ONLINE, ALLOWED),
    ("socket", (PACKET, DATAGRAM), ONLINE, REFUSED),
    ("socket", (UNIX, STREAM), ONLINE, REFUSED),  # abstract names belong to the host's network
    ("socketpair", (UNIX, DATAGRAM), ONLINE, REFUSED),
    ("socketpair", (UNIX, STREAM), ONLINE, ALLOWED),
    ("socket", (UNIX, STREAM), SHARED, REFUSED),
    ("socket", (INET, STREAM), SHARED_ONLINE, ALLOWED),
    ("socket", (UNIX, STREAM), SHARED_ONLINE, REFUSED),
    ("socketpair", (UNIX, DATAGRAM), BOT, ALLOWED),
    ("socketpair", (UNIX, STREAM), SHARED, ALLOWED),
    ("socketpair", (UNIX, DATAGRAM | NONBLOCK), SHARED, REFUSED),
    ("fchmodat", (), BOT, ALLOWED),
    ("fchmodat", (), SHARED, REFUSED),
    ("prctl", (1, 0), BOT, ALLOWED),  # PR_SET_PDEATHSIG
    ("prctl", (1, 0), SHARED, REFUSED),
    ("prctl", (4, 0), SHARED, REFUSED),  # PR_SET_DUMPABLE
    ("prctl", (62, 1), BOT, REFUSED),  # PR_SCHED_CORE
    ("prctl", (15, 0), SHARED, ALLOWED),  # PR_SET_NAME
]


@dataclass
class Call:
    number: int
    arch: int
    arguments: tuple[int, ...] = ()

    def data(self) -> bytes:
        words = (*self.arguments, *[0] * 6)[:6]
        return struct.pack("<IIQ6Q", self.number, self.arch, 0, *words)


def verdict(program: bytes, call: Call) -> str:
    """Return the kernel's decision, by interpreting the instructions that filters use."""
    instructions = list(struct.iter_unpack("<HBBI", program))
    data, word, place = call.data(), 0, 0
    while True:
        code, yes, no, value = instructions[place]
        place += 1
        if code == 0x20:
            word = struct.unpack_from("<I", data, value)[0]
        elif code == 0x54:
            word &= value
        elif code == 0x15:
            place += yes if word == value else no
        elif code == 0x35:
            place += yes if word >= value else no
        else:
            assert code == 0x06
            return {0x7FFF: ALLOWED, 0x8000: KILLED}.get(
                value >> 16, f"fails with {value & 0xFFFF}"
            )


@pytest.fixture(params=list(MACHINES.values()), ids=list(MACHINES))
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.param
    return found


@pytest.mark.parametrize(("name", "arguments", "policy", "expected"), CALLS)
def test_a_call_gets_its_verdict(
    name: str, arguments: tuple[int, ...], policy: Policy, expected: str, machine: Machine
) -> None:
    number = machine.number(name)
    assert number is not None
    call = Call(number, machine.audit_arch, arguments)
    assert verdict(assemble_filter(machine, policy), call) == expected


@pytest.mark.parametrize("policy", [BOT, ONLINE, BUILD, SHARED, SHARED_ONLINE])
def test_what_every_program_needs_is_allowed(policy: Policy, machine: Machine) -> None:
    program = assemble_filter(machine, policy)
    needed = {"x86_64": (0, 1, 9, 59, 60, 202, 231), "aarch64": (63, 64, 222, 221, 93, 98, 94)}
    for number in needed[machine.name]:  # read, write, mmap, execve, exit, futex, exit_group
        assert verdict(program, Call(number, machine.audit_arch)) == ALLOWED


def test_calls_of_another_processor_end_the_bot(machine: Machine) -> None:
    i386, arm = 0x40000003, 0x40000028
    for arch in (i386, arm):
        assert verdict(assemble_filter(machine, BOT), Call(1, arch)) == KILLED


def test_the_second_table_of_x86_64_is_closed() -> None:
    machine = MACHINES["x86_64"]
    program = assemble_filter(machine, BOT)
    assert verdict(program, Call(0x40000000, machine.audit_arch)) == REFUSED
    assert verdict(program, Call(0x40000000 + 101, machine.audit_arch)) == REFUSED


def test_a_jump_to_nowhere_is_a_mistake_of_ours() -> None:
    code = Assembler()
    code.if_equal(1, yes="nowhere")
    with pytest.raises(ValueError, match="nowhere"):
        code.assemble()


def test_a_jump_that_is_too_long_is_a_mistake_of_ours() -> None:
    code = Assembler()
    code.if_equal(1, yes="end")
    for _ in range(256):
        code.load(0)
    code.label("end")
    code.give(0)
    with pytest.raises(ValueError, match="end"):
        code.assemble()
