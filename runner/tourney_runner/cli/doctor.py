"""``tourney doctor``: the abilities of this machine, and how to get what it lacks."""

from __future__ import annotations

import typer

__all__ = ["doctor"]


def doctor() -> None:
    """Show which sandbox features work here.

    It also shows how to enable the rest, and the clock and cores of a run.
    """
    from tourney_runner.process.cores import available, claim
    from tourney_runner.process.fair_clock import make_clock
    from tourney_runner.process.sandbox import choose, probe, probe_groups

    for finding in (*probe(), probe_groups()):
        typer.echo(f"{finding.name}: {'works' if finding.works else 'does not work'}")
        typer.echo(f"  {finding.detail}")
        if finding.remedy:
            typer.echo(f"  to have it: {finding.remedy}")
    typer.echo(f"in use for `sandbox: auto`: {choose('auto', trusted=True).describe()}")
    clock = make_clock("fair")
    typer.echo(clock.describe())
    if clock.name != "fair":
        typer.echo("  the system does not count how long a process waits for a core, so a busy")
        typer.echo("  machine costs bots time: run nothing else beside a tournament")
    cores = claim(available())
    typer.echo(f"cores: {available()}, of which {len(cores)} are free for a run")
    for core in cores:
        core.release()
