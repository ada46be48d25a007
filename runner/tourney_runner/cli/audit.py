"""``tourney audit``: what the organiser should look at."""

from __future__ import annotations

import typer

from tourney_runner.cli.options import Json, ResultsDir

__all__ = ["audit"]


def audit(folder: ResultsDir, *, json: Json = False) -> None:
    """Look for results that skill does not explain.

    For the organiser: bots that score better where another one sits, the advantage of each seat,
    scores of pairs against those that the ratings expect, cycles, void deals and thinking times of
    each bot. A line that begins with LOOK stands out after correction for the number of
    comparisons; in an honest tournament each section has one in at most 5 % of cases. It is a
    reason to look, not a proof. Nothing is written to the folder or published.
    """
    import msgspec

    from tourney_runner.audit.tournament_audit import audit as audit_folder
    from tourney_runner.audit.tournament_audit import audit_lines
    from tourney_runner.cli.terminal import write_exactly

    found = audit_folder(folder)
    if json:
        write_exactly(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        typer.echo("\n".join(audit_lines(found)))
