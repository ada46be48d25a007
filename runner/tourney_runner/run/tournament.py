"""Running a tournament, from a configuration to a folder of results."""

from __future__ import annotations

import shlex
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.bots.cache import remember
from tourney_runner.bots.changes import changes_since
from tourney_runner.errors import Interrupted, RunError, UsageError
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.sandbox import choose, resolve
from tourney_runner.process.stop_signals import StopSignals
from tourney_runner.publish.site_folder import SITE_FOLDER, check_free
from tourney_runner.results.store import Store
from tourney_runner.results.tournament_record import LaterSeed
from tourney_runner.run import progress as checkpoint
from tourney_runner.run.compatibility import check_same, time_change, with_times_of
from tourney_runner.run.dispatcher import DeadlineError, Dispatcher
from tourney_runner.run.entrants import Entrants, next_round, why_broken, with_added
from tourney_runner.run.executor import cluster_address
from tourney_runner.run.local import LocalExecutor
from tourney_runner.run.planner import MOST_MATCHES, Planner
from tourney_runner.run.preview import plan_lines
from tourney_runner.run.progress import Progress, Tally
from tourney_runner.run.results_folder import ResultsFolder
from tourney_runner.run.tournament_setup import (
    conditions,
    draw_seed,
    make_format,
    make_record,
    new_seed,
    protection_line,
    worker_setup,
)
from tourney_runner.run.worker_count import WorkerCount
from tourney_runner.schedule.base import FORMAT_RULES
from tourney_runner.text import counted, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tourney_runner.config import Config, Entrant
    from tourney_runner.play.bot import Bot
    from tourney_runner.process.sandbox import Mode
    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.tournament_record import TournamentRecord
    from tourney_runner.run.dispatcher import Enough
    from tourney_runner.run.executor import Executor
    from tourney_runner.run.progress import Reporter

__all__ = ["RunOptions", "run"]

_STEP = 64
"""Matches between two tests of `RunOptions.enough`; fewer would renew bots too often."""
_NAMED = 5
"""The number of bots that a note names."""


@dataclass(frozen=True)
class RunOptions:
    """The options of one run, as opposed to the tournament's own settings."""

    folder: Path
    again: str
    """The command that continues, for messages."""
    jobs: int | None = None
    """The number of workers; None for one per free core."""
    pin: bool = True
    dask: str | None = None
    """The address of a Dask scheduler, or ``local``; see `run.executor.cluster_address`."""
    migrate: bool = True
    """Whether results of an earlier version may be converted."""
    out_option: bool = True
    """Whether the command has ``--out``, for messages."""
    fresh: bool = False
    skip_broken: bool = False
    added: tuple[Entrant, ...] = ()
    """Bots besides the configured ones; one with the name of another is a new version."""
    reopen: bool = False
    """Whether to open a closed tournament again, for rounds on a new secret seed."""
    change_time: str | None = None
    """The public reason for new time limits from the next round on; None if none may change."""
    new_versions: bool = False
    """Whether any bot whose files have changed joins as a new version of itself."""
    sandbox: Mode | None = None
    """The sandbox in place of the configured one."""
    until: float | None = None
    """The time after which no more matches start, in seconds since the epoch."""
    enough: Enough | None = None
    """A test that can end the tournament early; see `run.dispatcher.Dispatcher.play`."""


def run(config: Config, options: RunOptions, reporter: Reporter) -> Summary:
    """Play the missing part of a tournament, and store deals and tables in its folder.

    Returns:
        The final table.

    Raises:
        UsageError: Nothing was played: a bot cannot start, or the folder holds another tournament.
        RunError: The disk or the workers fail; stored results can be continued.
        Interrupted: A signal came; stored results can be continued.
    """
    with (
        StopSignals() as signals,
        ResultsFolder(options.folder, fresh=options.fresh, out_option=options.out_option) as folder,
        closing(Store(folder.database, create=True, migrate=options.migrate)) as store,
        closing(WorkerCount(folder.path)) as worker_count,
    ):
        if folder.moved_to is not None:
            reporter.say(f"the old results are in {folder.moved_to} now")
        if store.backup is not None:
            reporter.say(
                "note: the results were of an earlier version of tourney and are converted; as"
                f" they were, they are in {store.backup}"
            )
        check_free(folder.path / SITE_FOLDER)
        this_run = _Run(config, options, reporter, signals, folder, store, worker_count)
        try:
            this_run.go()
            reporter.end()
            this_run.name_chatty()
            signals.prompt()  # the table of a long tournament takes time
            return _published(folder, store)
        except Interrupted as error:
            reporter.end()
            raise Interrupted(this_run.interrupted(), error.signal_number) from error
        finally:
            reporter.end()


