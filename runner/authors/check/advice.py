"""How to mend what a check found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.results.records import FaultKind

__all__ = ["advice"]

_ADVICE: dict[FaultKind, str] = {
    "start": (
        "run its command by hand in its folder: it has to read the `hello` line from stdin and "
        'answer {"type": "ready"} with a newline, flushed, within the start limit; do slow work '
        "once, before `ready`, and keep missing modules or files in the bot's own folder"
    ),
    "crash": (
        "the stderr below says where it ended; send it the request below by hand to see it again"
    ),
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


def advice(kind: FaultKind, cause: str, received: str) -> str:
    """What to do about a fault, by what happened and what the bot wrote."""
    if "flush" in cause:
        return (
            "flush stdout after each answer (print(.., flush=True), fflush(stdout)), and answer "
            "every `move`; messages of other types want no answer"
        )
    if "newline" in cause or (kind == "flood" and "\n" not in received):
        return "end each answer with a newline and flush it"
    if "other requests" in cause:
        return "copy the `id` of the request into its answer"
    return _ADVICE[kind]
