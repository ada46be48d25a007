"""The program that confines itself with Landlock and then becomes the bot.

It is passed compiled, together with its plan, as one `marshal` value in an inherited file, so that
the interpreter need not find or compile it. Starting Python is most of its 9 milliseconds, so it
uses only modules that the interpreter has at hand: `posix` instead of os, and `_ctypes` instead of
ctypes. The others would take 5 more.

The outcome is sent through an inherited pipe: `CONFINED`, followed by an error number only if the
bot's own program cannot be started. Anything else is the message of an error.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal takes longer to import than all else
import posix
import sys
from _ctypes import (
    FUNCFLAG_CDECL,
    FUNCFLAG_USE_ERRNO,
    CFuncPtr,
    Structure,
    _SimpleCData,
    byref,
    dlopen,
    dlsym,
    get_errno,
)

TYPE_CHECKING = False  # importing typing would take as long as all the rest
if TYPE_CHECKING:
    from typing import Any

__all__ = ["BOOT", "CONFINED", "main"]

CONFINED = b"+"

BOOT = """
import marshal, posix, sys
source = int(sys.argv[1])
program, plan = marshal.loads(posix.read(source, posix.fstat(source).st_size))
posix.close(source)
names = {"__name__": "confine"}
exec(program, names)
names["main"](plan)
"""
"""The interpreter's ``-c`` argument. It reads the code of this module and the plan."""

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_CHILD_SUBREAPER = 36
_PR_CAPBSET_READ = 23
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_CAP_AMBIENT_RAISE = 2
_CAP_DAC_READ_SEARCH = 2
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES = 64
_NO_SETUID_FIXUP = 4
_MOST_DESCRIPTORS = 1 << 16
_SIGKILL = 9  # importing signal takes longer than everything else
_FILTER_MODE = 2
_CLONE_NEWUSER = 0x10000000
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_RULE_PATH_BENEATH = 1


