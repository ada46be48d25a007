"""Checks of stored matches by the rules of the game and by the schedule."""

from __future__ import annotations

from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tourney_runner.errors import UsageError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match import dealt, next_start
from tourney_runner.play.match_plan import is_over, shared_places
from tourney_runner.play.seeds import match_seed
from tourney_runner.run.benching import Benching
from tourney_runner.run.entrants import kept_stages
from tourney_runner.run.planner import Sizes, blocks, rounds_in, sizes, stored_round
from tourney_runner.run.progress import finished_blocks
from tourney_runner.run.tournament_setup import make_field
from tourney_runner.schedule.field_changes import StagedFormat, Stages
from tourney_runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealKey, DealRecord
    from tourney_runner.results.store import Store
    from tourney_runner.schedule.base import (
        Field,
        Format,
        FormatOptions,
        RoundResult,
        Seating,
        Table,
    )

__all__ = [
    "RuleBook",
    "benching_wrong",
    "certain_rounds",
    "plan_wrong",
    "planned_rounds",
    "stored_format",
    "stored_stages",
]


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
        if must and not self._settings.match.duplicate and not self._over(len(records), totals):
            yield records[-1].key, "its match ends after it, before it is over by the rules"

    def _first_start(self, key: DealKey) -> int | None:
        lot = partial(match_seed, self._settings.seed_of(key.round), key.round, key.match)
        duplicate = bool(self._settings.match.duplicate)
        return self._game.first_start(self._options, lot, duplicate=duplicate)

    def _over(self, deals: int, totals: Sequence[float]) -> bool:
        if self._settings.match.duplicate:
            return deals > 0
        return is_over(self._settings.match, deals, totals)

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


def _described(store: Store) -> tuple[str, Field, FormatOptions]:
    """Return the format of a tournament, its field and its options."""
    record = store.tournament()
    schedule = record.schedule
    if schedule is None:
        raise UsageError(f"{store.path}: a person's table has no schedule")
    teams = {name: bot.team for name, bot in record.bots.items()}
    field = make_field(
        record.seed.master, record.rules["players"], record.names, teams, record.format_rules
    )
    chosen = dict(schedule.options)
    if schedule.rounds is not None:
        chosen["rounds"] = schedule.rounds
    return schedule.format, field, format_class(schedule.format).options.model_validate(chosen)


def stored_stages(store: Store) -> Stages:
    """Return the stages of a tournament, one if its field has never changed.

    Raises:
        UsageError: Its format cannot have stages.
    """
    name, field, options = _described(store)
    kept = kept_stages(store)
    return Stages(name, field, options, kept)


def stored_format(store: Store) -> Format[Any]:
    """Return the format of a tournament, which plans the same rounds as its runs."""
    name, field, options = _described(store)
    if store.tournament().stages:
        return StagedFormat(stored_stages(store))
    return make(name, field, options)


def planned_rounds(store: Store, tournament: Format[Any]) -> Iterator[list[Table]]:
    """Yield the tables of each round, as far as the stored results determine them."""
    finished: list[RoundResult] = []
    number = 0
    while (tables := tournament.plan(number, finished)) is not None:
        yield list(tables)
        if not tournament.ahead():
            result = stored_round(store, number)
            if not result.points:
                return
            finished.append(result)
        number += 1


def benching_wrong(store: Store, tournament: Format[Any]) -> Iterator[str]:
    """Yield the benchings that do not follow from the stored deals, and those that are missing.

    Tournaments of earlier rules are not checked, nor what other deals may have led to: those of a
    bot that were played again since, or that were forfeited until a benching was taken back.
    """
    record = store.tournament()
    if record.format_rules == 1:
        return
    benching = Benching(store, record.bench_after, record.format_rules)
    decided = [one for one in store.decisions() if one.kind == "benched"]
    certain = certain_rounds(store, tournament)
    if certain is None:
        certain = (store.last_round() or 0) + 1
    last = max((one.from_round or 0 for one in decided), default=0)
    ahead = tournament.ahead()
    undone = [one.from_round or 0 for one in decided if ahead and one.undone is not None]
    last = min([max(certain, last), *undone])
    planned = blocks(_sizes(store, tournament))
    for span in takewhile(lambda one: one.rounds.stop <= last, planned):
        end = span.rounds.stop
        if not span.ends:
            continue
        stored = {one.entrant for one in decided if one.from_round == end}
        if end > certain and not stored:
            continue
        expected = set(benching.expected(span.rounds, tournament.newcomer))
        again = {one for void in store.voids() for one in void.record.seating}
        for entrant in sorted((stored ^ expected) - again):
            is_so = "was benched" if entrant in stored else "was not benched"
            yield f"{record.names[entrant]} {is_so} after round {end}, against the stored deals"


def plan_wrong(tables: Sequence[Table], plan: Mapping[tuple[int, int], Seating]) -> Iterator[str]:
    """Yield the differences between the stored plan of a round and the tables that belong there.

    Args:
        tables: The tables that follow from the seed, the entrants and the earlier rounds.
        plan: The seating by round and match, as it was stored before the round was played. A large
            round is planned and stored in parts.
    """
    expected = {(table.round, table.match): tuple(table.seating) for table in tables}
    for key, seating in plan.items():
        where = f"round {key[0] + 1}, match {key[1] + 1}"
        if key not in expected:
            yield f"{where} is in the stored plan and not in the schedule"
        elif seating != expected[key]:
            yield (
                f"{where} was planned with entrants {_numbers(seating)}; the schedule has"
                f" {_numbers(expected[key])}"
            )


def _numbers(seating: Seating) -> str:
    return ", ".join(str(entrant + 1) for entrant in seating)


def certain_rounds(store: Store, tournament: Format[Any]) -> int | None:
    """Return the number of rounds that must be complete; None for all of them."""
    if store.tournament().complete:
        return None
    return rounds_in(finished_blocks(store), _sizes(store, tournament))


def _sizes(store: Store, tournament: Format[Any]) -> Sizes:
    return sizes(tournament, max(1, store.tournament().play.get("duplicate", 0)))
