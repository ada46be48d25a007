"""``tourney verify``: check a folder of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.options import Jobs, Json, NoSandbox, ResultsDir, SameBots, whole_number

if TYPE_CHECKING:
    from tourney_runner.play.bot import Bot
    from tourney_runner.process.sandbox import Mode

__all__ = ["verify"]


def verify(  # noqa: PLR0913 - each is an option
    folder: ResultsDir,
    *,
    deal: Annotated[
        list[str] | None,
        typer.Option(metavar="DEAL", help="Play this deal again; the option may be repeated."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole_number(0, 1_000_000_000),
            help="Play this many deals again.",
            show_default="10, if the bots are at hand",
        ),
    ] = None,
    config: SameBots = None,
    jobs: Jobs = None,
    no_sandbox: NoSandbox = False,
    json: Json = False,
) -> None:
    """Check stored deals and published tables.

    Deals are checked against the schedule, the rules and the bots, and tables against the deals. A
    site without the results is only checked for consistency. Exit status 0 if everything is right,
    1 if not.
    """
    import msgspec

    from tourney_runner.cli.deal_ids import deal_numbers
    from tourney_runner.cli.terminal import write_exactly
    from tourney_runner.errors import UsageError
    from tourney_runner.results.store import FILE_NAME
    from tourney_runner.verify.bots_check import Workers, staged_by
    from tourney_runner.verify.report import report_lines
    from tourney_runner.verify.site_check import site_in, verify_site
    from tourney_runner.verify.verification import Wanted
    from tourney_runner.verify.verification import verify as verify_folder

    mode: Mode | None = "off" if no_sandbox else None
    site = None if (folder / FILE_NAME).exists() else site_in(folder)
    if site is not None:
        if deal or sample or config is not None:
            raise UsageError(
                f"{site}: a site has no deals to play again; leave --deal, --sample and --config"
                f" out, or give the folder with {FILE_NAME}"
            )
        report = verify_site(site)
    else:
        staged: list[Bot] = []
        if config is not None:
            from tourney_runner.config import load_config

            staged = staged_by(load_config(config, skip_broken=True), mode)
        wanted = Wanted(sample, deal_numbers(folder, deal or ()), Workers(jobs, mode))
        report = verify_folder(folder, wanted, staged)
    if json:
        document = {"passed": report.passed, **msgspec.to_builtins(report)}
        write_exactly(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
    else:
        typer.echo("\n".join(report_lines(report)))
    if not report.passed:
        raise typer.Exit(1)