class _Long(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "l"


class _Short(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "H"


class _Bytes(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "z"


class _Call(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Long


class _FilterProgram(Structure):
    _fields_ = (("length", _Short), ("instructions", _Bytes))


_handle = dlopen(None, 0)  # type: ignore[arg-type]  # the program itself, which has the C library


def _function(name: str) -> _Call:
    return _Call(dlsym(_handle, name))


_syscall = _function("syscall")
_prctl = _function("prctl")
_capset = _function("capset")
_unshare = _function("unshare")
_setrlimit = _function("setrlimit")


def _checked(result: int) -> int:
    if result < 0:
        number = get_errno()
        raise OSError(number, posix.strerror(number))
    return result


def _write(path: str, text: str) -> None:
    descriptor = posix.open(path, posix.O_WRONLY)
    posix.write(descriptor, text.encode())
    posix.close(descriptor)


def _become(user: int) -> None:
    """As root, become another user for good, with only the right to pass through closed folders."""
    posix.setgroups([])
    posix.setresgid(user, user, user)
    _checked(_prctl(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP, 0, 0, 0))  # otherwise that right is lost
    posix.setresuid(user, user, user)
    for right in range(_CAPABILITIES):
        if right != _CAP_DAC_READ_SEARCH and _prctl(_PR_CAPBSET_READ, right, 0, 0, 0) > 0:
            _checked(_prctl(_PR_CAPBSET_DROP, right, 0, 0, 0))
    header = _CAPABILITY_VERSION_3.to_bytes(4, "little") + bytes(4)
    kept = (1 << _CAP_DAC_READ_SEARCH).to_bytes(4, "little") * 3  # effective, permitted, inherited
    _checked(_capset(header, kept + bytes(12)))
    _checked(_prctl(_PR_CAP_AMBIENT, _CAP_AMBIENT_RAISE, _CAP_DAC_READ_SEARCH, 0, 0))


def _enter_user_namespace() -> None:
    """Enter a user namespace that changes nothing but the count of processes."""
    user, group = posix.getuid(), posix.getgid()
    _checked(_unshare(_CLONE_NEWUSER))
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _restrict_files(ruleset: bytes, rules: list[tuple[str, int]]) -> None:
    handle = _checked(_syscall(_LANDLOCK_CREATE_RULESET, ruleset, len(ruleset), 0))
    for path, access in rules:
        place = posix.open(path, posix.O_PATH | posix.O_CLOEXEC)
        beneath = access.to_bytes(8, "little") + place.to_bytes(4, "little")
        _checked(_syscall(_LANDLOCK_ADD_RULE, handle, _RULE_PATH_BENEATH, beneath, 0))
        posix.close(place)
    _checked(_syscall(_LANDLOCK_RESTRICT_SELF, handle, 0))
    posix.close(handle)


def _filter_calls(instructions: bytes) -> None:
    program = _FilterProgram(len(instructions) // 8, instructions)
    _checked(_prctl(_PR_SET_SECCOMP, _FILTER_MODE, byref(program), 0, 0))


def _die_with(parent: int) -> None:
    _checked(_prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0))
    if posix.getppid() != parent:
        raise ProcessLookupError("the runner is gone")


def _supervise() -> None:
    """Continue as a child of this process, which stays to end everything that the bot starts.

    Orphans become children of the supervisor, so they clearly belong to this bot. When the bot has
    ended, the supervisor ends the rest and then itself with the same status.
    """
    _checked(_prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    bot = posix.fork()
    if not bot:
        return
    posix.closerange(0, _MOST_DESCRIPTORS)
    status = 0
    ended = None
    while ended != bot:
        ended, found = posix.wait()
        status = found if ended == bot else status
    try:
        while True:
            _end_children()
            posix.wait()
    except ChildProcessError:
        pass
    if posix.WIFSIGNALED(status):
        number = posix.WTERMSIG(status)
        if number != _SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        posix.kill(posix.getpid(), number)
    posix._exit(posix.WEXITSTATUS(status))  # noqa: SLF001 - its only name


def _end_children() -> None:
    handle = posix.open("/proc/thread-self/children", posix.O_RDONLY)
    for pid in posix.read(handle, 1 << 16).split():
        posix.kill(int(pid), _SIGKILL)
    posix.close(handle)


def _confine(plan: dict[str, Any]) -> None:
    if plan["user"] is not None:
        _become(plan["user"])
    if plan["own_namespace"]:
        _enter_user_namespace()
    _checked(_prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _die_with(plan["parent"])  # after all changes of rights, which would undo it
    _restrict_files(plan["ruleset"], plan["rules"])
    for kind, value in plan["limits"]:
        _checked(_setrlimit(kind, value.to_bytes(8, "little") * 2))
    _filter_calls(plan["filter"])


def main(plan: dict[str, Any]) -> None:
    """Confine this process and become the bot. Never returns.

    The arguments of the process are the file with the code and the plan, the pipe for the outcome,
    the pipe that is closed when the runner is ready, and the command.

    Args:
        plan: `parent`, `supervised`, `user`, `own_namespace`, `limits`, `ruleset`, `rules`,
            `filter` and `environment`.
    """
    outcome, gate, command = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    posix.set_inheritable(outcome, False)  # noqa: FBT003 - the function has no keyword
    posix.read(gate, 1)
    posix.close(gate)
    try:
        if plan["supervised"]:
            _die_with(plan["parent"])
            supervisor = posix.getpid()
            _supervise()
            plan["parent"] = supervisor
        _confine(plan)
    except Exception as error:  # noqa: BLE001 - whatever it is: the bot must not run unconfined
        posix.write(outcome, f"{error}".encode())
        sys.exit(1)
    posix.write(outcome, CONFINED)
    try:
        posix.execve(command[0], command, plan["environment"])
    except OSError as error:
        posix.write(outcome, f"{error.errno}".encode())
        sys.exit(1)
