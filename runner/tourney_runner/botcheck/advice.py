"""Advice on fixing a fault, chosen by its cause and by the output of the bot.

The first entry of a list whose expression matches gives the advice, so specific ones come first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tourney_runner.results.records import FaultKind

__all__ = ["BUILD_ADVICE", "advice"]

BUILD_ADVICE = (
    "run its build by hand in a copy of its folder, with nothing else around it and without "
    "network: whatever it needs, packages too, has to lie in the folder"
)
_FLUSH = "print(.., flush=True), fflush(stdout), std::endl, $| = 1"
_READY = 'answer the `hello` with one line {"type": "ready"}, ended by a newline and flushed'
_FOLDER = (
    "it runs in a copy of its folder, which it cannot write to, and sees none of your other files: "
    "put what it needs into the folder, name it by a relative path, and write only to $TMPDIR"
)
_NEWLINE = "end each answer with a newline, flush it, and write no more until the next request"

Entries = tuple[tuple[str, str], ...]
"""Pairs of a regular expression and the advice if it matches."""

_BY_OUTPUT: Entries = (
    (
        (
            r"Resource temporarily unavailable|can't start new thread|fork: retry|BlockingIOError"
            r"|EAGAIN|processes and threads at a time"
        ),
        (
            "it started more processes and threads than the limit allows (32 by default): start "
            "fewer, or ask the organiser for `processes`"
        ),
    ),
    (
        (
            r"Network is unreachable|name resolution|getaddrinfo|ENETUNREACH|EAI_AGAIN"
            r"|Connection refused|urlopen error|socket|Operation not permitted"
        ),
        (
            "there is no network for bots: put what it fetches into its folder, or ask the "
            "organiser for `network`"
        ),
    ),
    (
        (
            r"ModuleNotFoundError|No module named|Cannot find module|cannot open shared object"
            r"|ImportError|module '.*' not found|cannot load such file|Can't locate .* in @INC"
        ),
        (
            "a library is missing here: bots see what is installed for everybody and their own "
            "folder; put the library into the folder (a virtual environment works), and leave out "
            "-S and -E if the command has them"
        ),
    ),
    (
        (
            r"No such file or directory|FileNotFoundError|ENOENT|Read-only file system|EROFS"
            r"|Permission denied|PermissionError|EACCES"
        ),
        f"a file is out of its reach: {_FOLDER}",
    ),
    (
        r"KeyError: '[A-Z_]+'.*|os\.environ|environment variable",
        (
            "a bot gets few environment variables, which docs/protocol.md lists: read the variable "
            "with a default, or ask the organiser for `env`"
        ),
    ),
    (
        r"SyntaxError|IndentationError|error: expected|Parse error|syntax error",
        "the program has a syntax error, which its output below names",
    ),
)
"""Advice by the output of the bot, for crashes and failed starts."""

_BY_ANSWER: Entries = (
    (
        r"""^\s*\{\s*'|:\s*(True|False|None)\s*[,}]|^\s*\{[^"]*'(id|play|pass)'""",
        (
            "this is Python's own notation, not JSON: write json.dumps(answer), which gives double "
            "quotes, true, false and null"
        ),
    ),
    (r"^\s*\[", "an answer is one JSON object, {...}, not a list"),
    (r"```", "write the JSON object alone, without a code fence around it"),
    (
        r'^\s*\{\s*"type"\s*:\s*"ready"',
        "`ready` answers the `hello`, once: a `move` wants an answer with its `id`",
    ),
    (
        r"NaN|Infinity",
        "NaN and Infinity are not JSON: leave such values out, or write null",
    ),
    (
        r'"(?:move|action|answer)"\s*:\s*[\{\[]',
        (
            'the fields of an answer stand beside its `id`, not inside another object: {"id": 1, '
            '"play": [..]}'
        ),
    ),
    (
        r'"play"\s*:\s*"',
        '`play` is a list of cards, ["3S", "3C"], not one text',
    ),
    (
        r'"(?:pass|chance)"\s*:\s*(?:"|\d)',
        "`pass` is true or false without quotes, not a text or a number",
    ),
    (
        r'"(?:[2-9tjqka]|10)[scdh]"|"10[SCDH]"|"[2-9TJQKA][♠♣♦♥]|"[♠♣♦♥]',
        (
            "a card is a rank of 23456789TJQKA and a suit of SCDH, in upper case: TH is the ten of "
            "hearts"
        ),
    ),
    (r'"id"\s*:\s*"', "the `id` is a number: copy it as it is, without quotes"),
)
"""Advice by the text of a malformed answer."""

_NOT_RUN = re.compile(r"status 12[67]\b|could not be started|Exec format error")


