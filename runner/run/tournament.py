"""A whole tournament: from a configuration to a folder of results."""

from __future__ import annotations

import shlex
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

import msgspec

from runner import __version__
from runner.errors import Interrupted, UsageError
from runner.games.registry import game as find_game
from runner.process.fair import make_clock
from runner.process.launcher import PlainLauncher
from runner.publish.files import write_files
from runner.publish.summary import EntrantFacts, Facts, summarise
from runner.results.store import Store
from runner.run.conductor import Conductor
from runner.run.cores import available
from runner.run.folder import ResultsFolder
from runner.run.identity import check_same
from runner.run.local import LocalExecutor
from runner.run.plan import differing_rules, limits_line, plan_lines
from runner.run.planner import Planner
from runner.run.prepare import (
    Seed,
    draw_seed,
    identity,
    make_format,
    play_settings,
    specs,
    stage_all,
)
from runner.run.progress import Progress, Tally
from runner.run.signals import StopSignals
from runner.run.wire import Setup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.bots import Bot
    from runner.config import Config
    from runner.publish.summary import Summary
    from runner.run.progress import Reporter
    from runner.run.wire import Checked

__all__ = ["RunChoices", "run"]

_MOST_ALIVE = 64
"""Bots that one worker keeps; each may hold tens of megabytes."""


@dataclass(frozen=True)
class RunChoices:
    """How to run, as opposed to what."""

    folder: Path
    again: str
    """The command that continues, for messages."""
    jobs: int | None = None
    """Workers; one a core if None."""
    pin: bool = True
    fresh: bool = False
    skip_broken: bool = False


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
        try:
            _Run(config, choices, reporter, signals).over(folder, store).go()
        except Interrupted as error:
            message = (
                "interrupted: finished deals are kept, unfinished ones are void. To continue:\n"
                f"  {choices.again}"
            )
            raise Interrupted(message, error.signal_number) from error
        finally:
            reporter.end()
        summary = summarise(store)
        write_files(folder.path, summary)
        return summary


