"""Benching: a bot whose deals all fail forfeits its further deals unplayed.

A bot is judged at the end of a block of rounds, and by the stored deals alone, so the number of
workers and of interruptions makes no difference. The organiser may let it play again; then only
deals from that round on are judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.play.match_plan import AutoForfeit
from tourney_runner.results.records import Decision
from tourney_runner.results.rulings import held
from tourney_runner.results.store import ALL
from tourney_runner.schedule.base import FORMAT_RULES
from tourney_runner.text import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tourney_runner.results.records import DealOutcome
    from tourney_runner.results.store import Store

__all__ = ["BENCH_AFTER", "Benching"]

BENCH_AFTER = 10
"""Consecutive failed deals after which a bot is benched, unless one round has more."""


class Benching:
    """The rule for benching the bots of one tournament.

    Args:
        store: The results.
        after: The least number of consecutive failed deals; 0 to bench no bot.
        rules: The rules of the tournament, see `schedule.base.FORMAT_RULES`.
    """

    def __init__(self, store: Store, after: int = BENCH_AFTER, rules: int = FORMAT_RULES) -> None:
        self._store = store
        self._after = after
        self._find = self._failed_in_a_row if rules > 1 else self._failed_all_round

    def forfeits(self) -> Callable[[int, int], AutoForfeit | None]:
        """Return a function of (round, entrant) to the forfeit due there; None if the bot plays."""
        due: dict[int, list[tuple[range, AutoForfeit]]] = {}
        for decision, rounds in _decisions(self._store):
            kind = self._store.last_fault(decision.entrant, range(rounds.start))
            forfeit = AutoForfeit(decision.entrant, kind, decision.reason)
            due.setdefault(decision.entrant, []).append((rounds, forfeit))

        def forfeit_of(number: int, entrant: int) -> AutoForfeit | None:
            found = (one for rounds, one in due.get(entrant, ()) if number in rounds)
            return next(found, None)

        return forfeit_of

    def decide(
        self, rounds: range, newcomer: Callable[[int], int | None] = lambda _: None
    ) -> list[Decision]:
        """Bench the bots that fail, once all deals of a block are stored.

        Args:
            rounds: The rounds of the block.
            newcomer: See `schedule.base.Format.newcomer`.

        Returns:
            The new decisions, which are stored.
        """
        found = [
            Decision(0, utc_now(), "benched", entrant, reason, from_round=rounds.stop)
            for entrant, reason in self._due(rounds, newcomer, _decisions(self._store)).items()
        ]
        for decision in found:
            self._store.decide(decision)
        return found

    def expected(
        self, rounds: range, newcomer: Callable[[int], int | None] = lambda _: None
    ) -> dict[int, str]:
        """Return the entrants that had to be benched at the end of a block, and the reasons.

        They follow from the stored deals and from decisions of earlier blocks; arguments as for
        `decide`.
        """
        earlier = [one for one in _decisions(self._store) if one[1].start < rounds.stop]
        return self._due(rounds, newcomer, earlier)

    def _due(
        self,
        rounds: range,
        newcomer: Callable[[int], int | None],
        known: list[tuple[Decision, range]],
    ) -> dict[int, str]:
        """Return the entrants to be benched after a block, given the other benchings."""
        if not self._after:
            return {}
        benched = {decision.entrant for decision, where in known if rounds.stop in where}
        judged: dict[int, int] = {}
        for decision, where in known:
            if where.stop < ALL.stop:
                judged[decision.entrant] = max(where.stop, judged.get(decision.entrant, 0))
        return {
            entrant: reason
            for entrant, reason in self._find(rounds, newcomer, judged)
            if entrant not in benched
        }

    def _failed_in_a_row(
        self,
        rounds: range,
        newcomer: Callable[[int], int | None],  # noqa: ARG002 - a row may go over many rounds
        first: Mapping[int, int],
    ) -> Iterator[tuple[int, str]]:
        """Yield entrants whose last played deals all failed, at least those of one round.

        Deals before an entrant's `first` round are not judged.
        """
        judged = {one: first.get(one, 0) for one in self._store.failing(rounds)}
        rows = {one: _Row(one, self._after) for one in judged}
        number = rounds.stop
        while rows and number > 0:
            number -= 1
            rows = {one: row for one, row in rows.items() if number >= judged[one]}
            deals = list(self._store.outcomes(range(number, number + 1))) if rows else []
            for entrant, row in list(rows.items()):
                if not row.extend(deals):
                    del rows[entrant]
                elif row.complete:
                    del rows[entrant]
                    yield entrant, f"all of its last {row.needed} deals failed"

    def _failed_all_round(
        self, rounds: range, newcomer: Callable[[int], int | None], first: Mapping[int, int]
    ) -> Iterator[tuple[int, str]]:
        """Yield entrants that failed in every deal of a round: rules 1."""
        found: dict[int, int] = {}
        for number, entrant in self._store.faulted_throughout(rounds):
            # At a newcomer's tables the others sit too seldom to be judged by them.
            eligible = newcomer(number) in {None, entrant}
            if eligible and number >= first.get(entrant, 0):
                found.setdefault(entrant, number)
        for entrant, number in found.items():
            yield entrant, f"it failed in every deal of round {number + 1}"


class _Row:
    """Consecutive failed deals of an entrant, counted backwards from the last one."""

    def __init__(self, entrant: int, after: int) -> None:
        self._entrant = entrant
        self._failed = 0
        self.needed = after
        """Deals that must have failed: those of one round, if that is more."""

    @property
    def complete(self) -> bool:
        """Whether enough deals have failed."""
        return self._failed >= self.needed

    def extend(self, deals: list[DealOutcome]) -> bool:
        """Count the deals of the previous round; return whether the row may continue."""
        own = [deal for deal in deals if self._entrant in deal.seating]
        self.needed = max(self.needed, len(own))
        for deal in reversed(own):
            faults = [fault for fault in deal.faults if fault.entrant == self._entrant]
            if any(fault.unplayed for fault in faults):
                continue
            if all(fault.substituted for fault in faults):
                return self.complete
            self._failed += 1
        return True


def _decisions(store: Store) -> list[tuple[Decision, range]]:
    """Return all benchings and the rounds for which each holds, or held."""
    return [(one, rounds) for one, rounds in held(store) if one.kind == "benched"]
