"""The three forms of an action: the internal value, a bot's answer, and the stored code."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tourney_runner.games.base import Answer, MalformedAnswerError
from tourney_runner.games.speahx.cards import NAMES, NUMBERS, SUITS

__all__ = ["CHANCE", "PASS", "Action", "SpeahxAnswer", "decode", "encode", "parse", "write"]


class Action(msgspec.Struct, frozen=True, gc=False):
    """An action of a player."""

    kind: Literal["play", "pass", "chance"]
    cards: tuple[int, ...] = ()
    """The cards of a play, in the order in which they are laid."""
    suit: int | None = None
    """The suit called if the last card laid is a two (S22)."""


PASS = Action("pass")
"""Take the pile (R21)."""
CHANCE = Action("chance")
"""Draw a chance card (R22) or, late in the game, turn a table card (S38)."""


class SpeahxAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Exactly one of `play`, `pass` and `chance`."""

    play: tuple[str, ...] | None = None
    """The cards to lay, in that order: ``["9H", "9C"]``."""
    suit: str | None = None
    """``S``, ``C``, ``D`` or ``H``, when the last card of `play` is a two."""
    pass_: bool = msgspec.field(default=False, name="pass")
    """Take the pile."""
    chance: bool = False
    """Draw a chance card, or turn a table card."""


def parse(answer: SpeahxAnswer) -> Action:
    """Return the action that an answer stands for, whether or not it is legal.

    Raises:
        MalformedAnswerError: It is not exactly one action, or has an unknown card or suit.
    """
    if (answer.play is not None) + answer.pass_ + answer.chance != 1:
        raise MalformedAnswerError(
            'expected exactly one of "play" with a list of cards, "pass": true and "chance": true'
        )
    suit = None if answer.suit is None else _suit_number(answer.suit)
    if answer.play is None:
        return Action("pass" if answer.pass_ else "chance", (), suit)
    if not answer.play:
        raise MalformedAnswerError('"play" is an empty list; expected at least one card')
    try:
        return Action("play", tuple([NUMBERS[name] for name in answer.play]), suit)
    except KeyError as unknown:
        raise MalformedAnswerError(
            f"{unknown.args[0][:12]!r} is not a card; expected a rank of 23456789TJQKA and a "
            "suit of SCDH, such as 7H, or JK"
        ) from None


def write(action: Action) -> dict[str, Any]:
    """Return the answer for an action, without its id."""
    if action.kind != "play":
        return {action.kind: True}
    fields: dict[str, Any] = {"play": [NAMES[card] for card in action.cards]}
    if action.suit is not None:
        fields["suit"] = SUITS[action.suit]
    return fields


def encode(action: Action) -> str:
    """Return ``-`` for a pass, ``+`` for a chance card, ``9H9C`` or ``2H>S`` for a play."""
    if action.kind == "pass":
        return "-"
    if action.kind == "chance":
        return "+"
    call = "" if action.suit is None else f">{SUITS[action.suit]}"
    return "".join([NAMES[card] for card in action.cards]) + call


def decode(code: str) -> Action:
    """Return the action for a text made by `encode`.

    Raises:
        ValueError: The text is not an action of this game.
    """
    if code == "-":
        return PASS
    if code == "+":
        return CHANCE
    names, mark, call = code.partition(">")
    cards = [NUMBERS.get(names[start : start + 2]) for start in range(0, len(names), 2)]
    if not cards or None in cards or bool(mark) != (len(call) == 1 and call in SUITS):
        raise ValueError(f"{code[:40]!r} is not an action of Speahx")
    return Action(
        "play",
        tuple([card for card in cards if card is not None]),
        SUITS.index(call) if mark else None,
    )


def _suit_number(name: str) -> int:
    if len(name) != 1 or name not in SUITS:
        raise MalformedAnswerError(f"{name[:12]!r} is not a suit; expected S, C, D or H")
    return SUITS.index(name)
