"""Hearts for four players, with three cards passed to the left before each deal."""

from __future__ import annotations

from itertools import combinations

import msgspec
from pydantic import Field
from tourney_runner.gamekit.simple import SimpleEvent, SimpleGame, SimpleState
from tourney_runner.games.base import TERMINAL, Answer, GameOptions, SeatEvents, Zone, shuffled

RANKS = "23456789TJQKA"
PACK = [rank + suit for suit in "CDSH" for rank in RANKS]
QUEEN = "QS"


def points(card: str) -> int:
    """Return the penalty points of a card."""
    return 13 if card == QUEEN else int(card[1] == "H")


class HeartsOptions(GameOptions):
    """The rules that an organiser may choose."""

    players: int = Field(default=4, ge=4, le=4)
    """Players at one table, always 4."""
    passing: bool = True
    """Whether each player passes three cards to the left before the first trick."""
    moon: bool = True
    """Whether a player who takes all 26 points gives them to each of the others instead."""


class HeartsAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Either `give` or `play`."""

    give: tuple[str, str, str] | None = None
    """The three cards to pass, before the first trick."""
    play: str | None = None
    """The card to lay."""


class HeartsEvent(SimpleEvent, frozen=True, kw_only=True, omit_defaults=True):
    """An action with its consequences. The event of the passing shows each player his own cards."""

    play: str | None = None
    """The card laid."""
    gave: tuple[str, ...] = ()
    """The cards that you passed."""
    got: tuple[str, ...] = ()
    """The cards that were passed to you."""
    taken_by: int | None = None
    """The seat that took the trick, if this action ended it."""


class HeartsView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one player may know, enough to act without memory."""

    seat: int
    """The player's own seat."""
    hand: tuple[str, ...]
    """The player's own cards."""
    passing: bool
    """Whether cards are passed now."""
    leader: int | None
    """The seat that led this trick; null before the first card of a trick."""
    table: tuple[str, ...]
    """The cards of this trick, in the order in which they were laid."""
    broken: bool
    """Whether hearts may be led."""
    points: tuple[int, ...]
    """Points taken, by seat."""
    played: tuple[str, ...]
    """All cards laid in this deal, in order."""


