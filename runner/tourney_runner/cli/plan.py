"""``tourney plan``: what a configuration would play."""

from __future__ import annotations

from tourney_runner.cli.options import ConfigFile, Jobs, Seed

__all__ = ["plan"]


def plan(
    config: ConfigFile,
    *,
    seed: Seed = None,
    jobs: Jobs = None,
) -> None:
    """Show what would be played; play nothing."""
    from tourney_runner.cli.terminal import stdout_console, tell
    from tourney_runner.config import load_config
    from tourney_runner.process.cores import available
    from tourney_runner.process.sandbox import choose
    from tourney_runner.run.preview import plan_lines
    from tourney_runner.run.tournament_setup import draw_seed, protection_line

    loaded = load_config(config, seed=seed)
    launcher = choose(loaded.sandbox, trusted=all(bot.trusted for bot in loaded.entrants))
    lines = plan_lines(
        loaded,
        None if loaded.seed is None else draw_seed(loaded, None),
        jobs or available(),
        protection=protection_line(launcher, loaded.limits),
    )
    console = stdout_console()
    for line in lines:
        tell(console, line)
