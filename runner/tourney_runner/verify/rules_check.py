"""A check of one match by the rules: its cards, moves, places, points and starts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tourney_runner.games.registry import game as find_game
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match import dealt, next_start
from tourney_runner.play.match_end import is_over, shared_places
from tourney_runner.play.seeds import match_seed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealKey, DealRecord

__all__ = ["RuleBook"]


class RuleBook:
    """A checker of the matches of one tournament.

    Args:
        settings: Its rules and its seed.
    """

    def __init__(self, settings: PlaySettings) -> None:
        self._settings = settings
        self._game = find_game(settings.game)
        self._options = self._game.options.stored(settings.rules)

    def wrong(
        self, records: Sequence[DealRecord], *, must: bool = True
    ) -> Iterator[tuple[DealKey, str]]:
        """Yield the problems of the deals of a match (of one rotation).

        Args:
            records: All of them, in order.
            must: Whether the match must be over; otherwise a run may have been interrupted in it.
        """
        start: int | None = self._first_start(records[0].key)
        totals = [0.0] * len(records[0].seating)
        for number, record in enumerate(records):
            if self._over(number, totals):
                yield record.key, "its match was over before it"
            if record.start != start:
                yield record.key, f"it began with start {record.start}, by the rules with {start}"
            try:
                state = self._played(record)
            except (ValueError, IndexError, KeyError) as error:
                yield record.key, f"its moves do not follow these rules: {error}"
                return
            yield from ((record.key, text) for text in _unlike(record, state))
            start = next_start(state, record.start)
            totals = [have + more for have, more in zip(totals, record.points, strict=True)]
        if must and not self._settings.duplicate and not self._over(len(records), totals):
            yield records[-1].key, "its match ends after it, before it is over by the rules"

    def _first_start(self, key: DealKey) -> int | None:
        lot = partial(match_seed, self._settings.seed_of(key.round), key.round, key.match)
        duplicate = bool(self._settings.duplicate)
        return self._game.first_start(self._options, lot, duplicate=duplicate)

    def _over(self, deals: int, totals: Sequence[float]) -> bool:
        if self._settings.duplicate:
            return deals > 0
        return is_over(self._settings, deals, totals)

    def _played(self, record: DealRecord) -> Any:
        """Return the state at the end of a deal; raise ValueError for illegal moves."""
        state: Any = None
        for step in steps(self._settings, record, check=True):
            state = step.state
        state = state or dealt(self._settings, record.key, record.start)
        moves = len(record.moves.split())
        if record.cut_short and (moves != self._settings.max_moves + 1 or state.is_terminal()):
            raise ValueError(f"it was ended after {moves - 1} moves")
        if not record.cut_short and not state.is_terminal():
            raise ValueError("the deal is not over after the last of them")
        return state


def _unlike(record: DealRecord, state: Any) -> Iterator[str]:
    """Yield the differences between a record and the deal that its moves produce."""
    codes = record.moves.split()
    gone = [int(code[1:]) for code in codes if code.startswith("!")]
    if record.cut_short:
        places, points = shared_places(state.scene(), gone), (0.0,) * state.players
    else:
        places, points = state.places(), state.returns()
    if places != record.places:
        yield f"its places are {record.places}, by its moves {places}"
    if points != record.points:
        yield f"its points are {record.points}, by its moves {points}"
    if not set(gone) <= {fault.seat for fault in record.faults if not fault.substituted}:
        yield "somebody forfeits without a fault"
    substituted = {fault.move for fault in record.faults if fault.substituted}
    if substituted != {number for number, code in enumerate(codes) if code.startswith("?")}:
        yield "moves that were played for a bot and its faults do not fit"
