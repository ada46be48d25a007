"""The program between the runner and a bot where Landlock guards it: confine, then become it.

It is run by its path, isolated and without the site module, and imports next to nothing: half of
its 12 milliseconds are Python's own start, most of the rest is ctypes. What to do comes as a
`marshal` value, which the interpreter reads without importing anything, from an inherited file:
a dictionary of `parent`, `own_namespace`, `limits`, `ruleset`, `rules`, `filter` and
`environment`. The outcome goes back through an inherited pipe: `CONFINED` and then, only if the
bot's own program cannot be started, the number of that error; anything else tells what failed.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import sys

TYPE_CHECKING = False  # importing typing would take as long as all the rest
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CONFINED"]

CONFINED = b"+"

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SIGKILL = 9  # the module signal takes longer to import than all else
_FILTER_MODE = 2
_CLONE_NEWUSER = 0x10000000
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_RULE_PATH_BENEATH = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, text.encode())
    os.close(descriptor)


def _enter_user_namespace() -> None:
    """Change nothing but whom the number of processes is counted for: this bot alone."""
    user, group = os.getuid(), os.getgid()
    _checked(_libc.unshare(_CLONE_NEWUSER))
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _restrict_files(ruleset: bytes, rules: list[tuple[str, int]]) -> None:
    handle = _checked(_libc.syscall(_LANDLOCK_CREATE_RULESET, ruleset, len(ruleset), 0))
    for path, access in rules:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        beneath = access.to_bytes(8, "little") + place.to_bytes(4, "little")
        _checked(_libc.syscall(_LANDLOCK_ADD_RULE, handle, _RULE_PATH_BENEATH, beneath, 0))
        os.close(place)
    _checked(_libc.syscall(_LANDLOCK_RESTRICT_SELF, handle, 0))
    os.close(handle)


def _filter_calls(instructions: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    program = Program(len(instructions) // 8, instructions)
    _checked(_libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0))


def _confine(plan: dict[str, Any]) -> None:
    if plan["own_namespace"]:
        _enter_user_namespace()
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    # After all changes of rights, which would undo it.
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0))
    if os.getppid() != plan["parent"]:
        raise ProcessLookupError("the runner is gone")
    _restrict_files(plan["ruleset"], plan["rules"])
    for kind, value in plan["limits"]:
        resource.setrlimit(kind, (value, value))
    _filter_calls(plan["filter"])


def main() -> None:
    """Arguments: the file with the plan, the pipe for the outcome, the command."""
    source, outcome = int(sys.argv[1]), int(sys.argv[2])
    command = sys.argv[3:]
    os.set_inheritable(outcome, False)  # noqa: FBT003 - the function has no keyword
    try:
        content = os.read(source, os.fstat(source).st_size)
        os.close(source)
        plan = marshal.loads(content)  # noqa: S302 - from our parent
        _confine(plan)
    except Exception as error:  # noqa: BLE001 - whatever it is: the bot must not run unconfined
        os.write(outcome, f"{error}".encode())
        sys.exit(1)
    os.write(outcome, CONFINED)
    try:
        os.execve(command[0], command, plan["environment"])  # noqa: S606 - this is what it is for
    except OSError as error:
        os.write(outcome, f"{error.errno}".encode())
        sys.exit(1)


if __name__ == "__main__":
    main()
