"""Action numbers and observation arrays of the bundled games, for programs that learn.

An encoder reads the protocol's own JSON: the view and the canonical list of legal answers of a
`move`. So the same encoder runs in a learning environment and inside a bot. This module needs only
the standard library, and a bot may carry a copy of the file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Answer = Mapping[str, Any]
    View = Mapping[str, Any]

__all__ = ["ENCODERS", "Encoder", "SpeahxEncoder", "TienlenEncoder", "encoder"]


class Encoder(ABC):
    """The numbers of a game's actions and the arrays of its observations.

    Args:
        rules: All rules in force, as in the message `hello`.
    """

    actions: int
    """The number of action numbers. They run from 0 and do not depend on rules or cards."""
    size: int
    """The length of an observation under these rules."""

    def __init__(self, rules: Mapping[str, Any]) -> None:
        self.players: int = rules["players"]

    @abstractmethod
    def observe(self, view: View) -> list[float]:
        """Return a view as `size` numbers from 0 to 1. Players follow clockwise from the own seat.

        Args:
            view: The view of a `move`.
        """

    @abstractmethod
    def number(self, view: View, answer: Answer) -> int:
        """Return the number of an action.

        Args:
            view: The view of a `move`.
            answer: An answer to it.
        """

    def numbered(self, view: View, legal: Iterable[Answer]) -> dict[int, Answer]:
        """Return the legal answers by their numbers, in ascending order.

        Args:
            view: The view of a `move`.
            legal: Its canonical list of legal answers. If several have the same number, the last
                and longest one counts.
        """
        found = {self.number(view, answer): answer for answer in legal}
        return {number: found[number] for number in sorted(found)}

    def _from_seat(self, view: View, by_seat: Sequence[float]) -> list[float]:
        """Return values by seat, beginning with the own seat."""
        seat = view["seat"]
        return [*by_seat[seat:], *by_seat[:seat]]

    def _flags(self, view: View, name: str) -> list[float]:
        """Return 1 for each seat that a field of the view names, beginning with the own seat."""
        named = view.get(name, ())
        return self._from_seat(view, [float(seat in named) for seat in range(self.players)])


def _numbers(names: Iterable[Any]) -> dict[Any, int]:
    return {name: number for number, name in enumerate(names)}


_SUITS = "SCDH"

# Tien Len

_TIENLEN_RANKS = "3456789TJQKA2"
_TIENLEN_CARDS = _numbers(rank + suit for rank in _TIENLEN_RANKS for suit in _SUITS)
_HIGHEST_IN_SEQUENCE = 11
"""The index of the ace: sequences contain no 2s."""
_SET, _SEQUENCE, _PAIRS = "set", "sequence", "pairs"


def _tienlen_kinds() -> Iterable[tuple[str, int, int]]:
    """Yield each kind of play: its shape, its length, and the index of its top card."""
    for size in (1, 2, 3, 4):
        yield from ((_SET, size, top) for top in range(52) if top % 4 >= size - 1)
    # A hand of 13 cards holds at most six pairs.
    for shape, lengths, lowest_suit in ((_SEQUENCE, range(3, 13), 0), (_PAIRS, range(3, 7), 1)):
        for length in lengths:
            for rank in range(length - 1, _HIGHEST_IN_SEQUENCE + 1):
                yield from ((shape, length, 4 * rank + suit) for suit in range(lowest_suit, 4))


class TienlenEncoder(Encoder):
    """Tien Len: action 0 is a pass, and each other number a shape with its top card."""

    _NUMBERS = {kind: number for number, kind in enumerate(_tienlen_kinds(), start=1)}  # noqa: RUF012 - never changed
    actions = 1 + len(_NUMBERS)

    def __init__(self, rules: Mapping[str, Any]) -> None:
        super().__init__(rules)
        self.size = 2 * len(_TIENLEN_CARDS) + 5 * self.players + 1

    def observe(self, view: View) -> list[float]:
        """Return the hand, the cards on the table and their owner, the players, and H10's duty."""
        table = view["table"]
        cards = [0.0] * (2 * len(_TIENLEN_CARDS))
        for card in view["hand"]:
            cards[_TIENLEN_CARDS[card]] = 1.0
        for card in table["cards"] if table else ():
            cards[len(_TIENLEN_CARDS) + _TIENLEN_CARDS[card]] = 1.0
        owner = table["by"] if table else None
        return [
            *cards,
            *self._from_seat(view, [float(seat == owner) for seat in range(self.players)]),
            *self._from_seat(view, [size / 13 for size in view["hand_sizes"]]),
            *self._flags(view, "passed"),
            *self._flags(view, "out"),
            *self._flags(view, "forfeited"),
            float(view["must_play"] is not None),
        ]

    def number(self, view: View, answer: Answer) -> int:  # noqa: ARG002 - a play alone has its number
        """Return the number of an action; see `Encoder.number`."""
        play = answer.get("play")
        if not play:
            return 0
        cards = sorted(_TIENLEN_CARDS[card] for card in play)
        ranks = len({card // 4 for card in cards})
        if ranks == 1:
            return self._NUMBERS[_SET, len(cards), cards[-1]]
        shape = _SEQUENCE if ranks == len(cards) else _PAIRS
        return self._NUMBERS[shape, ranks, cards[-1]]


# Speahx

_SPEAHX_CARDS = _numbers([*(rank + suit for rank in "23456789TJQKA" for suit in _SUITS), "JK"])
_JOKER = _SPEAHX_CARDS["JK"]
_LAST = _numbers(
    [
        *((card, None) for card in _SPEAHX_CARDS if card[0] != "2"),
        *((f"2{suit}", call) for suit in _SUITS for call in _SUITS),
    ]
)
"""The last cards of plays, a two with the suit that is called."""
_LONGEST = 8
"""Plays of this many cards and more share their numbers."""
_FOUR = 4


class SpeahxEncoder(Encoder):
    """Speahx: action 0 takes the pile, action 1 draws a chance card, the others are plays.

    The number of a play follows from its length, its last card, the suit called, and whether it
    completes a four of a kind (S25 to S27).
    """

    actions = 2 + _LONGEST * len(_LAST) * 2

    def __init__(self, rules: Mapping[str, Any]) -> None:
        super().__init__(rules)
        self._decks: int = rules["decks"]
        self._pack = self._decks * (54 if rules["jokers"] else 52)
        self._scope: str = rules["quad_scope"]
        self._table_cards: int = rules["table_cards"]
        self._chances = max(rules["chance_max"], 1)
        self.size = 4 * len(_SPEAHX_CARDS) + len(_SUITS) + 4 * self.players + 5

    def observe(self, view: View) -> list[float]:
        """Return the hand, drawn cards, the pile and its top card, the players, and what is left.

        The order of the pile below its top cards is not part of it.
        """
        pile = view["pile"]
        top = [0.0] * len(_SPEAHX_CARDS)
        if pile:
            top[_SPEAHX_CARDS[pile[-1][:2]]] = 1.0
        call = view.get("call")
        in_play = view.get("table_sizes") or [0] * self.players
        return [
            *self._count(view["hand"]),
            *self._count(view.get("drawn", ())),
            *self._count(card[:2] for card in pile),
            *top,
            *(float(call == suit) for suit in _SUITS),
            *self._from_seat(view, [size / self._pack for size in view["hand_sizes"]]),
            *self._from_seat(view, [size / max(self._table_cards, 1) for size in in_play]),
            *self._flags(view, "out"),
            *self._flags(view, "forfeited"),
            _top_run(pile)[1] / self._pack,
            view["reserve"] / self._pack,
            min(view["chances"] / self._chances, 1.0),
            min(view.get("drawn_size", 0) / self._chances, 1.0),
            min(view["turn"] / view["max_turns"], 1.0),
        ]

    def _count(self, cards: Iterable[str]) -> list[float]:
        """Return the share of each card's copies that is among some cards."""
        counts = [0.0] * len(_SPEAHX_CARDS)
        for card in cards:
            number = _SPEAHX_CARDS[card]
            counts[number] += 1 / (self._decks * (2 if number == _JOKER else 1))
        return [min(count, 1.0) for count in counts]

    def number(self, view: View, answer: Answer) -> int:
        """Return the number of an action; see `Encoder.number`."""
        play = answer.get("play")
        if not play:
            return 1 if answer.get("chance") else 0
        length = min(len(play), _LONGEST)
        last = _LAST[play[-1], answer.get("suit") if play[-1][0] == "2" else None]
        four = self._completes_four(view["pile"], play)
        return 2 + ((length - 1) * len(_LAST) + last) * 2 + four

    def _completes_four(self, pile: Sequence[str], play: Sequence[str]) -> bool:
        """Return whether a play completes a four of a kind on the pile."""
        rank = _rank(play[-1])
        if rank == "joker" or self._scope == "off":
            return False
        if self._scope == "anywhere":
            return sum(_rank(card) == rank for card in [*pile, *play]) >= _FOUR
        _, run = _top_run(play)
        if run == len(play) and self._scope == "top_run":
            top_rank, below = _top_run(pile)
            run += below if top_rank == rank else 0
        return run >= _FOUR


def _rank(card: str) -> str:
    return "joker" if card == "JK" else card[0]


def _top_run(cards: Sequence[str]) -> tuple[str, int]:
    """Return the rank of the last card, and the number of last cards that have it."""
    rank, run = _rank(cards[-1]) if cards else "", 0
    for card in reversed(cards):
        if _rank(card) != rank:
            break
        run += 1
    return rank, run


ENCODERS: dict[str, type[Encoder]] = {"speahx": SpeahxEncoder, "tienlen": TienlenEncoder}
"""The encoders by the names of their games."""


def encoder(game: str, rules: Mapping[str, Any]) -> Encoder:
    """Return the encoder of a game.

    Args:
        game: The name of the game, as in the message `hello`.
        rules: All rules in force, as there.

    Raises:
        ValueError: There is no encoder for this game.
    """
    if game not in ENCODERS:
        raise ValueError(f"no encoder for {game!r}, expected one of {', '.join(ENCODERS)}")
    return ENCODERS[game](rules)
