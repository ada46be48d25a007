"""``tourney plan``: a preview of a tournament and an estimate of its duration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.options import ConfigFile, Jobs, Out, Seed

if TYPE_CHECKING:
    from tourney_runner.config import Config
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.process.sandbox.selection import Mode
    from tourney_runner.run.preview import Work

__all__ = ["plan"]


def plan(
    config: ConfigFile,
    *,
    out: Out = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Start no bots, and estimate no duration.")
    ] = False,
) -> None:
    """Show what would be played, and how long it would take.

    Bots are built and started for a few sample matches. Nothing of the tournament is played.
    """
    from tourney_runner.cli.terminal import stdout_console, tell
    from tourney_runner.config import load_config
    from tourney_runner.process.cores import available
    from tourney_runner.process.sandbox import choose, resolve
    from tourney_runner.run.preview import plan_lines, stored_so_far, work_left
    from tourney_runner.run.tournament_setup import draw_seed, protection_line
    from tourney_runner.text import counted

    loaded = load_config(config, seed=seed)
    trusted = all(bot.trusted for bot in loaded.entrants)
    sandbox = resolve(loaded.sandbox, trusted=trusted)
    launcher = choose(sandbox, trusted=trusted)
    folder = out or Path("results") / config.stem
    there = stored_so_far(folder)
    workers = jobs or available()
    console = stdout_console()
    for line in plan_lines(
        loaded,
        there.seed if loaded.seed is None else draw_seed(loaded, None),
        workers,
        protection=protection_line(launcher, loaded.limits),
        stages=there.stages,
        format_rules=there.format_rules,
    ):
        tell(console, line)
    if there.deals:
        tell(console, f"stored: {counted(there.deals, 'deal')} in {folder}")
    work = work_left(loaded, there)
    if work is None:
        tell(console, "duration: unknown, since the number of deals depends on their results")
    elif not work.matches:
        tell(console, "duration: none; everything is played")
    elif not quick:
        tell(console, f"duration: {_duration(loaded, launcher, sandbox, work, workers)}")


def _duration(config: Config, launcher: Launcher, sandbox: Mode, work: Work, jobs: int) -> str:
    """Measure the bots and return the range of the duration in words."""
    from tourney_runner.bots.staging import stage_all
    from tourney_runner.run.preview import duration, estimate, measure
    from tourney_runner.run.tournament_setup import draw_seed, play_settings, worker_setup

    bots, broken = stage_all(config.entrants, launcher=launcher, build_network=config.build_network)
    if broken:
        return f"unknown, since {next(iter(broken.values()))}"
    setup = worker_setup(config, play_settings(config, draw_seed(config, None)), bots, sandbox)
    low, high = estimate(measure(setup, config.options.players), work, jobs)
    return f"{duration(low)} to {duration(high)} (80 % range, from a sample of matches)"
