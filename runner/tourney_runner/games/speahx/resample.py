"""Random Speahx states that one player cannot tell apart from the real one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.games.base import TERMINAL
from tourney_runner.games.speahx.cards import (
    EMPTY,
    LAID_NAMES,
    NUMBERS,
    PRINTED,
    RANK,
    SUITS,
    TEN,
    called,
    pack,
)
from tourney_runner.games.speahx.options import HAND
from tourney_runner.games.speahx.plays import grammar_of
from tourney_runner.games.speahx.position import Table, four_of_a_kind
from tourney_runner.games.speahx.state import SpeahxState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tourney_runner.games.speahx.options import SpeahxOptions
    from tourney_runner.games.speahx.views import SpeahxEvent, SpeahxView

__all__ = ["resample"]

_TRIES = 20_000


class _Source(NamedTuple):
    """A hidden card that a player got."""

    time: float
    """The number of the event that brought it."""
    excluded: int
    """The cards that it cannot be, as a mask (S20)."""


class _Use(NamedTuple):
    """A card that came from one of a player's sources."""

    card: int
    time: float
    """The number of the event that showed it; infinite for a card that is still hidden."""
    drawn_at: float | None = None
    """The first event of the turn in which it must have been drawn (S19), if so."""


@dataclass
class _Player:
    """The public knowledge of one player's cards."""

    known: list[int] = field(default_factory=list)
    """Cards of the hand that came from the pile."""
    sources: list[_Source] = field(default_factory=lambda: [_Source(-1, 0)] * HAND)
    shown: list[_Use] = field(default_factory=list)
    """The hidden cards that were laid since."""
    lost: int = 0
    """Hidden cards that left the game with the player."""
    chances: int = 0


class _History:
    """The knowledge about hidden cards that the events of a deal give to everybody."""

    def __init__(self, options: SpeahxOptions, events: Sequence[SpeahxEvent]) -> None:
        self._scope = options.quad_scope
        self._decks = options.deck_count()
        self._commits = options.chance_commits
        self._fits = grammar_of(options).fits
        self.pile: list[int] = []
        self.gone: list[int] = []
        """The cards that left the game face up."""
        self.players = [_Player() for _ in range(options.players)]
        self.drawn: list[_Source] = []
        """The chance cards of the turn that is not over."""
        self._drawn_by = 0
        for time, event in enumerate(events):
            self._add(time, event)

    def _add(self, time: int, event: SpeahxEvent) -> None:
        player = self.players[event.seat]
        match event.action:
            case "chance":
                if self.drawn:  # a further card may only be drawn if the last one does not fit
                    top = self.pile[-1] if self.pile else EMPTY
                    self.drawn[-1] = self.drawn[-1]._replace(excluded=self._fits[top])
                self.drawn.append(_Source(time, 0))
                self._drawn_by = event.seat
                player.chances += not event.table
            case "forfeit":
                player.lost = event.removed - len(player.known)
                self.gone += player.known
                player.known = []
                if self._drawn_by == event.seat:
                    self.drawn = []
            case "pass":
                player.known += [PRINTED[card] for card in self.pile]
                self.pile = []
                self._keep_drawn(player)
            case "play":
                self._play(time, event, player)
        player.sources += [_Source(time, 0)] * event.drew

    def _keep_drawn(self, player: _Player) -> None:
        player.sources += self.drawn
        self.drawn = []

    def _play(self, time: int, event: SpeahxEvent, player: _Player) -> None:
        cards = [NUMBERS[name] for name in event.play]
        committed = self.drawn[0].time if self.drawn and self._commits else None
        self._keep_drawn(player)
        for number, card in enumerate(cards):
            if number == 0 and committed is not None:
                player.shown.append(_Use(card, time, committed))
            elif card in player.known:
                player.known.remove(card)
            else:
                player.shown.append(_Use(card, time))
        self.pile += cards
        if event.suit is not None:
            self.pile[-1] = called(cards[-1], SUITS.index(event.suit))
        if not event.removed:
            return
        if RANK[cards[-1]] == TEN or self._decks == 1:
            places: Sequence[int] = range(len(self.pile))
        else:
            places = four_of_a_kind(self.pile, len(cards), self._scope)
        self.gone += [PRINTED[self.pile[place]] for place in places]
        for place in reversed(places):
            del self.pile[place]


