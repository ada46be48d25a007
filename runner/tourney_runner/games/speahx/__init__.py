"""Speahx: get rid of your cards by matching suit or rank, or take the pile."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tourney_runner.games.base import Game
from tourney_runner.games.speahx.actions import Action, SpeahxAnswer, decode, encode
from tourney_runner.games.speahx.options import SpeahxOptions
from tourney_runner.games.speahx.position import deal
from tourney_runner.games.speahx.probes import SpeahxProbes
from tourney_runner.games.speahx.resample import resample
from tourney_runner.games.speahx.state import SpeahxState
from tourney_runner.games.speahx.views import SpeahxEvent, SpeahxView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["GAME", "Speahx"]


class Speahx(Game[SpeahxOptions, Action]):
    """The rules of Speahx."""

    name = "speahx"
    title = "Speahx"
    summary = (
        "A shedding game for 2 to 14 players. Lay cards that match the top card's suit or rank, "
        "try your luck with the reserve, or take the whole pile. Twos call a suit, tens and four "
        "of a kind clear the pile, jacks (or jokers) go on anything; the last player with cards "
        "loses."
    )
    draw_probability = 0.001
    rule_case_prefix = "SX"
    rule_cases = "tourney_runner.rule_cases.speahx"
    options = SpeahxOptions
    answer = SpeahxAnswer
    observation = SpeahxView
    event = SpeahxEvent

    def first_start(
        self, options: SpeahxOptions, lot: Callable[[], int], *, duplicate: bool
    ) -> int:
        """Return the first dealer: by lot (R13), or the last seat in duplicate deals (T23a)."""
        if duplicate:
            return options.players - 1
        return int(Random(lot()).random() * options.players)  # noqa: S311 - must be repeatable

    def new_state(self, options: SpeahxOptions, seed: int, start: int | None) -> SpeahxState:
        """Deal the cards; `start` is the dealer, by default the last seat."""
        dealer = options.players - 1 if start is None else start
        return SpeahxState(options, deal(options, seed, dealer))

    def resample(
        self,
        options: SpeahxOptions,
        view: SpeahxView,
        events: Sequence[SpeahxEvent],
        random: Random,
        start: int | None = None,  # noqa: ARG002 - the view has the dealer
    ) -> SpeahxState:
        """Return a random state that a seat cannot tell apart from the real one."""
        return resample(options, view, events, random)

    def rule_probes(self) -> SpeahxProbes:
        """Return the probes that test a bot on each rule."""
        return SpeahxProbes()

    def encode(self, action: Action) -> str:
        """Return ``-`` for a pass, ``+`` for a chance card, ``9H9C`` or ``2H>S`` for a play."""
        return encode(action)

    def decode(self, code: str) -> Action:
        """Return the action for a code. Raises ValueError if the text is not an action."""
        return decode(code)


GAME = Speahx()
"""The registered instance."""