def _published(folder: ResultsFolder, store: Store) -> Summary:
    """Write the tables and the site; return the table."""
    # Arrays and plots take half a second to import, too long for a run that cannot begin.
    from tourney_runner.publish.events import log_events  # noqa: PLC0415
    from tourney_runner.publish.result_files import write_files  # noqa: PLC0415

    log_events(store)
    try:
        return write_files(folder.path, store)
    except UsageError as error:  # too late for a usage error, since the deals are played
        raise RunError(
            f"{error}\nEverything is played and kept. The ranking: {_standings(folder.path)}"
        ) from error


def _standings(folder: Path) -> str:
    """Return the command that shows the table of a folder."""
    return shlex.join(["tourney", "standings", str(folder)])


class _Run:
    """One run over one open folder."""

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a run
        self,
        config: Config,
        options: RunOptions,
        reporter: Reporter,
        signals: StopSignals,
        folder: ResultsFolder,
        store: Store,
        worker_count: WorkerCount,
    ) -> None:
        self._worker_count = worker_count
        entrants = with_added(config.entrants, options.added)
        self._options = options
        self._reporter = reporter
        self._signals = signals
        self._folder = folder
        self._store = store
        self._before = before = store.tournament_if_begun()
        self._seed = draw_seed(config, None if before is None else before.seed)
        self._later_seeds = () if before is None else before.later_seeds
        self._time_changes = () if before is None else before.time_changes
        self._format_rules = FORMAT_RULES if before is None else before.format_rules
        config = config.model_copy(update={"entrants": entrants})
        self._entrants = Entrants(config, options, store, self._seed, reporter.say)
        trusted = all(entrant.trusted for entrant in entrants) and not (before and before.added)
        self._trusted = trusted
        self._sandbox = resolve(options.sandbox or config.sandbox, trusted=trusted)
        self._launcher = choose(self._sandbox, trusted=trusted)
        self._progress: Progress | None = None
        self._cluster = cluster_address(options.dask, config.executor)
        if options.jobs is not None and self._cluster not in {None, "local"}:
            raise UsageError(
                "--jobs does nothing on a Dask cluster, which has the workers that were started"
                " there; leave it out"
            )

    @property
    def _config(self) -> Config:
        """The configuration with the entrants that take part."""
        return self._entrants.config

    def go(self) -> None:
        """Run all steps in order."""
        bots, broken = self._entrants.stage(self._launcher)
        if self._before is not None:
            if broken:
                self._entrants.refuse(broken)
            self._change_times(bots)
            now = self._record(bots)
            check_same(
                self._folder.path, self._before, now, self._changes_of(bots), self._options.again
            )
            self._entrants.change_field(bots)
            same = self._before.rounds == now.rounds and len(self._before.entrants) == len(bots)
            if self._before.complete and same:
                self._remember(bots, complete=True)
                return
            self._begin_seed_epoch(self._before)
        self._signals.defer()
        bots, executor = self._checked(bots, broken)
        try:
            self._announce(executor)
            finished = self._play(executor, bots)
            executor.close()
        except BaseException:
            executor.kill()
            raise
        if finished:
            self._store.change(complete=True, ended=utc_now())

    def _change_times(self, bots: list[Bot]) -> None:
        """Let other time limits apply from the next round on, if there is a public reason."""
        reason, before = self._options.change_time, self._before
        if reason is None or before is None:
            return
        configured = make_record(self._config, self._seed, bots, before.conditions)
        change = time_change(before, configured, next_round(self._store), reason)
        if change is None:
            self._reporter.say("note: the configured time limits are those in force already")
            return
        self._time_changes += (change,)
        self._reporter.say(
            f"from round {change.first_round + 1} on, other time limits apply: {change.reason}"
        )

    def _changes_of(self, bots: list[Bot]) -> Callable[[str, str], list[str] | None]:
        """Return a function from the name of a bot and its earlier hash to its changes."""
        staged = {bot.name: bot for bot in bots}
        folders = {entrant.name: entrant.folder for entrant in self._config.entrants}
        return lambda name, earlier: changes_since(earlier, staged[name], folders[name])

    def _begin_seed_epoch(self, before: TournamentRecord) -> None:
        """Draw a new seed for the coming rounds if the current one is public.

        Raises:
            UsageError: The tournament is closed and may not be reopened.
        """
        if before.closed is not None and not self._options.reopen:
            raise UsageError(
                f"{self._folder.path}: this tournament was closed on {before.closed[:10]} and"
                " accepts no further deals. Begin another, or give --reopen to add to this one: a"
                " secret seed is followed by a new one then."
            )
        if self._seed.secret and before.last_seed_is_public:
            first = next_round(self._store)
            self._later_seeds += (LaterSeed(first, new_seed()),)
            self._reporter.say(
                f"the seed is public, so the cards from round {first + 1} on come from a new one"
            )

    def name_chatty(self) -> None:
        """Report the bots whose output had lines that answer no request, with their logs."""
        progress = self._progress
        if progress is None or not progress.chatty:
            return
        names = {number: progress.tallies[number].name for number in sorted(progress.chatty)}
        logs = [f"{name} ({self._folder.log_path(at, name)})" for at, name in names.items()]
        more = f" and {len(logs) - _NAMED} more" if len(logs) > _NAMED else ""
        self._reporter.say(
            f"note: output that answers no request came from {', '.join(logs[:_NAMED])}{more}"
        )

    def interrupted(self) -> str:
        """Show the standings after a signal; return the message on how to continue."""
        progress = self._progress
        if progress is None:
            if self._before is None:
                return "Interrupted before anything was played."
            return (
                "Interrupted before any further deals were played. To continue:\n"
                f"  {self._options.again}"
            )
        progress.recount(self._store.outcomes())
        self._reporter.so_far(progress)
        return (
            f"Interrupted with {progress.share} played and kept; unfinished ones are void.\n"
            f"The ranking so far: {_standings(self._options.folder)}\n"
            f"To continue:\n  {self._options.again}"
        )

    def _checked(self, bots: list[Bot], broken: dict[str, str]) -> tuple[list[Bot], Executor]:
        """Start every bot once; return those that will play, and their workers."""
        executor = self._executor(bots)
        try:
            checked = self._dispatcher(executor).check(self._entrants.to_check(bots))
            broken = broken | why_broken(checked, bots)
        except BaseException:
            executor.kill()
            raise
        if not broken:
            return bots, executor
        executor.close()
        left = self._entrants.without(bots, broken)
        return left, self._executor(left)

    def _dispatcher(self, executor: Executor) -> Dispatcher:
        return Dispatcher(
            executor, self._signals, self._reporter, self._worker_count, self._options.until
        )

    def _announce(self, executor: Executor) -> None:
        for line in plan_lines(
            self._config,
            self._seed,
            max(1, executor.slots),
            protection=protection_line(self._launcher, self._config.limits),
            stages=self._entrants.stages,
            format_rules=self._format_rules,
        ):
            self._reporter.say(line)
        if not self._seed.secret and self._before is None and not self._trusted:
            self._reporter.say(
                f"note: the seed {self._seed.master} is public: a bot that guesses it knows every"
                " hand. Bots of others play on `seed: secret`."
            )

    def _executor(self, bots: list[Bot]) -> Executor:
        settings = PlaySettings.of(self._record(bots))
        setup = worker_setup(self._config, settings, bots, self._sandbox)
        jobs, pin = self._options.jobs, self._options.pin
        if self._cluster is None:
            wanted = self._worker_count.wanted()
            return LocalExecutor(setup, jobs if wanted is None else wanted, pin=pin)
        # Dask is an optional extra, so it is imported on demand.
        from tourney_runner.cluster.dask_executor import open_executor  # noqa: PLC0415

        return open_executor(self._cluster, setup, self._config.entrants, bots, jobs=jobs, pin=pin)

    def _remember(self, bots: list[Bot], *, complete: bool) -> None:
        """Store the tournament's record, before its first deal."""
        self._folder.begin()
        remember(bots)
        before = self._store.tournament_if_begun()
        record = self._record(bots)
        if before is None:
            self._store.begin(msgspec.structs.replace(record, began=utc_now()))
            return
        how = before.conditions if complete else record.conditions.after(before.conditions)
        self._store.begin(
            msgspec.structs.replace(
                record,
                conditions=how,
                started_in=before.started_in,
                began=before.began,
                ended=before.ended,
                complete=complete,
                sealed=before.sealed if complete else True,
                closed=before.closed if complete else None,
                added=tuple(sorted({*before.added, *record.added})),
                stages=before.stages if complete else record.stages,
                stages_before=before.stages_before,
                held_until=before.held_until,
                remarks=before.remarks,
                **_ranking(before, record, self._config),
            )
        )

    def _record(self, bots: list[Bot]) -> TournamentRecord:
        """Return the tournament as it is configured now."""
        how = conditions(
            protection_line(self._launcher, self._config.limits),
            make_clock(self._config.clock).describe(),
        )
        record = make_record(self._config, self._seed, bots, how, self._format_rules)
        if self._time_changes and self._before is not None:
            record = with_times_of(self._before, record, self._time_changes)
        return msgspec.structs.replace(
            record,
            sealed=True,
            later_seeds=self._later_seeds,
            added=tuple(sorted({bot.name for bot in self._options.added})),
            skipped=tuple(self._entrants.skipped),
            versions=self._entrants.versions,
            stages=self._entrants.stages,
        )

    def _play(self, executor: Executor, bots: list[Bot]) -> bool:
        """Play the missing matches; return whether the tournament is complete."""
        self._entrants.retire_replaced()
        self._remember(bots, complete=False)
        self._store.change(started_in=self._sandbox)
        for bot in bots[len(self._before.entrants) :] if self._before else ():
            self._reporter.say(f"{bot.name} joins, and first catches up on the earlier rounds")
        names = tuple(bot.name for bot in bots)
        enough = self._options.enough
        planner = Planner(
            make_format(self._config, self._seed, names, self._entrants.stages, self._format_rules),
            self._store,
            self._config.match.duplicate,
            MOST_MATCHES if enough is None else _STEP,
            bench_after=self._config.bench_after,
            settings=PlaySettings.of(self._store.tournament()),
        )
        total = planner.total()
        progress = Progress(
            total, [Tally(name) for name in names], planner.matches() if total is None else None
        )
        if enough is None:  # `enough` needs all deals, see `Dispatcher.play`
            checkpoint.take_up(self._store, planner, progress)
        if there := self._store.count():
            self._reporter.say(
                f"continuing: {counted(there, 'deal is', 'deals are')} stored already"
            )
        self._progress = progress
        self._reporter.begin(progress)
        dispatcher = self._dispatcher(executor)
        try:
            rounds = dispatcher.play(planner, self._store, self._folder, progress, enough)
        except DeadlineError:
            progress.recount(self._store.outcomes())
            self._reporter.say(
                f"the time is up, with {progress.share} played and kept; to continue:\n"
                f"  {self._options.again}"
            )
            return False
        if rounds is not None:  # the tournament had that many rounds then
            schedule = self._store.tournament().schedule
            if schedule is not None:
                self._store.change(schedule=msgspec.structs.replace(schedule, rounds=rounds))
        return True


def _ranking(before: TournamentRecord, now: TournamentRecord, config: Config) -> dict[str, Any]:
    """Return the ranking settings of a continued tournament; one with rules 1 keeps its own.

    Args:
        before: As stored.
        now: As configured.
        config: The configuration.
    """
    if before.format_rules == 1:
        # Its version updated ratings deal by deal where skills drift and no `update` is given.
        is_kept = config.rating.update is None and now.rating["tau"] == before.rating["tau"]
        return {
            "rank_by": before.rank_by,
            "references": before.references,
            "update": before.update if is_kept else now.update,
        }
    return {"rank_by": now.rank_by, "references": now.references}
