"""A check of a sample of stored deals, which are played again by their bots."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.verify.bot_rerunner import Workers, as_then, match_of, plan_of, play_again
from tourney_runner.verify.replay_diff import by_chance, divergence, host_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.play.play_settings import MatchPlan, PlaySettings
    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.results.records import DealRecord
    from tourney_runner.results.store import Store
    from tourney_runner.verify.bot_rerunner import AvailableBots
    from tourney_runner.verify.replay_diff import Divergence
    from tourney_runner.verify.report import Findings

__all__ = ["Sample", "Wanted"]

_AGAIN = 2
"""Further times that a differing match is played, to see whether the difference is reproducible."""
_A_FEW = 10
"""Deals that are played again if no number is given."""


class Wanted(NamedTuple):
    """The deals to be played again by their bots."""

    sample: int | None = None
    """The number of deals, at equal distances; None for a few if the bots are available."""
    deals: tuple[int, ...] = ()
    """Specific deals, by their numbers in schedule order, from 1."""
    workers: Workers = Workers()

    @property
    def asked(self) -> bool:
        """Whether deals were explicitly requested."""
        return bool(self.deals) or bool(self.sample)


class Sample:
    """A comparison of stored deals with new plays by the same bots.

    Args:
        store: The results; they are not changed.
        settings: The settings of play.
        cast: The bots that are available.
        signals: Checked while deals are played.
        findings: Receives differences, and deals that could not be played.
    """

    def __init__(
        self,
        store: Store,
        settings: PlaySettings,
        cast: AvailableBots,
        signals: StopSignals,
        findings: Findings,
    ) -> None:
        self._store = store
        self._settings = settings
        self._cast = cast
        self._signals = signals
        self._findings = findings

    def check(self, wanted: Wanted) -> int:
        """Play the requested deals again, as far as their bots are available.

        Returns:
            The number of deals played.

        Raises:
            UsageError: There is no such deal, or its bots cannot be started.
            RunError: They cannot be played here.
            Interrupted: By a signal.
        """
        matches = self._matches(wanted)
        if not matches:
            return 0
        if wanted.workers.sandbox is None and (text := as_then(self._store, self._cast)[1]):
            self._findings.note(text)
        plays = self._play(list(matches), wanted.workers)
        for (plan, stored), again in zip(matches.items(), plays, strict=True):
            # A run may have been interrupted in the match; the rules say whether it had to go on.
            part = divergence(self._settings, stored, again[: len(stored)])
            if part is not None:
                more = self._play([plan] * _AGAIN, wanted.workers)
                self._judge(stored, part, [again, *more])
        return sum(map(len, matches.values()))

    def _matches(self, wanted: Wanted) -> dict[MatchPlan, list[DealRecord]]:
        """Return the matches of the requested deals for which all bots are available."""
        found: dict[MatchPlan, list[DealRecord]] = {}
        missing: set[int] = set()
        for record in self._chosen(wanted):
            absent = self._cast.missing.keys() & set(record.seating)
            missing |= absent
            if not absent:
                plan = plan_of(self._settings, record)
                found[plan] = match_of(self._store, self._settings, record)
        if missing:
            self._tell_missing(missing, asked=wanted.asked)
        return found

    def _chosen(self, wanted: Wanted) -> Iterator[DealRecord]:
        if wanted.deals:
            yield from map(self._store.record, wanted.deals)
            return
        total = self._store.count()
        count = min(total, _A_FEW if wanted.sample is None else wanted.sample)
        for index in range(count):
            yield self._store.record(1 + index * total // count)

    def _tell_missing(self, missing: set[int], *, asked: bool) -> None:
        """Report bots that are not available; that is an error only if deals were requested."""
        names = ", ".join(self._cast.missing[number] for number in sorted(missing))
        text = (
            f"not all deals could be played again: not in the cache of staged bots: {names};"
            " give --config with a configuration that enters the same files"
        )
        if asked:
            self._findings.add("play", text)
        else:
            self._findings.note(text)

    def _play(self, plans: list[MatchPlan], workers: Workers) -> list[tuple[DealRecord, ...]]:
        return play_again(self._store, self._cast, plans, self._signals, workers)

    def _judge(
        self,
        stored: Sequence[DealRecord],
        part: tuple[int, Divergence],
        plays: Sequence[Sequence[DealRecord]],
    ) -> None:
        """Report a match that differs when it is played again.

        Args:
            stored: Its deals.
            part: The first difference of the first new play.
            plays: The deals of each new play.
        """
        at, where = part
        names = [bot.name for bot in self._cast.specs]
        who = "" if where.entrant is None else f" of {names[where.entrant]}"
        text = f"move {where.move}{who} was {where.before}, is {where.after} when played again"
        key = stored[at].key
        deal = f"deal {self._store.number(key)}"
        random = by_chance(self._settings, plays)
        if random and (where.entrant is None or where.entrant in random):
            listed = ", ".join(names[entrant] for entrant in sorted(random))
            self._findings.note(f"{deal}: {text}; {listed} has randomness of its own")
        elif host_faults([*stored, *plays[0]]):
            self._findings.note(f"{deal}: {text}; a fault that depends on the machine was in it")
        else:
            self._findings.add("play", text, key)
