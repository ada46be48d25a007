"""How to mend what a check found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultKind

__all__ = ["BUILD_ADVICE", "advice"]

_FOLDER = (
    "it runs in a copy of its folder, which it cannot write to, and sees none of your other files: "
    "put what it needs into the folder, name it by a relative path, and write only to $TMPDIR"
)
BUILD_ADVICE = (
    "run its build by hand in a copy of its folder, with nothing else around it and without "
    "network: whatever it needs, packages too, has to lie in the folder"
)
_READY = 'answer the `hello` with a line {"type": "ready"}'
_ADVICE: dict[FaultKind, str] = {
    "start": f"{_READY}, ended by a newline and flushed",
    "crash": "`tourney check --json` shows the whole request, to send it by hand",
    "timeout": (
        "think less: the limit is in `hello`, and what is left in each request's `time`; a fixed "
        "amount of work is better than a look at the clock"
    ),
    "illegal": (
        'the rule is named above; take an answer from the request\'s `legal` list (say "legal": '
        '"all" or "canonical" in `ready`), or work out legal plays from `view` and `hello`\'s '
        "`rules`"
    ),
    "malformed": (
        'answer with one JSON object on one line, in UTF-8, with the request\'s `id` and "play", '
        '"pass" or "chance"; print nothing else to stdout, stderr is free for that'
    ),
    "flood": "print one line for each request, with a newline at its end, and then wait",
    "memory": "keep less: the limit is in `hello`, for the process and all that it starts",
}
_NOT_RUN = re.compile(r"status 12[67]\b|could not be started")
"""As shells and launchers put it that cannot run a program."""


def advice(kind: FaultKind, cause: str, received: str, stderr: str) -> str:
    """What to do about a fault, by what happened and what the bot wrote."""
    if "newline" in cause or (kind == "flood" and "\n" not in received):
        return "end each answer with a newline, flush it, and write no more until the next request"
    if kind == "start":
        return _start_advice(cause, stderr)
    if kind == "crash":
        return f"{_where_it_ended(cause, stderr)}; {_ADVICE[kind]}"
    if "flush" in cause:
        return (
            "flush stdout after each answer (print(.., flush=True), fflush(stdout)), and answer "
            "every `move`; messages of other types want no answer"
        )
    if "other requests" in cause or _lacks_its_id(kind, received):
        return "copy the `id` of the request into its answer"
    return _ADVICE[kind]


def _lacks_its_id(kind: FaultKind, received: str) -> bool:
    return kind == "malformed" and received.startswith("{") and '"id"' not in received


def _where_it_ended(cause: str, stderr: str) -> str:
    if stderr.strip():
        return "the stderr below says where it ended"
    if "status 0" in cause:
        return "a bot ends only when its input does: look for what leaves its loop before"
    return "it left no words on stderr: run it by hand, or print there how far it has come"


def _start_advice(cause: str, stderr: str) -> str:
    if _NOT_RUN.search(cause):
        return (
            "its program cannot be run here: a script needs a first line such as #!/bin/sh, "
            r"without a \r at its end, and an interpreter that is installed for everybody; a "
            "compiled program must fit this machine"
        )
    if "exited" in cause:
        said = "the stderr below says why it ended; " if stderr.strip() else ""
        return f"{said}{_FOLDER}"
    if "no answer within" in cause:
        return (
            f"{_READY} as soon as that line is there, without waiting for the end of the input, "
            "and flush it (print(.., flush=True), fflush(stdout)); if it needs longer to get "
            "ready, do less before that"
        )
    return _ADVICE["start"]
