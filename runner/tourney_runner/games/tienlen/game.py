"""The registered description of Tien Len, also called Thirteen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.games.base import Game, shuffled
from tourney_runner.games.tienlen.cards import CARDS, NO_SHAPE, code_of, mask_from_code, shape_of
from tourney_runner.games.tienlen.options import TienlenOptions
from tourney_runner.games.tienlen.probes import TienlenProbes
from tourney_runner.games.tienlen.resample import resample
from tourney_runner.games.tienlen.state import PASS, TienlenState
from tourney_runner.games.tienlen.views import TienlenAnswer, TienlenEvent, TienlenObservation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

__all__ = ["Tienlen"]

_HAND_SIZE = 13
_PACK = [1 << index for index in range(len(CARDS))]


class Tienlen(Game[TienlenOptions, int]):
    """The rules of Tien Len. An action is a mask of cards; see `games.tienlen.cards`."""

    name = "tienlen"
    title = "Tien Len (Thirteen)"
    summary = (
        "The Vietnamese climbing game for two to four players with 13 cards each. Every play must "
        "be a higher combination of the same kind; bombs beat 2s. The first to shed all cards wins."
    )
    draw_probability = 0.001
    rule_case_prefix = "TL"
    rule_cases = "tourney_runner.rule_cases.tienlen"
    options = TienlenOptions
    answer = TienlenAnswer
    observation = TienlenObservation
    event = TienlenEvent

    def first_start(
        self,
        options: TienlenOptions,  # noqa: ARG002 - the interface's
        lot: Callable[[], int],  # noqa: ARG002
        *,
        duplicate: bool,  # noqa: ARG002
    ) -> int | None:
        """Return None: the lowest card opens a first game (H9, T22, T23a)."""
        return None

    def new_state(self, options: TienlenOptions, seed: int, start: int | None) -> TienlenState:
        """Deal 13 cards to each seat, one at a time from seat 0 (H3, T40, T43)."""
        pack = shuffled(_PACK, seed)
        players = options.players
        dealt = pack[: players * _HAND_SIZE]
        hands = [sum(dealt[seat::players]) for seat in range(players)]
        return TienlenState.dealt(options, hands, start)

    def resample(
        self,
        options: TienlenOptions,
        view: TienlenObservation,
        events: Sequence[TienlenEvent],
        random: Random,
        start: int | None = None,
    ) -> TienlenState:
        """Return a random state that a seat cannot tell apart from the real one."""
        return resample(options, view, events, random, start)

    def rule_probes(self) -> TienlenProbes:
        """Return the probes that test a bot on each rule."""
        return TienlenProbes()

    encode = staticmethod(code_of)  # cached for plays, as every move calls it

    def decode(self, code: str) -> int:
        """Return the action for a text made by `encode`.

        Raises:
            ValueError: The text is neither a pass nor a combination.
        """
        action = mask_from_code(code)
        if action != PASS and shape_of(action) == NO_SHAPE:
            raise ValueError(f"{code!r} is not a combination of cards")
        return action
