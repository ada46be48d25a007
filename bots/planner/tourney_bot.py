"""Reduces a bot to one function: copy this file next to your bot and call `run`.

    from tourney_bot import run


    def choose(turn):
        return turn.legal[0]


    run(choose, name="first", legal="all")

It needs nothing but Python's standard library. `print` is safe: it goes to stderr, since stdout
belongs to the messages.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

__all__ = ["Answer", "Turn", "run"]

Answer = dict[str, Any]
"""``{"play": ["3S", "3C"]}``, in Speahx with a ``suit`` when the last card laid is a two;
``{"pass": True}``; ``{"chance": True}``; each may carry a short text as ``debug``."""


class Turn:
    """One request for a move, and what was said before it.

    Attributes:
        game: ``tienlen`` or ``speahx``.
        rules: Every rule in force, from the runner's ``hello``.
        limits: What the bot may use, times in milliseconds.
        deal: The message that opened this deal: seat, players, first hand, leader, seed.
        view: The position as this bot may know it; enough to choose without any memory.
        legal: The legal answers, if `run` was told to ask for them.
        events: What has happened since this bot's last turn, oldest first.
        time: The clock in milliseconds: ``move`` and what is left of ``bank``.
        memory: A dict of the bot's own, empty at the start of each deal.
    """

    def __init__(self, hello: dict[str, Any], deal: dict[str, Any], memory: dict[str, Any]) -> None:
        self.game: str = hello["game"]
        self.rules: dict[str, Any] = hello["rules"]
        self.limits: dict[str, Any] = hello["limits"]
        self.deal = deal
        self.memory = memory
        self.view: dict[str, Any] = {}
        self.legal: list[Answer] = []
        self.events: list[dict[str, Any]] = []
        self.time: dict[str, int] = {}
        self._random: Random | None = None

    @property
    def random(self) -> Random:
        """Chance that repeats: it is seeded again with the seed of each deal."""
        if self._random is None:
            from random import Random  # noqa: PLC0415 - a bot without chance starts 8 ms sooner

            self._random = Random(self.deal.get("seed", 0))
        return self._random


def run(
    choose: Callable[[Turn], Answer], *, name: str, version: str = "1", legal: str = "none"
) -> None:
    """Talk with the runner until it closes stdin.

    Args:
        choose: Gives the answer to one request; it need not copy the request's id.
        name: What the bot calls itself.
        version: Of the bot.
        legal: ``all``: each turn lists every legal answer; ``canonical``: one for each kind,
            length and top card; ``none``: no list, which is the fastest.
    """
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr

    def send(message: dict[str, Any]) -> None:
        sink.write(json.dumps(message).encode() + b"\n")
        sink.flush()  # without it the answer would wait in this process until time runs out

    hello: dict[str, Any] = {}
    turn: Turn | None = None
    for line in source:
        message = json.loads(line) if line.strip() else {}
        kind = message.get("type")
        if kind == "hello":
            hello = message
            send({"type": "ready", "name": name, "version": version, "legal": legal})
        elif kind == "deal":
            turn = Turn(hello, message, {})
        elif kind == "move":
            if turn is None:  # a process that was started in the middle of a deal
                turn = Turn(hello, {}, {})
            turn.view, turn.time = message["view"], message["time"]
            turn.legal, turn.events = message.get("legal", []), message.get("events", [])
            send({**choose(turn), "id": message["id"]})
