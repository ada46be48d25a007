"""``tourney replay``: one stored deal, move by move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tourney_runner.cli.options import ResultsDir

if TYPE_CHECKING:
    from tourney_runner.replay.refeed import Stored
    from tourney_runner.results.store import Store

__all__ = ["replay"]


def replay(  # noqa: PLR0913 - each is an option
    folder: ResultsDir,
    deal: Annotated[
        str | None,
        typer.Argument(
            metavar="[DEAL]",
            help="Its number in the order of the schedule, as on the pages, or its name in the"
            " logs: round.match.deal.",
            show_default=False,
        ),
    ] = None,
    *,
    last_fault: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Show the last deal in which this bot failed, from that move on."
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Show what the bot in this seat, from 0, saw and was sent."
        ),
    ] = None,
    feed: Annotated[
        Path | None,
        typer.Option(
            metavar="BOT", help="Send this bot the seat's requests; show answers that differ."
        ),
    ] = None,
    lines: Annotated[
        bool,
        typer.Option("--lines", help="Print the lines that the bot of the seat was sent."),
    ] = False,
    legal: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="The legal plays in these lines: none, canonical or all.",
            show_default="canonical",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it as a self-contained page."),
    ] = None,
    debug: Annotated[
        bool | None,
        typer.Option("--debug/--no-debug", help="Whether the page shows the bots' debug notes."),
    ] = None,
) -> None:
    """Show a stored deal again, move by move.

    In a terminal you step through it; elsewhere all moves are printed.
    With --seat N --lines > in.jsonl you get a file to run a bot with by hand: bot < in.jsonl
    """
    from contextlib import closing

    from tourney_runner.cli.deal_ids import deal_number
    from tourney_runner.errors import UsageError
    from tourney_runner.replay.stepper import last_fault as find_fault
    from tourney_runner.replay.stepper import seat_of, stored_deal
    from tourney_runner.results.store import FILE_NAME, Store

    _refuse_contradictions(
        {"DEAL": deal, "--last-fault": last_fault},
        {"--html": html, "--seat": seat},
        {"--html": html, "--feed": feed},
        {"--html": html, "--lines": lines or None},
        {"--feed": feed, "--lines": lines or None},
    )
    if legal is not None and not lines:
        raise UsageError("--legal is for the lines that a bot was sent: give --lines as well")
    if html is None and debug is not None:
        raise UsageError("--debug and --no-debug are for a page: give --html as well")
    with closing(Store(folder / FILE_NAME)) as store:
        failed_seat = None
        if last_fault is not None:
            number, failed_seat = find_fault(store, last_fault)
        elif deal is not None:
            number = deal_number(store, deal)
        else:
            raise UsageError("name a deal by its number, or a bot with --last-fault")
        if html is not None:
            _page(store, number, html, debug=debug)
            return
        stored = stored_deal(store, number)
        if seat is not None:
            seat_of(stored, seat)
    if lines:
        _print_lines(stored, _chosen_seat(seat, failed_seat), legal or "canonical")
    elif feed is None:
        _show(stored, number, seat, failed_seat)
    else:
        _feed(stored, _chosen_seat(seat, failed_seat), feed)


def _refuse_contradictions(*pairs: dict[str, object]) -> None:
    """Refuse two options that cannot both be meant; a pair has their values by their names."""
    from tourney_runner.errors import UsageError

    for pair in pairs:
        if None not in pair.values():
            raise UsageError(f"{' and '.join(pair)} contradict each other; leave one of them out")


def _page(store: Store, deal: int, path: Path, *, debug: bool | None) -> None:
    from tourney_runner.atomic_write import write_whole
    from tourney_runner.publish.publish_options import kept_choices
    from tourney_runner.publish.replay_builder import replay_page

    write_whole(path, replay_page(store, deal, kept_choices(store, debug=debug)))
    typer.echo(f"the replay: {path}")


def _show(stored: Stored, deal: int, seat: int | None, failed_seat: int | None) -> None:
    import sys

    from rich.console import Console

    from tourney_runner.cli.terminal import console_for_people
    from tourney_runner.replay.stepper import Stepper

    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    console = console_for_people() if interactive else Console(width=100, highlight=False)
    whose = "" if seat is None else f", as {stored.names[seat]} in seat {seat} saw it"
    name = f"deal {deal} ({stored.record.key.name} in the logs)"
    stepper = Stepper(stored, seat, console, f"{name}: {', '.join(stored.names)}{whose}")
    if interactive:
        stepper.run(failed_seat)
    else:
        stepper.print_all()


def _chosen_seat(seat: int | None, failed_seat: int | None) -> int:
    """Return the seat that was chosen."""
    from tourney_runner.errors import UsageError

    chosen = failed_seat if seat is None else seat
    if chosen is None:
        raise UsageError("the requests of one seat are shown: give --seat as well")
    return chosen


def _print_lines(stored: Stored, seat: int, legal: str) -> None:
    import sys
    from typing import get_args

    from tourney_runner.errors import UsageError
    from tourney_runner.replay.refeed import LegalMode, lines_of_seat
    from tourney_runner.text import listed, shown

    for mode in get_args(LegalMode):
        if legal == mode:
            sys.stdout.buffer.write(lines_of_seat(stored, seat, mode))
            sys.stdout.buffer.flush()
            return
    modes = listed(get_args(LegalMode), "or")
    raise UsageError(f"--legal {shown(legal)}: expected {modes}")


def _feed(stored: Stored, seat: int, bot: Path) -> None:
    from tourney_runner.botcheck.check_settings import protection, stage_bot, tidy
    from tourney_runner.config import read_bot
    from tourney_runner.errors import UsageError
    from tourney_runner.play.faults import Fault, HostFailureError
    from tourney_runner.replay.refeed import Differences, compare, summary_line

    entrant = read_bot(bot)
    launcher = protection().launcher
    differences = Differences()
    with tidy():
        staged = stage_bot(entrant, launcher, seat)
        try:
            compared = compare(
                stored,
                seat,
                staged,
                launcher,
                lambda one: typer.echo("\n".join(differences.lines(one))),
            )
        except (Fault, HostFailureError) as error:
            raise UsageError(f"{bot}: {error}") from error
    typer.echo(summary_line(compared, stored.names[seat]))