def resample(
    options: SpeahxOptions, view: SpeahxView, events: Sequence[SpeahxEvent], random: Random
) -> SpeahxState:
    """Return a state drawn uniformly from those that a player may be in; see `Game.resample`.

    The cards that the player cannot locate are dealt at random to the hidden places: hands, the
    reserve, table cards, and the cards that left the game with a player. Cards of the pile that a
    player took stay in that hand until they are laid; with several decks, such a card is laid
    before an equal one. A chance card after which another one was drawn did not fit the pile (S20).

    Raises:
        ValueError: No state was found that fits.
    """
    history = _History(options, events)
    if history.pile != [LAID_NAMES[name] for name in view.pile]:
        raise ValueError("the events do not lead to the pile of the observation")
    places = _Places(options, view, history)
    unseen = list(places.unseen().elements())
    if len(unseen) != places.count():
        raise ValueError("the events do not fit the observation")
    for _ in range(_TRIES):
        random.shuffle(unseen)
        table = places.fill(unseen)
        if places.possible(table):
            state = SpeahxState(options, table)
            if state.observation(view.seat) != view:
                raise ValueError("the events do not fit the observation")
            return state
    raise ValueError(f"none of {_TRIES} random states fits the observation and the events")


class _Places:
    """The places of hidden cards in a position, with their numbers."""

    def __init__(self, options: SpeahxOptions, view: SpeahxView, history: _History) -> None:
        self._options, self._view, self._history = options, view, history
        seats = range(options.players)
        mover = view.to_move
        self._own = [NUMBERS[name] for name in view.hand]
        self._own_drawn = [NUMBERS[name] for name in view.drawn]
        if not options.chance_commits:
            for card in self._own_drawn:
                self._own.remove(card)
        sizes = list(view.hand_sizes)
        if mover is not None and not options.chance_commits:
            sizes[mover] -= view.drawn_size
        self._hands = [
            0 if seat == view.seat else sizes[seat] - len(history.players[seat].known)
            for seat in seats
        ]
        self._drawn = view.drawn_size if mover is not None and mover != view.seat else 0
        self._table_cards = list(view.table_sizes or (0 for _ in seats))

    def unseen(self) -> Counter[int]:
        """Return the cards that the player cannot locate."""
        history, view = self._history, self._view
        found = Counter(pack(self._options.deck_count(), jokers=self._options.jokers))
        seen = [*self._own, *self._own_drawn, *history.gone]
        seen += [PRINTED[card] for card in history.pile]
        for seat, player in enumerate(history.players):
            seen += [] if seat == view.seat else player.known
        found.subtract(seen)
        if min(found.values()) < 0:
            raise ValueError("the events do not fit the observation")
        return found

    def count(self) -> int:
        """Return the number of hidden places."""
        lost = sum(player.lost for player in self._history.players)
        return sum(self._hands) + self._drawn + self._view.reserve + sum(self._table_cards) + lost

    def fill(self, unseen: Sequence[int]) -> Table:
        """Return the position with cards in the hidden places; what is left over has gone."""
        history, view, left = self._history, self._view, iter(unseen)

        def take(count: int) -> list[int]:
            return [next(left) for _ in range(count)]

        hands = [
            sorted(self._own)
            if seat == view.seat
            else sorted([*player.known, *take(self._hands[seat])])
            for seat, player in enumerate(history.players)
        ]
        return Table(
            hands=hands,
            reserve=take(view.reserve),
            dealer=view.dealer,
            seat=TERMINAL if view.to_move is None else view.to_move,
            pile=history.pile[:],
            drawn=self._own_drawn[:] if view.drawn else take(self._drawn),
            face_down=[take(count) for count in self._table_cards],
            out=list(view.out),
            forfeited=list(view.forfeited),
            chances=[player.chances for player in history.players],
            turns=view.turn - 1,
        )

    def possible(self, table: Table) -> bool:
        """Return whether the events can have led to this position."""
        view, history = self._view, self._history
        for card, source in zip(table.drawn, history.drawn, strict=False):
            if source.excluded >> card & 1:
                return False
        for seat, player in enumerate(history.players):
            if seat == view.seat or seat in view.forfeited:
                continue
            if any(source.excluded for source in player.sources):
                hidden = Counter(table.hands[seat])
                hidden.subtract(player.known)
                uses = [*player.shown, *(_Use(card, inf) for card in hidden.elements())]
                if not _matches(uses, player.sources):
                    return False
        return True


def _matches(uses: Sequence[_Use], sources: Sequence[_Source]) -> bool:
    """Return whether each card can have come from a source of its own (Kuhn's algorithm)."""
    taken: dict[int, int] = {}

    def settle(use: int, tried: set[int]) -> bool:
        for number, source in enumerate(sources):
            if number not in tried and _fits(uses[use], source):
                tried.add(number)
                if number not in taken or settle(taken[number], tried):
                    taken[number] = use
                    return True
        return False

    return all(settle(use, set()) for use in range(len(uses)))


def _fits(use: _Use, source: _Source) -> bool:
    if source.time >= use.time or source.excluded >> use.card & 1:
        return False
    return use.drawn_at is None or source.time >= use.drawn_at
