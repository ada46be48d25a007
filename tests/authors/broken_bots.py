# ruff: noqa: E501 - programs of one line
"""Sixty broken bots, each with its flaw and with words of the advice that names its cause."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BROKEN", "Broken"]


class Broken(NamedTuple):
    kind: str
    """The fault."""
    advice: str
    """Words of the advice."""
    ready: str = 'print(\'{"type": "ready"}\', flush=True)'
    """Its code for a `hello`."""
    move: str = "answer(id=m['id'], **{'pass': True})"
    """Its code for a `move`; `lead` is a legal play."""
    first: str = ""
    """Its code before it reads anything."""


JSON, LIST, CARD = "json.dumps(answer)", "`play` is a list of cards", "in upper case"
FILES, NET = "sees none of your other files", "there is no network for bots"
ONE_OF = 'exactly one of "play" and "pass"'

BROKEN: dict[str, Broken] = {
    # At the start
    "fails at once": Broken("start", "stderr below says why", first="1 / 0"),
    "ends without a word": Broken("start", "left no words", first="os._exit(3)"),
    "prints its traceback to stdout": Broken(
        "start", "stdout below says why", first="print('Traceback: oh', flush=True); os._exit(1)"
    ),
    "waits for the end of the input": Broken("start", "without waiting", first="sys.stdin.read()"),
    "does not flush ready": Broken("start", "flush=True", ready="print('{\"type\":\"ready\"}')"),
    "thinks before ready": Broken("start", "do less before that", first="time.sleep(60)"),
    "says ready without a newline": Broken(
        "start", "ended by a newline", ready="sys.stdout.write('{\"type\":\"ready\"}'); sys.stdout.flush()"
    ),
    "says ready in Python's notation": Broken(
        "start", JSON, ready="print({'type': 'ready'}, flush=True)"
    ),
    "says ready in another way": Broken("start", "is not that", ready="print('ready', flush=True)"),
    "wants legal: true": Broken(
        "start", '"none", "canonical" and "all"', ready="say({'type': 'ready', 'legal': True})"
    ),
    "wants legal: yes": Broken(
        "start", '"none", "canonical" and "all"', ready="say({'type': 'ready', 'legal': 'yes'})"
    ),
    "gives a number as its name": Broken(
        "start", "are texts", ready="say({'type': 'ready', 'name': 7})"
    ),
    "reads a file outside of its folder": Broken("start", FILES, first="open('../weights.bin')"),
    "writes into its folder": Broken("start", FILES, first="open('log.txt', 'w')"),
    "writes into /etc": Broken("start", FILES, first="open('/etc/bot', 'w')"),
    "lacks a library": Broken("start", "a library is missing", first="import numpy_of_mine"),
    "goes to the network": Broken(
        "start", NET, first="import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    ),
    "asks for a name in the network": Broken(
        "start", NET, first="import socket; socket.getaddrinfo('example.org', 80)"
    ),
    "starts many processes": Broken(
        "start", "more processes and threads", first="[os.fork() or time.sleep(9) for _ in range(90)]"
    ),
    "starts many threads": Broken(
        "start", "more processes and threads",
        first="import threading\nfor _ in range(90): threading.Thread(target=time.sleep, args=(9,)).start()",
    ),
    "needs a variable": Broken("start", "environment variables", first="os.environ['MODEL']"),
    "has a syntax error": Broken("start", "syntax error", first="exec('x = = 1')"),
    "takes all memory at the start": Broken("memory", "keep less", first="x = bytearray(1 << 30)"),
    # Answers of a wrong shape
    "answers in Python's notation": Broken(
        "malformed", JSON, move="print({'id': m['id'], 'pass': True}, flush=True)"
    ),
    "answers with True": Broken(
        "malformed", JSON, move="print('{\"id\": %d, \"pass\": True}' % m['id'], flush=True)"
    ),
    "leaves the id out": Broken("malformed", "copy the `id`", move="say({'pass': True})"),
    "gives the id as text": Broken(
        "malformed", "without quotes", move="answer(id=str(m['id']), play=lead)"
    ),
    "gives another id": Broken("timeout", "copy the `id`", move="answer(id=2, play=lead)"),
    "answers inside of another object": Broken(
        "malformed", "stand beside its `id`", move="answer(id=m['id'], move={'play': lead})"
    ),
    "plays a text": Broken("malformed", LIST, move="answer(id=m['id'], play='3S 3C')"),
    "plays lower case cards": Broken("malformed", CARD, move="answer(id=m['id'], play=['3s'])"),
    "plays 10H": Broken("malformed", CARD, move="answer(id=m['id'], play=['10H'])"),
    "plays suit symbols": Broken("malformed", CARD, move="answer(id=m['id'], play=['3♠'])"),
    "passes with a text": Broken(
        "malformed", "without quotes", move="answer(id=m['id'], **{'pass': 'true'})"
    ),
    "passes with a number": Broken(
        "malformed", "without quotes", move="answer(id=m['id'], **{'pass': 1})"
    ),
    "plays and passes": Broken(
        "malformed", ONE_OF, move="answer(id=m['id'], play=lead, **{'pass': True})"
    ),
    "does neither": Broken("malformed", ONE_OF, move="answer(id=m['id'])"),
    "plays nothing": Broken("malformed", ONE_OF, move="answer(id=m['id'], play=[])"),
    "draws a chance card": Broken("malformed", ONE_OF, move="answer(id=m['id'], chance=True)"),
    "answers with a list": Broken(
        "malformed", "not a list", move="say([{'id': m['id'], 'play': lead}])"
    ),
    "answers in plain words": Broken("malformed", ONE_OF[8:], move="print('play 3S', flush=True)"),
    "answers in a code fence": Broken(
        "malformed", "code fence", move="print('```json', flush=True)"
    ),
    "says ready again": Broken("malformed", "once", move="say({'type': 'ready'})"),
    "answers with NaN": Broken(
        "malformed", "NaN and Infinity", move="answer(id=m['id'], play=lead, debug=float('nan'))"
    ),
    "answers not in UTF-8": Broken(
        "malformed", "in UTF-8", move="sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()"
    ),
    "answers in UTF-16": Broken(
        "malformed", "in UTF-8",
        move="sys.stdout.buffer.write(json.dumps({'id': m['id'], 'play': lead}).encode('utf-16')"
        " + b'\\n'); sys.stdout.flush()",
    ),
    # Time and output
    "does not flush its answer": Broken(
        "timeout", "flush stdout", move="print(json.dumps({'id': m['id'], 'play': lead}))"
    ),
    "sleeps": Broken("timeout", "or asleep, think less", move="time.sleep(60)"),
    "spins": Broken("timeout", "think less", move="while True: pass"),
    "never answers": Broken("timeout", "answer every `move`", move="pass"),
    "leaves the newline out": Broken(
        "timeout", "with a newline",
        move="sys.stdout.write(json.dumps({'id': m['id'], 'play': lead})); sys.stdout.flush()",
    ),
    "prints without end": Broken("flood", "one line for each request", move="while True: print(1)"),
    "prints one endless line": Broken(
        "flood", "with a newline", move="while True: print('x' * 999, end='')"
    ),
    # Crashes
    "fails at a move": Broken("crash", "stderr below says where", move="m['legal']"),
    "ends its loop": Broken("crash", "only when its input does", move="sys.exit()"),
    "ends with a status": Broken("crash", "left no words", move="os._exit(9)"),
    "prints why it ends to stdout": Broken(
        "crash", "output below says where", move="print('oh no', flush=True); os._exit(1)"
    ),
    "is ended by a signal": Broken("crash", "a debugger shows where", move="os.abort()"),
    "gives its output away": Broken(
        "crash", "keep it open", move="os.dup2(2, 1); answer(id=m['id'], play=lead)"
    ),
    "starts processes at a move": Broken(
        "crash", "more processes and threads", move="[os.fork() or time.sleep(9) for _ in range(90)]"
    ),
    "reads a file at a move": Broken("crash", FILES, move="open('/root/opening.book')"),
    "takes all memory at a move": Broken("memory", "keep less", move="x = bytearray(1 << 30)"),
    # The rules
    "plays what it does not hold": Broken(
        "illegal", "docs/rule-ids.md", move="answer(id=m['id'], play=lead * 2)"
    ),
    "passes when it leads": Broken("illegal", "docs/rule-ids.md"),
}  # fmt: skip