def advice(  # noqa: PLR0911 - one for each kind of fault
    kind: FaultKind, cause: str, received: str, stderr: str, game: str = ""
) -> str:
    """Return how to fix a fault.

    Args:
        kind: The kind of the fault.
        cause: The cause that the fault gives.
        received: The bot's stdout since the request.
        stderr: The bot's stderr.
        game: The name of the game; some advice differs by game.
    """
    match kind:
        case "start":
            return _start(cause, received, stderr)
        case "crash":
            return _crash(cause, received, stderr)
        case "timeout":
            return _timeout(cause, received)
        case "malformed":
            return _malformed(cause, received, game)
        case "illegal":
            return (
                "the rule is named above, and explained in docs/rule-ids.md; take an answer from "
                'the request\'s `legal` list (say "legal": "all" or "canonical" in `ready`), or '
                "work out legal plays from `view` and `hello`'s `rules`"
            )
        case "flood":
            if "\n" not in received:
                return _NEWLINE
            return "print one line for each request, with a newline at its end, and then wait"
        case _:
            return "keep less: the limit is in `hello`, for the process and all that it starts"


def _found(entries: Entries, text: str) -> str:
    return next((advice for words, advice in entries if re.search(words, text)), "")


def _start(cause: str, received: str, stderr: str) -> str:  # noqa: PLR0911 - one for each symptom
    if "wrong shape" in cause:
        if "legal" in cause:
            return 'the values of `legal` are the texts "none", "canonical" and "all"'
        return f"{_READY}; its fields `name` and `version` are texts"
    if said := _found(_BY_ANSWER[:1], received):
        return said
    if _NOT_RUN.search(cause):
        return (
            "its program cannot be run here: a script needs a first line such as #!/bin/sh, "
            r"without a \r at its end, and an interpreter that is installed for everybody; a "
            "compiled program must fit this machine"
        )
    if named := _found(_BY_OUTPUT, f"{received}\n{stderr}\n{cause}"):
        return named
    if "ended" in cause or "exited" in cause:
        where = "stderr" if stderr.strip() else "stdout" if received.strip() else ""
        said = f"the {where} below says why it ended; " if where else "it left no words; "
        return f"{said}{_FOLDER}"
    if "no answer within" in cause:
        if '"ready"' in received and "newline" in cause:
            return _READY
        if received.strip():
            return f"{_READY}; what it wrote is not that"
        return (
            f"{_READY} as soon as that line is there, without waiting for the end of the input "
            f"({_FLUSH}); if it needs longer to get ready, do less before that"
        )
    return _READY


def _crash(cause: str, received: str, stderr: str) -> str:
    if named := _found(_BY_OUTPUT, f"{received}\n{stderr}\n{cause}"):
        return f"{named}; `tourney check --json` shows the whole request, to send it by hand"
    if "signal" in cause or "SIG" in cause:
        where = "a signal ended it, such as a wrong memory access: a debugger shows where"
    elif "closed its output" in cause:
        where = "it closed stdout, or gave it away, while it was to answer: keep it open"
    elif stderr.strip():
        where = "the stderr below says where it ended"
    elif received.strip():
        where = "the output below says where it ended; print such words to stderr"
    elif "status 0" in cause:
        where = "a bot ends only when its input does: look for what leaves its loop before"
    else:
        where = "it left no words on stderr: run it by hand, or print there how far it has come"
    return (
        f"{where}; `tourney check --json` shows the whole request, to send it by hand, and "
        "docs/debugging.md how to attach a debugger"
    )


def _timeout(cause: str, received: str) -> str:
    if "newline" in cause:
        return _NEWLINE
    if "other requests" in cause:
        return "copy the `id` of the request into its answer"
    think = (
        "the limit is in `hello`, and what is left in each request's `time`; a fixed amount of "
        "work is better than a look at the clock"
    )
    if "nothing was received" in cause or "leave out" in cause:
        return (
            f"if it had answered, flush stdout after each answer ({_FLUSH}), and answer every "
            f"`move`; if it was still thinking, waiting or asleep, think less: {think}"
        )
    del received
    return f"think less: {think}"


def _malformed(cause: str, received: str, game: str) -> str:
    text = received.strip()
    if named := _found(_BY_ANSWER, text):
        return named
    if text.startswith("{") and '"id"' not in text:
        return "copy the `id` of the request into its answer"
    if "both" in cause or "exactly one" in cause or "neither" in cause:
        return f"an answer has exactly one of {_actions(game)}"
    if text and not text.startswith("{") and ("no answer" in cause or "not an answer" in cause):
        return (
            "print nothing but answers to stdout, in UTF-8; stderr is free for all else. An answer "
            f"is one JSON object with the request's `id` and one of {_actions(game)}"
        )
    return (
        "answer with one JSON object on one line, in UTF-8, with the request's `id` and one of "
        f"{_actions(game)}; print nothing else to stdout, stderr is free for that"
    )


def _actions(game: str) -> str:
    """Return the names of the fields of an answer, from the game's own type."""
    from tourney_runner.games import registry  # noqa: PLC0415 - only where a fault is explained

    if game not in registry.names():
        return "the game's actions"
    fields = registry.game(game).answer.__struct_encode_fields__
    named = [f'"{name}"' for name in fields if name not in ("id", "debug", "suit")]
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