class _Run:
    """One run over one open folder."""

    def __init__(
        self, config: Config, choices: RunChoices, reporter: Reporter, signals: StopSignals
    ) -> None:
        self._config = config
        self._choices = choices
        self._reporter = reporter
        self._signals = signals

    def over(self, folder: ResultsFolder, store: Store) -> Self:
        """Take up the folder, with the seed that it keeps."""
        self._folder = folder
        self._store = store
        kept = store.meta("seed")
        self._seed = draw_seed(self._config, None if kept is None else Seed(**kept))
        return self

    def go(self) -> None:
        """All steps in their order."""
        bots = self._without(stage_all(self._config.entrants), self._store.meta("skipped") or [])
        self._compare(bots)
        if self._finished():
            self._remember(bots)
            return
        self._announce()
        executor = self._executor(bots)
        try:
            conductor = Conductor(executor, self._signals, self._reporter)
            self._signals.defer()
            broken = _broken(conductor.check(len(bots)), bots)
            if broken:
                executor.close()
                bots = self._skip(bots, broken)
                executor = self._executor(bots)
                conductor = Conductor(executor, self._signals, self._reporter)
            self._remember(bots)
            self._play(conductor, bots)
            executor.close()
        except BaseException:
            executor.kill()
            raise
        self._store.set_meta("complete", value=True)

    def _announce(self) -> None:
        jobs = self._choices.jobs or available()
        protection = PlainLauncher().describe()
        for line in plan_lines(self._config, self._seed, jobs, protection=protection):
            self._reporter.say(line)

    def _without(self, bots: list[Bot], names: Sequence[str]) -> list[Bot]:
        left = [bot for bot in bots if bot.name not in names]
        return [msgspec.structs.replace(bot, number=number) for number, bot in enumerate(left)]

    def _compare(self, bots: list[Bot]) -> None:
        before = self._store.meta("identity")
        if before is not None:
            check_same(self._folder.path, before, identity(self._config, self._seed, bots))
            rounds = self._store.meta("rounds")
            if (rounds or 0) > (self._config.schedule.rounds or 0):
                raise UsageError(
                    f"{self._folder.path}: {rounds} rounds were planned here and only"
                    f" {self._config.schedule.rounds} are configured now; rounds may only grow"
                )

    def _finished(self) -> bool:
        return bool(self._store.meta("complete")) and (
            self._store.meta("rounds") == self._config.schedule.rounds
        )

    def _executor(self, bots: list[Bot]) -> LocalExecutor:
        setup = Setup(
            version=__version__,
            settings=play_settings(self._config, self._seed),
            bots=specs(bots),
            launcher="plain",
            clock=self._config.clock,
            most_alive=_MOST_ALIVE,
        )
        return LocalExecutor(setup, self._choices.jobs or available(), pin=self._choices.pin)

    def _skip(self, bots: list[Bot], broken: dict[str, str]) -> list[Bot]:
        """Leave out bots that cannot start, if that was asked for."""
        reasons = "\n".join(broken.values())
        if not self._choices.skip_broken:
            raise UsageError(
                f"{reasons}\nNothing was played. Mend it, or give --skip-broken to leave it out."
            )
        if self._store.meta("identity") is not None:
            raise UsageError(
                f"{reasons}\nIt has played here before, so it cannot be left out now. Mend it to"
                " continue, or give --fresh to begin again without it."
            )
        self._reporter.say(f"{reasons}\nleft out, as --skip-broken says")
        left = self._without(bots, list(broken))
        players = self._config.options.players
        if len(left) < players:
            raise UsageError(f"{len(left)} bots are left, too few for a table of {players}")
        self._store.set_meta("skipped", sorted(broken))
        return left

    def _remember(self, bots: list[Bot]) -> None:
        """Keep what the results mean, before the first of them."""
        store, config = self._store, self._config
        store.set_meta("seed", asdict(self._seed))
        store.set_meta("identity", identity(config, self._seed, bots))
        store.set_meta("rounds", config.schedule.rounds)
        store.set_meta("settings", msgspec.to_builtins(play_settings(config, self._seed)))
        store.set_meta("facts", msgspec.to_builtins(self._facts(bots)))

    def _facts(self, bots: list[Bot]) -> Facts:
        config = self._config
        rules = config.options.in_force()
        draw = config.rating.draw_probability or find_game(config.game).draw_probability
        return Facts(
            name=config.name,
            game=config.game,
            rules=rules,
            differing=differing_rules(config.game, rules),
            limits=limits_line(config),
            protection=PlainLauncher().describe(),
            clock=make_clock(config.clock).describe(),
            version=__version__,
            rating=config.rating.model_dump() | {"draw_probability": draw},
            entrants=tuple(
                EntrantFacts(bot.name, bot.language, bot.author, bot.hash, bot.executable)
                for bot in bots
            ),
        )

    def _play(self, conductor: Conductor, bots: list[Bot]) -> None:
        names = tuple(bot.name for bot in bots)
        planner = Planner(
            make_format(self._config, self._seed, names), self._store, self._config.match.duplicate
        )
        progress = Progress(planner.total(), [Tally(name) for name in names])
        self._store.set_meta("complete", value=False)
        self._reporter.begin(progress)
        conductor.play(planner, self._store, self._folder, progress)


def _broken(checked: list[Checked], bots: list[Bot]) -> dict[str, str]:
    """Why bots cannot start, by name."""
    broken: dict[str, str] = {}
    for outcome in checked:
        if outcome.ready is None:
            bot = bots[outcome.entrant]
            stderr = outcome.stderr.strip() or "(nothing)"
            indented = "\n".join(f"    {line}" for line in stderr.splitlines()[-20:])
            broken[bot.name] = (
                f"the bot {bot.name!r} cannot start: {outcome.cause}\n"
                f"  command: {shlex.join(bot.command)}\n  in: {bot.folder}\n"
                f"  its stderr:\n{indented}"
            )
    return broken
