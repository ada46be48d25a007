"""A check of stored deals that their bots play again, with the first difference."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tourney_runner import __version__
from tourney_runner.bots.cache import recall
from tourney_runner.bots.staging import former_hashes, stage_all
from tourney_runner.errors import UsageError
from tourney_runner.play.bot import Bot
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match_plan import AutoForfeit, MatchPlan
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.process.cores import available
from tourney_runner.process.sandbox import choose, resolve
from tourney_runner.process.sandbox.selection import BACKENDS
from tourney_runner.run.local import LocalExecutor
from tourney_runner.run.worker_process import Chunk, Played, Setup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.config import Config
    from tourney_runner.process.sandbox import Mode
    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.results.records import DealRecord
    from tourney_runner.results.store import Store
    from tourney_runner.verify.report import Findings

__all__ = [
    "AvailableBots",
    "Divergence",
    "Sample",
    "Wanted",
    "Workers",
    "as_then",
    "available_bots",
    "by_chance",
    "divergence",
    "host_faults",
    "match_of",
    "plan_of",
    "play_again",
    "staged_by",
]


_HOST_FAULTS = frozenset({"start", "crash", "timeout", "memory"})
"""Faults that depend on how busy and how large the machine is."""


class Divergence(NamedTuple):
    """The first difference of two records of a deal."""

    move: int
    """From 1; after the last one if only the ends differ."""
    entrant: int | None
    """The entrant that made the move; None at the end."""
    before: str
    after: str


def divergence(
    settings: PlaySettings, before: Sequence[DealRecord], after: Sequence[DealRecord]
) -> tuple[int, Divergence] | None:
    """Return the first difference of two records of a match: the index of the deal and the move."""
    for number, (one, other) in enumerate(zip(before, after, strict=False)):
        found = _parting(settings, one, other)
        if found is not None:
            return number, found
    if len(before) != len(after):
        last = min(len(before), len(after)) - 1
        return last, Divergence(0, None, f"{len(before)} deals", f"{len(after)} deals")
    return None


def _parting(settings: PlaySettings, one: DealRecord, other: DealRecord) -> Divergence | None:
    codes, other_codes = one.moves.split(), other.moves.split()
    if codes == other_codes:
        if (one.places, one.points) == (other.places, other.points):
            return None
        return Divergence(len(codes) + 1, None, f"places {one.places}", f"places {other.places}")
    at = next(
        (at for at, pair in enumerate(zip(codes, other_codes, strict=False)) if pair[0] != pair[1]),
        min(len(codes), len(other_codes)),
    )
    longer = one if len(codes) > at else other
    step = next((step for step in steps(settings, longer) if step.number == at), None)
    return Divergence(
        at + 1,
        None if step is None else longer.seating[step.seat],
        _told(settings, one, at),
        _told(settings, other, at),
    )


def _told(settings: PlaySettings, record: DealRecord, at: int) -> str:
    """Describe a move."""
    step = next((step for step in steps(settings, record) if step.number == at), None)
    return "the end" if step is None else f"'{step.log()}'"


def by_chance(settings: PlaySettings, plays: Sequence[Sequence[DealRecord]]) -> set[int]:
    """Return the entrants that moved differently in the same position with newly started bots."""
    found = set()
    for one, other in combinations(plays, 2):
        part = divergence(settings, one, other)
        if part is not None and part[1].entrant is not None:
            found.add(part[1].entrant)
    return found


def host_faults(records: Sequence[DealRecord]) -> bool:
    """Return whether a fault occurred that may not occur on another machine."""
    return any(fault.kind in _HOST_FAULTS for record in records for fault in record.faults)


_TICK = 0.1
_MOST_ALIVE = 64
_UNCONFINED = tuple(backend.name for backend in BACKENDS.values() if not backend.confines)


class Workers(NamedTuple):
    """The workers that play deals again."""

    jobs: int | None = None
    """The number of workers; one for each core if None."""
    sandbox: Mode | None = None
    """The sandbox for bots; None for the one that `as_then` returns."""


class AvailableBots(NamedTuple):
    """The bots of a tournament that are available here."""

    bots: tuple[Bot, ...]
    """By number; the command is empty where the bot is missing."""
    missing: dict[int, str]
    """Descriptions of the missing bots, by number."""


def available_bots(store: Store, staged: Sequence[Bot] = ()) -> AvailableBots:
    """Find the bots that played, identified by their hashes.

    Args:
        store: The results.
        staged: Bots that were just staged; others are looked up in the cache.
    """
    record = store.tournament()
    at_hand = {bot.hash: bot for bot in staged}
    found: list[Bot] = []
    missing: dict[int, str] = {}
    for number, name in enumerate(record.names):
        stored = record.bots[name]
        bot = at_hand.get(stored.hash) or recall(stored.hash)
        if bot is None:
            missing[number] = f"{name} (hash {stored.digits[:16]})"
            found.append(Bot(number=number, name=name))
        else:
            found.append(msgspec.structs.replace(bot, number=number, name=name))
    return AvailableBots(tuple(found), missing)


def plan_of(settings: PlaySettings, record: DealRecord) -> MatchPlan:
    """Return the match of a stored deal."""
    rotation = record.key.deal if settings.match.duplicate else 0
    seats = len(record.seating)
    first = tuple(record.seating[(seat - rotation) % seats] for seat in range(seats))
    retired = filter(None, map(AutoForfeit.of, record.faults))
    return MatchPlan(record.key.round, record.key.match, first, rotation, tuple(retired))


def match_of(store: Store, settings: PlaySettings, record: DealRecord) -> list[DealRecord]:
    """Return all deals that are played, stored and repeated together with one."""
    if settings.match.duplicate:
        return [record]
    number, match, _ = record.key
    return list(store.records(range(number, number + 1), range(match, match + 1)))


def as_then(store: Store, cast: AvailableBots) -> tuple[Mode, str]:
    """Return the sandbox for bots if none is given: that of the run, if it works here.

    Results may come from anyone, so they can cause a bot to start without a sandbox only if it is
    trusted here.

    Returns:
        The mode, and a note if it differs from the run's.

    Raises:
        UsageError: Untrusted bots cannot be started here.
    """
    trusted = all(bot.trusted for bot in cast.bots if bot.command)
    record = store.tournament()
    then: Mode = record.started_in or record.sandbox
    why = "which is for bots that are trusted here; --no-sandbox starts them without one"
    if trusted or then not in _UNCONFINED:
        try:
            choose(then, trusted=trusted)
        except UsageError as error:
            why = f"which is not to be had here ({error})"
        else:
            return then, ""
    now = resolve("auto", trusted=trusted)
    return now, f"bots are started with sandbox: {now}; the run had sandbox: {then}, {why}"


def staged_by(config: Config, mode: Mode | None = None) -> list[Bot]:
    """Stage the bots of a configuration, as far as possible, and return them by all their hashes.

    Args:
        config: The configuration.
        mode: The sandbox for their builds; that of the configuration if None.
    """
    trusted = all(entrant.trusted for entrant in config.entrants)
    launcher = choose(mode or config.sandbox, trusted=trusted)
    staged, _ = stage_all(config.entrants, launcher=launcher, build_network=config.build_network)
    entered = {entrant.name: entrant for entrant in config.entrants}
    former = [
        msgspec.structs.replace(bot, hash=one)
        for bot in staged
        for one in former_hashes(bot, entered[bot.name])
    ]
    return [*staged, *former]


def play_again(
    store: Store,
    cast: AvailableBots,
    plans: Sequence[MatchPlan],
    signals: StopSignals,
    how: Workers,
) -> list[tuple[DealRecord, ...]]:
    """Play matches again, each with newly started bots, without changing the store.

    Args:
        store: The source of rules, limits and seed.
        cast: The bots; those that sit at these tables must be available.
        plans: The matches.
        signals: Checked several times a second.
        how: The workers and the sandbox.

    Returns:
        The deals of each match, in the order of `plans`.

    Raises:
        RunError: They cannot be played here.
        Interrupted: By a signal.
    """
    results: dict[int, tuple[DealRecord, ...]] = {}
    waiting = [Chunk(number, (plan,), renew=True) for number, plan in enumerate(plans)]
    waiting.reverse()
    mode = how.sandbox or as_then(store, cast)[0]
    executor = LocalExecutor(_setup(store, cast, mode), min(how.jobs or available(), len(plans)))
    try:
        under_way = 0
        while waiting or under_way:
            while waiting and under_way < executor.slots:
                executor.submit(waiting.pop())
                under_way += 1
            for outcome in executor.wait(_TICK):
                if isinstance(outcome, Played):
                    results[outcome.number] = outcome.records
                    under_way -= 1
            signals.check()
        executor.close()
    except BaseException:
        executor.kill()
        raise
    return [results[number] for number in range(len(plans))]


def _setup(store: Store, cast: AvailableBots, mode: Mode) -> Setup:
    return Setup(
        version=__version__,
        settings=PlaySettings.of(store.about()),
        bots=cast.bots,
        sandbox=resolve(mode, trusted=all(bot.trusted for bot in cast.bots if bot.command)),
        clock=store.about().clock,
        most_alive=_MOST_ALIVE,
    )


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
        names = [bot.name for bot in self._cast.bots]
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
