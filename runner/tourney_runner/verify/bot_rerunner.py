"""Stored deals played again by the stored bots."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tourney_runner import __version__
from tourney_runner.bots.stage_all import stage_all
from tourney_runner.bots.staged_index import recall
from tourney_runner.bots.staging import former_hashes
from tourney_runner.errors import UsageError
from tourney_runner.play.play_settings import AutoForfeit, BotSpec, MatchPlan, PlaySettings
from tourney_runner.process.cores import available
from tourney_runner.process.sandbox import choose, resolve
from tourney_runner.process.sandbox.backends import BACKENDS
from tourney_runner.run.local import LocalExecutor
from tourney_runner.run.tournament_setup import specs
from tourney_runner.run.worker_messages import Chunk, Played, Setup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.bots import Bot
    from tourney_runner.config import Config
    from tourney_runner.process.sandbox import Mode
    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.results.records import DealRecord
    from tourney_runner.results.store import Store

__all__ = [
    "AvailableBots",
    "Workers",
    "as_then",
    "available_bots",
    "match_of",
    "plan_of",
    "play_again",
    "staged_by",
]

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

    specs: tuple[BotSpec, ...]
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
    found: list[BotSpec] = []
    missing: dict[int, str] = {}
    for number, name in enumerate(record.names):
        stored = record.bots[name]
        bot = at_hand.get(stored.hash) or recall(stored.hash)
        if bot is None:
            missing[number] = f"{name} (hash {stored.digits[:16]})"
            found.append(BotSpec(number, name, (), ""))
        else:
            found += specs([msgspec.structs.replace(bot, number=number, name=name)])
    return AvailableBots(tuple(found), missing)


def plan_of(settings: PlaySettings, record: DealRecord) -> MatchPlan:
    """Return the match of a stored deal."""
    rotation = record.key.deal if settings.duplicate else 0
    seats = len(record.seating)
    first = tuple(record.seating[(seat - rotation) % seats] for seat in range(seats))
    retired = filter(None, map(AutoForfeit.of, record.faults))
    return MatchPlan(record.key.round, record.key.match, first, rotation, tuple(retired))


def match_of(store: Store, settings: PlaySettings, record: DealRecord) -> list[DealRecord]:
    """Return all deals that are played, stored and repeated together with one."""
    if settings.duplicate:
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
    trusted = all(bot.trusted for bot in cast.specs if bot.command)
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
        bots=cast.specs,
        sandbox=resolve(mode, trusted=all(bot.trusted for bot in cast.specs if bot.command)),
        clock=store.about().clock,
        most_alive=_MOST_ALIVE,
    )
