"""A whole tournament: from a configuration to a folder of results."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import msgspec

from runner import __version__
from runner.bots.recall import remember
from runner.errors import Interrupted, RunError, UsageError
from runner.games.registry import game as find_game
from runner.process.fair import make_clock
from runner.process.sandbox import choose, resolve
from runner.publish.claim import SITE_FOLDER, check_free
from runner.publish.summary import EntrantFacts, Facts, summarise
from runner.publish.wording import utc
from runner.results.records import Decision
from runner.results.store import Store
from runner.run import checkpoint
from runner.run.conductor import Conductor
from runner.run.engines import chosen_cluster, on_cluster
from runner.run.field import absent, kept_stages, next_round, present, take_effect
from runner.run.folder import ResultsFolder
from runner.run.identity import check_same
from runner.run.local import LocalExecutor
from runner.run.plan import differing_rules, limits_line, plan_lines
from runner.run.planner import MOST_MATCHES, Planner
from runner.run.prepare import (
    Seed,
    draw_seed,
    identity,
    make_format,
    make_stages,
    play_settings,
    protection_line,
    specs,
)
from runner.run.progress import Progress, Tally
from runner.run.provenance import as_played
from runner.run.readiness import stage_all, why_broken
from runner.run.roster import entrants_of, roster, with_added
from runner.run.signals import StopSignals
from runner.run.wire import Setup
from runner.schedule.registry import format_class

if TYPE_CHECKING:
    from pathlib import Path

    from runner.bots import Bot
    from runner.config import Config
    from runner.config.models import Entrant
    from runner.process.sandbox import Mode
    from runner.publish.summary import Summary
    from runner.run.conductor import Enough
    from runner.run.executor import Executor
    from runner.run.progress import Reporter
    from runner.schedule.stages import Stage, Stages

__all__ = ["RunChoices", "run"]

_STEP = 64
"""Matches between two looks at whether it is enough; with fewer, bots would be renewed often."""
_NAMED = 5
"""Bots in a note."""
_MOST_ALIVE = 512
"""Bots that one worker keeps, where it has memory and open files for so many."""


@dataclass(frozen=True)
class RunChoices:
    """How to run, as opposed to what."""

    folder: Path
    again: str
    """The command that continues, for messages."""
    jobs: int | None = None
    """Workers; one for each free core if None."""
    pin: bool = True
    dask: str | None = None
    """The address of a Dask scheduler, or ``local``; see `runner.run.engines`."""
    fresh: bool = False
    skip_broken: bool = False
    added: tuple[Entrant, ...] = ()
    """Bots beside those of the configuration; one with the name of another is a new version."""
    sealed: bool = False
    """Whether a secret seed stays secret when all is played, since others may still join."""
    new_versions: bool = False
    """Whether any bot whose files have changed joins as a new version of itself."""
    sandbox: Mode | None = None
    """Instead of the configured one."""
    enough: Enough | None = None
    """When to end before the last round; see `runner.run.conductor.Conductor.play`."""


def run(config: Config, choices: RunChoices, reporter: Reporter) -> Summary:
    """Play what is missing of a tournament, and keep deals and tables in its folder.

    Returns:
        The final table.

    Raises:
        UsageError: Nothing was played: a bot cannot start, the folder holds another tournament.
        RunError: The disk or the workers fail; what is stored can be continued.
        Interrupted: By a signal; likewise.
    """
    with (
        StopSignals() as signals,
        ResultsFolder(choices.folder, fresh=choices.fresh) as folder,
        closing(Store(folder.database, create=True)) as store,
    ):
        if folder.moved_to is not None:
            reporter.say(f"the old results are in {folder.moved_to} now")
        check_free(folder.path / SITE_FOLDER)
        this_run = _Run(config, choices, reporter, signals, folder, store)
        try:
            this_run.go()
            reporter.end()
            this_run.name_chatty()
            signals.prompt()  # the table of a long tournament takes a while
            return _published(folder, store)
        except Interrupted as error:
            reporter.end()
            raise Interrupted(this_run.interrupted(), error.signal_number) from error
        finally:
            reporter.end()


def _published(folder: ResultsFolder, store: Store) -> Summary:
    """Write the tables and the site; gives the table."""
    # Arrays and plots take half a second to load, which a run that cannot begin has not.
    from runner.publish.files import write_files  # noqa: PLC0415

    summary = summarise(store)
    try:
        write_files(folder.path, store, summary)
    except UsageError as error:  # the deals are played, so it is too late for that
        raise RunError(
            f"{error}\nEverything is played and kept. The ranking: tourney standings {folder.path}"
        ) from error
    return summary


class _Run:
    """One run over one open folder."""

    def __init__(  # noqa: PLR0913, PLR0917 - all that a run is about
        self,
        config: Config,
        choices: RunChoices,
        reporter: Reporter,
        signals: StopSignals,
        folder: ResultsFolder,
        store: Store,
    ) -> None:
        entrants = with_added(config.entrants, choices.added)
        self._config = config = config.model_copy(update={"entrants": entrants})
        self._choices = choices
        self._reporter = reporter
        self._signals = signals
        self._folder = folder
        self._store = store
        kept = store.meta("seed")
        self._seed = draw_seed(config, None if kept is None else Seed(**kept))
        self._before = store.meta("identity")
        self._skipped: list[str] = []
        self._stages: Stages | None = None
        self._versions: dict[str, str] = {}
        self._replaced: dict[int, str] = {}
        trusted = all(entrant.trusted for entrant in entrants) and not store.meta("added")
        self._sandbox = resolve(choices.sandbox or config.sandbox, trusted=trusted)
        self._launcher = choose(self._sandbox, trusted=trusted)
        self._progress: Progress | None = None
        self._cluster = chosen_cluster(choices.dask, config.executor)

    def go(self) -> None:
        """All steps in their order."""
        if not self._choices.new_versions:  # else who was left out is a newcomer
            self._leave_out(
                dict.fromkeys(self._store.meta("skipped") or (), "left out when this began")
            )
        bots, broken = self._staged()
        if self._before is not None:
            if broken:
                self._refuse(broken)
            now = identity(self._config, self._seed, bots)
            check_same(self._folder.path, self._before, now)
            self._change_field(bots)
            same = self._before["rounds"] == now["rounds"] and len(self._before["bots"]) == len(
                bots
            )
            if self._store.meta("complete") and same:
                self._remember(bots, complete=True)
                return
        self._signals.defer()
        bots, executor = self._checked(bots, broken)
        try:
            self._announce(executor)
            self._play(executor, bots)
            executor.close()
        except BaseException:
            executor.kill()
            raise
        self._store.set_meta(complete=True, ended=utc())

    def name_chatty(self) -> None:
        """Name the bots that talk where they should answer, and where it can be read."""
        progress = self._progress
        if progress is None or not progress.chatty:
            return
        names = {number: progress.tallies[number].name for number in sorted(progress.chatty)}
        logs = [f"{name} ({self._folder.log_path(at, name)})" for at, name in names.items()]
        more = f" and {len(logs) - _NAMED} more" if len(logs) > _NAMED else ""
        self._reporter.say(
            f"note: lines on stdout that answer nothing came from {', '.join(logs[:_NAMED])}{more}"
        )

    def interrupted(self) -> str:
        """Show what there is after a signal; gives the words on what was kept and how to go on."""
        progress = self._progress
        if progress is None:
            kept = "interrupted before anything was played"
            return (
                kept if self._before is None else f"{kept}; to continue:\n  {self._choices.again}"
            )
        self._reporter.so_far(progress)
        return (
            f"interrupted with {progress.share} played and kept; unfinished ones are void.\n"
            f"The ranking so far: tourney standings {self._choices.folder}\n"
            f"To continue:\n  {self._choices.again}"
        )

    def _staged(self) -> tuple[list[Bot], dict[str, str]]:
        """The bots that are ready, in order; why others are not, by name."""
        bots, broken = stage_all(
            self._config.entrants,
            launcher=self._launcher,
            build_network=self._config.build_network,
        )
        if self._before is None:
            return [msgspec.structs.replace(bot, number=at) for at, bot in enumerate(bots)], broken
        found = roster(self._store, bots, self._may_change(), broken)
        self._versions, self._replaced = found.versions, found.replaced
        entrants = entrants_of(
            found.bots, self._config.entrants, found.versions, self._before["bots"]
        )
        self._config = self._config.model_copy(update={"entrants": entrants})
        return found.bots, broken

    def _may_change(self) -> frozenset[str]:
        """The names of bots that may join as new versions of themselves."""
        every = self._config.entrants if self._choices.new_versions else self._choices.added
        return frozenset(entrant.name for entrant in every)

    def _change_field(self, bots: list[Bot]) -> None:
        """Plan the rounds to come for those that are here now."""
        before = len(self._before["bots"])
        if len(bots) == before and not format_class(self._config.schedule.format).open_to_newcomers:
            return
        rounds = self._before["rounds"] or 0
        kept = kept_stages(self._store, before, rounds)
        names = tuple(bot.name for bot in bots)
        stages = make_stages(self._config, self._seed, names, kept)
        stages = take_effect(self._store, stages)
        for old in self._replaced:
            stages = stages.without(old, next_round(self._store))
        here = [one for one in present(self._store, range(before)) if one not in self._replaced]
        for newcomer in range(before, len(bots)):
            stages = stages.joined(here, newcomer, next_round(self._store))
            here.append(newcomer)
        more = (self._config.schedule.rounds or 0) - rounds
        self._stages = stages.extended(here, more) if more > 0 else stages

    def _retire_replaced(self) -> None:
        """Withdraw the old versions of bots that have joined as new ones."""
        gone = absent(self._store)
        stages = self._stages
        for old, new in self._replaced.items():
            if old not in gone and stages is not None:
                first = next_round(self._store)
                kept = kept_stages(self._store, len(self._before["bots"]), self._before["rounds"])
                left = stages.like(kept).without(old, first).stages
                self._store.decide(
                    Decision(0, utc(), "withdrawn", old, f"replaced by {new}", from_round=first),
                    stages=msgspec.to_builtins(left),
                )

    def _checked(self, bots: list[Bot], broken: dict[str, str]) -> tuple[list[Bot], Executor]:
        """Start every bot once; gives those that will play, and the workers for them."""
        executor = self._executor(bots)
        try:
            checked = Conductor(executor, self._signals, self._reporter).check(self._to_check(bots))
            broken = broken | why_broken(checked, bots)
        except BaseException:
            executor.kill()
            raise
        if not broken:
            return bots, executor
        executor.close()
        self._refuse(broken)
        skipped = self._skipped
        self._leave_out(broken)
        left = [bot for bot in bots if bot.name not in broken]
        left = [msgspec.structs.replace(bot, number=at) for at, bot in enumerate(left)]
        if self._before is not None:  # they have not joined, and may the next time
            self._skipped = skipped
            self._versions = {new: old for new, old in self._versions.items() if new not in broken}
            self._replaced = {old: new for old, new in self._replaced.items() if new not in broken}
            self._change_field(left)
        return left, self._executor(left)

    def _to_check(self, bots: list[Bot]) -> list[int]:
        """The numbers of the bots that will play."""
        return present(
            self._store, (bot.number for bot in bots if bot.number not in self._replaced)
        )

    def _refuse(self, broken: dict[str, str]) -> None:
        """Stop because of bots that cannot start, unless they may be left out."""
        reasons = "\n".join(broken.values())
        begun = self._before is not None
        if begun and broken.keys() & (self._before["bots"].keys() - self._may_change()):
            raise UsageError(
                f"{reasons}\nThis tournament was begun with it, so it cannot be left out now. Mend"
                " it to continue, or give --fresh to begin again."
            )
        if not self._choices.skip_broken:
            raise UsageError(
                f"{reasons}\nNothing was played. Mend this, or give --skip-broken to leave out what"
                " cannot start."
            )
        self._reporter.say(reasons)
        if begun:
            return
        left, players = len(self._config.entrants) - len(broken), self._config.options.players
        if left < players:
            raise UsageError(f"bots that can start: {left}, too few for a table of {players}")

    def _leave_out(self, reasons: dict[str, str]) -> None:
        """Go on without some of the entrants."""
        left = [entrant for entrant in self._config.entrants if entrant.name not in reasons]
        lines = [f"{name} is left out: {why.splitlines()[0]}" for name, why in reasons.items()]
        self._skipped = sorted(reasons)
        self._config = self._config.model_copy(
            update={
                "entrants": tuple(
                    entrant.model_copy(update={"number": at}) for at, entrant in enumerate(left)
                ),
                "skipped": (*self._config.skipped, *lines),
            }
        )

    def _announce(self, executor: Executor) -> None:
        for line in plan_lines(
            self._config,
            self._seed,
            executor.slots,
            protection=protection_line(self._launcher, self._config.limits),
            stages=self._all_stages(),
        ):
            self._reporter.say(line)

    def _executor(self, bots: list[Bot]) -> Executor:
        setup = Setup(
            version=__version__,
            settings=play_settings(self._config, self._seed),
            bots=specs(bots),
            sandbox=self._sandbox,
            build_network=self._config.build_network,
            clock=self._config.clock,
            most_alive=_MOST_ALIVE,
        )
        jobs, pin = self._choices.jobs, self._choices.pin
        if self._cluster is None:
            return LocalExecutor(setup, jobs, pin=pin)
        return on_cluster(self._cluster, setup, self._config.entrants, bots, jobs=jobs, pin=pin)

    def _remember(self, bots: list[Bot], *, complete: bool) -> None:
        """Keep what the results mean, before the first of them."""
        self._folder.begin()
        remember(bots)
        self._store.set_meta(
            seed=asdict(self._seed),
            identity=identity(self._config, self._seed, bots),
            settings=msgspec.to_builtins(play_settings(self._config, self._seed)),
            facts=msgspec.to_builtins(
                as_played(self._facts(bots), self._store.meta("facts"), more=not complete)
            ),
            publish=self._config.publish.model_dump(),
            began=self._store.meta("began") or utc(),
            skipped=self._skipped,
            added=sorted(
                {*(self._store.meta("added") or ()), *(bot.name for bot in self._choices.added)}
            ),
            sealed=self._choices.sealed,
            versions=self._versions,
            stages=msgspec.to_builtins(self._all_stages()),
            complete=complete,
        )

    def _all_stages(self) -> tuple[Stage, ...]:
        """The stages of this tournament; none where the field has never changed."""
        return self._stages.stages if self._stages else ()

    def _facts(self, bots: list[Bot]) -> Facts:
        config = self._config
        rules = config.options.in_force()
        return Facts(
            name=config.name,
            game=config.game,
            rules=rules,
            differing=differing_rules(config.game, rules),
            limits=limits_line(config),
            protection=protection_line(self._launcher, self._config.limits),
            clock=make_clock(config.clock).describe(),
            version=__version__,
            rating=config.rating.constants(find_game(config.game).draw_probability),
            update=config.rating.updating,
            entrants=tuple(
                EntrantFacts(
                    name=bot.name,
                    language=bot.language,
                    author=bot.author,
                    hash=bot.hash,
                    executable=bot.executable,
                    rights=bot.rights.describe(),
                )
                for bot in bots
            ),
        )

    def _play(self, executor: Executor, bots: list[Bot]) -> None:
        if self._store.meta("complete") and self._seed.secret and not self._store.meta("sealed"):
            self._reporter.say(
                "note: the secret seed was shown when this tournament was complete: whoever saw it"
                " can compute the deals of the rounds to come"
            )
        self._retire_replaced()
        self._remember(bots, complete=False)
        self._store.set_meta(sandbox=self._sandbox)
        for bot in bots[len(self._before["bots"]) :] if self._before else ():
            self._reporter.say(f"{bot.name} joins, and first makes up for the rounds before")
        names = tuple(bot.name for bot in bots)
        enough = self._choices.enough
        planner = Planner(
            make_format(self._config, self._seed, names, self._all_stages()),
            self._store,
            self._config.match.duplicate,
            MOST_MATCHES if enough is None else _STEP,
        )
        progress = Progress(
            planner.total(),
            [Tally(name) for name in names],
            unit="deal" if self._config.match.duplicate else "match",
        )
        checkpoint.take_up(self._store, planner, progress)
        if there := self._store.count():
            self._reporter.say(f"continuing: {there:,} deals are stored already")
        self._progress = progress
        self._reporter.begin(progress)
        conductor = Conductor(executor, self._signals, self._reporter)
        rounds = conductor.play(planner, self._store, self._folder, progress, enough)
        if rounds is not None:  # then that is what the tournament was
            self._store.set_meta(identity={**self._store.meta("identity"), "rounds": rounds})
