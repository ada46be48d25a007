"""``tourney verify``: is a folder of results what it says it is?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from runner.bots import Bot
    from runner.process.sandbox import Mode

__all__ = ["add", "verify"]


def verify(  # noqa: PLR0913 - each is an option
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    *,
    deal: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Play this deal again, by its number; may be given more often."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=0, help="Play so many deals again.", show_default="10, if the bots are at hand"
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="A configuration that enters the same bots, if they are not cached."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=256, help="Workers.", show_default="one a core")
    ] = None,
    no_sandbox: Annotated[
        bool, typer.Option("--no-sandbox", help="Start bots with your own rights.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check the stored deals by schedule, rules and bots, and the published tables by the deals.

    Exit status 0 if all is as it should be, 1 if not.
    """
    import msgspec

    from runner.cli.terminal import write_exactly
    from runner.league.replaying import Workers, staged_by
    from runner.league.text import report_lines
    from runner.league.verify import Wanted
    from runner.league.verify import verify as verify_folder

    mode: Mode = "off" if no_sandbox else "auto"
    staged: list[Bot] = []
    if config is not None:
        from runner.config import load_config

        staged = staged_by(load_config(config, skip_broken=True), mode)
    wanted = Wanted(sample, tuple(deal or ()), Workers(jobs, mode))
    report = verify_folder(folder, wanted, staged)
    if json:
        document = {"passed": report.passed, **msgspec.to_builtins(report)}
        write_exactly(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
    else:
        typer.echo("\n".join(report_lines(report)))
    if not report.passed:
        raise typer.Exit(1)


def add(app: typer.Typer) -> None:
    """Put the command into the program."""
    app.command("verify")(verify)