class HeartsState(SimpleState[HeartsOptions, HeartsAnswer]):
    """A deal in progress."""

    def deal(self) -> None:
        """Deal 13 cards to each player, and begin with the passing."""
        pack = shuffled(PACK, self.seed)
        self.hands = [sorted(pack[seat::4], key=PACK.index) for seat in range(4)]
        self.table: dict[int, str] = {}
        self.points = [0, 0, 0, 0]
        self.played: list[str] = []
        self.broken = False
        if self.options.passing:
            self.round = [0, 1, 2, 3]
        else:
            self.open()

    def open(self) -> None:
        """Let the holder of the lowest club lead."""
        self.turn = min(self.playing(), key=lambda seat: self.order(self.hands[seat][0]))

    @staticmethod
    def order(card: str) -> int:
        """Return the position of a card in the pack, clubs first."""
        return PACK.index(card)

    def actions(self) -> list[HeartsAnswer]:
        """Return the legal passes or cards."""
        hand = self.hands[self.current_player]
        if self.round:
            return [self.answer(give=cards) for cards in combinations(hand, 3)]
        return [self.answer(play=card) for card in self.playable(hand)]

    def playable(self, hand: list[str]) -> list[str]:
        """Return the cards of a hand that may be laid now."""
        if not self.played:
            return hand[:1]
        if not self.table:
            return hand if self.broken else [c for c in hand if c[1] != "H"] or hand
        suit = next(iter(self.table.values()))[1]
        found = [card for card in hand if card[1] == suit]
        if not found and len(self.played) < 4:
            found = [card for card in hand if not points(card)]
        return found or hand

    def refusal(self, action: HeartsAnswer) -> str | None:
        """Return the reason why an action is illegal."""
        if action.give is not None:  # in any order, unlike the listed ones
            given = set(action.give)
            fits = self.round and action.play is None and len(given) == 3
            return None if fits and given <= {*self.hands[self.current_player]} else (
                "expected three cards of your hand in give, before the first trick"
            )  # fmt: skip
        return super().refusal(action)

    def resolve(self, chosen: dict[int, HeartsAnswer]) -> SeatEvents | HeartsEvent:
        """Pass the cards to the left, unless a player has left in the meantime."""
        if len(chosen) < 4:
            self.open()
            return HeartsEvent()
        gifts = {seat: action.give or () for seat, action in chosen.items()}
        own: dict[int, msgspec.Struct] = {}
        for seat, gave in gifts.items():
            got = gifts[(seat - 1) % 4]
            kept = [card for card in self.hands[seat] if card not in gave]
            self.hands[seat] = sorted([*kept, *got], key=self.order)
            own[seat] = HeartsEvent(gave=gave, got=got)
        self.open()
        return SeatEvents(HeartsEvent(), own)

    def act(self, seat: int, action: HeartsAnswer) -> HeartsEvent:
        """Lay a card."""
        card = action.play or ""
        self.hands[seat].remove(card)
        self.table[seat] = card
        self.played.append(card)
        self.broken = self.broken or card[1] == "H"
        return HeartsEvent(seat=seat, play=card, taken_by=self.move_on(seat))

    def leave(self, seat: int) -> HeartsEvent:
        """Drop the cards of a player who forfeits."""
        self.hands[seat].clear()
        taken_by = self.move_on(seat) if seat == self.turn and not self.round else None
        return HeartsEvent(seat=seat, forfeit=True, taken_by=taken_by)

    def move_on(self, seat: int) -> int | None:
        """Set the turn after a seat has acted, and return the winner if the trick is over."""
        self.turn = self.next_seat(seat)
        if not self.played:  # the player with the first lead has left
            self.open()
            return None
        if self.turn not in self.table and self.hands[self.turn]:
            return None
        suit = next(iter(self.table.values()))[1]
        winner = max(
            self.table, key=lambda one: (self.table[one][1] == suit, self.order(self.table[one]))
        )
        self.points[winner] += sum(map(points, self.table.values()))
        self.table.clear()
        self.turn = winner if self.hands[winner] else self.next_seat(winner)
        if not self.hands[self.turn]:
            self.turn = TERMINAL
        return winner

    def observation(self, seat: int) -> HeartsView:
        """Return everything that a player may know."""
        return HeartsView(
            seat=seat,
            hand=tuple(self.hands[seat]),
            passing=bool(self.round),
            leader=next(iter(self.table), None),
            table=tuple(self.table.values()),
            broken=self.broken,
            points=tuple(self.points),
            played=tuple(self.played),
        )

    def scores(self) -> list[int]:
        """Return minus the points of each seat."""
        if self.options.moon and 26 in self.points:
            return [0 if taken == 26 else -26 for taken in self.points]
        return [-taken for taken in self.points]

    def hand(self, seat: int) -> list[str]:
        """Return the cards of a player."""
        return self.hands[seat]

    def zones(self) -> list[Zone]:
        """Return the cards in the middle, and those of earlier tricks."""
        earlier = self.played[: len(self.played) - len(self.table)]
        return [Zone("table", tuple(self.table.values())), Zone("played", tuple(earlier))]

    def note(self, seat: int) -> str:
        """Return the points of a player."""
        return f"{self.points[seat]} points"


class Hearts(SimpleGame[HeartsOptions, HeartsAnswer]):
    """The rules of Hearts."""

    name = "hearts"
    title = "Hearts"
    summary = (
        "Take no hearts and not the queen of spades. Cards are passed to the left, suits must be "
        "followed, and the player with the fewest points wins."
    )
    options = HeartsOptions
    answer = HeartsAnswer
    event = HeartsEvent
    observation = HeartsView
    state = HeartsState


GAME = Hearts()
