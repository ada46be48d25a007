"""Sealed bids: each player bids coins for a prize, all at the same time.

The highest bid wins the prize and is paid. Equal highest bids cancel each other, so that nobody
wins. Players with an even seat are partners, and those with an odd seat.
"""

from __future__ import annotations

from collections import Counter

import msgspec
from pydantic import Field
from tourney_runner.gamekit.simple import SimpleEvent, SimpleGame, SimpleState
from tourney_runner.games.base import TERMINAL, Answer, GameOptions, shuffled


class AuctionOptions(GameOptions):
    """The rules that an organiser may choose."""

    players: int = Field(default=4, ge=2, le=6)
    """Players at one table, 2 to 6."""
    coins: int = Field(default=30, ge=1, le=100_000)
    """Coins of each player at the beginning."""
    prizes: int = Field(default=8, ge=1, le=50)
    """Prizes, worth 1, 2, 3 and so on, in random order."""


class AuctionAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """A bid."""

    bid: int
    """Coins, from 0 to all that the player has."""


class AuctionEvent(SimpleEvent, frozen=True, kw_only=True, omit_defaults=True):
    """The end of a round, or a forfeit."""

    bids: tuple[int, ...] = ()
    """The bids by seat; -1 for a seat that has left."""
    won_by: int | None = None
    """The seat that won the prize."""


class AuctionView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one player may know."""

    seat: int
    """The player's own seat."""
    prize: int | None
    """The prize of this round; null when the deal is over."""
    coins: tuple[int, ...]
    """The coins of each seat."""
    won: tuple[int, ...]
    """The value of the prizes that each seat has won."""


class AuctionState(SimpleState[AuctionOptions, AuctionAnswer]):
    """A deal in progress."""

    def deal(self) -> None:
        """Shuffle the prizes and begin the first round."""
        self.prizes = shuffled([*range(1, self.options.prizes + 1)], self.seed)
        self.coins = [self.options.coins] * self.players
        self.won = [0] * self.players
        self.round = self.playing()

    def actions(self) -> list[AuctionAnswer]:
        """Return all bids."""
        return [self.answer(bid=bid) for bid in range(self.coins[self.current_player] + 1)]

    def refusal(self, action: AuctionAnswer) -> str | None:
        """Return the reason why a bid is illegal."""
        coins = self.coins[self.current_player]
        return None if 0 <= action.bid <= coins else f"expected a bid from 0 to {coins}"

    def act(self, seat: int, action: AuctionAnswer) -> AuctionEvent:
        """Never called, since all actions belong to rounds."""
        raise NotImplementedError

    def resolve(self, chosen: dict[int, AuctionAnswer]) -> AuctionEvent:
        """Open the bids."""
        bids = {seat: action.bid for seat, action in chosen.items()}
        often = Counter(bids.values())
        winner = max(
            (seat for seat, bid in bids.items() if bid and often[bid] == 1),
            key=lambda seat: bids[seat],
            default=None,
        )
        if winner is not None and bids[winner] < max(bids.values()):
            winner = None
        prize = self.prizes.pop()
        if winner is not None:
            self.won[winner] += prize
            self.coins[winner] -= bids[winner]
        if self.prizes:
            self.round = self.playing()
        else:
            self.turn = TERMINAL
        shown = tuple(bids.get(seat, -1) for seat in range(self.players))
        return AuctionEvent(bids=shown, won_by=winner)

    def leave(self, seat: int) -> AuctionEvent:
        """Take the coins of a player who forfeits."""
        self.coins[seat] = 0
        return AuctionEvent(seat=seat, forfeit=True)

    def observation(self, seat: int) -> AuctionView:
        """Return everything that a player may know."""
        prize = self.prizes[-1] if self.prizes else None
        return AuctionView(seat=seat, prize=prize, coins=tuple(self.coins), won=tuple(self.won))

    def scores(self) -> list[int]:
        """Return the prizes of each player and his partners together."""
        return [sum(self.won[seat % 2 :: 2]) for seat in range(self.players)]

    def note(self, seat: int) -> str:
        """Return what a player has."""
        return f"{self.coins[seat]} coins, prizes worth {self.won[seat]}"


class Auction(SimpleGame[AuctionOptions, AuctionAnswer]):
    """The rules of the auction."""

    name = "auction"
    title = "Auction"
    summary = "Bid coins for prizes, all at the same time. Equal highest bids cancel each other."
    draw_probability = 0.3
    options = AuctionOptions
    answer = AuctionAnswer
    event = AuctionEvent
    observation = AuctionView
    state = AuctionState


GAME = Auction()
