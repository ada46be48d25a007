"""The ranking as JSON, CSV, Markdown, HTML, LaTeX, plain text and as a table for the terminal.

Names are untrusted text, so each format escapes them in its own way. None of the formats contains
times, dates, paths, or data about the host or its jobs: the same deals give the same bytes
everywhere.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
from markupsafe import escape
from msgspec import UNSET
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from tourney_runner.publish.columns import Column, columns, ruling_words
from tourney_runner.publish.documents import TABLE_FORMAT, StandingsDocument, StandingsRow
from tourney_runner.publish.latex_text import MACRO, latex_text
from tourney_runner.ratings.table import LEAST_MATCHES
from tourney_runner.text import counted, is_control, without_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tourney_runner.publish.summary import Summary
    from tourney_runner.ratings.table import Adjacent, Standing

__all__ = [
    "FORMATS",
    "as_csv",
    "as_html",
    "as_json",
    "as_latex",
    "as_markdown",
    "as_text",
    "claims",
    "headline",
    "lines_below",
    "markdown",
    "standings_document",
    "terminal_table",
]


_FORMAT = f"tourney table, format version {TABLE_FORMAT}"
_FRAMED = 100
"""The width of a terminal, in characters, from which the table has a frame."""


def _for_people(summary: Summary) -> list[tuple[Column, Callable[[Standing], str]]]:
    """Return the columns that have a text, with that text."""
    return [(column, column.text) for column in columns(summary) if column.text is not None]


def standings_document(summary: Summary) -> StandingsDocument:
    """Return the table for programs."""
    table = summary.table
    return StandingsDocument(
        format_version=TABLE_FORMAT,
        name=summary.facts.name,
        game=summary.facts.game,
        seed=summary.seed,
        seed_sha256=summary.seed_sha256,
        sealed=summary.sealed,
        later_seeds=summary.later_seeds or UNSET,
        deals=summary.deals,
        complete=summary.complete,
        last_table=summary.final if summary.last_table_decides else UNSET,
        winners=summary.final[: summary.winners] if summary.winners > 1 else UNSET,
        rank_by=table.rank_by,
        anchor=table.anchor or UNSET,
        converged=table.converged,
        too_little_data=table.too_little_data,
        too_close=table.too_close,
        notes=tuple(lines_below(summary)),
        entrants=tuple(_row(summary, entrant) for entrant in summary.entrants),
    )


def _row(summary: Summary, standing: Standing) -> StandingsRow:
    ruling = summary.ruling(standing.name)
    about: dict[str, Any] = {} if ruling is None else {ruling.kind: ruling.reason}
    return StandingsRow(**msgspec.structs.asdict(standing), **about)


def as_json(summary: Summary) -> str:
    """Return the table for programs; floats are unrounded.

    Every entrant has a rank, so that rows can be sorted by it. A disqualified one has the last
    rank, and the reason under ``disqualified``. If the order of the last table is the result, it is
    under ``last_table``, which is empty until then.
    """
    document = msgspec.to_builtins(standings_document(summary))
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


_OF_ALL = frozenset({"name", "status", "ruling", "format_version"})
"""The cells of CSV that a disqualified bot has, too."""


def as_csv(summary: Summary) -> str:
    """Return the table for spreadsheets; a name that looks like a formula is marked as text.

    The numbers of a disqualified entrant are left empty, as on the page.
    """
    values = {
        heading: value for column in columns(summary) for heading, value in column.values.items()
    }
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(values)
    for entrant in summary.entrants:
        out = entrant.status == "disqualified"
        writer.writerow(
            "" if out and heading not in _OF_ALL else value(entrant)
            for heading, value in values.items()
        )
    return file.getvalue()


def as_markdown(summary: Summary) -> str:
    """Return the table for a README or a chat."""
    shown = _for_people(summary)
    lines = [
        f"# {markdown(summary.facts.name)}",
        "",
        headline(summary),
        "",
        f"| {' | '.join(column.title for column, _ in shown)} |",
        f"|{'|'.join('---' if column.left else '---:' for column, _ in shown)}|",
    ]
    for entrant in summary.entrants:
        cells = [_markdown_cell(column, text(entrant)) for column, text in shown]
        if entrant.status == "disqualified":
            cells[1] = f"~~{cells[1]}~~"
        lines.append(f"| {' | '.join(cells)} |")
    if below := lines_below(summary):
        lines += ["", *(f"* {markdown(line)}" for line in below)]
    lines += ["", f"<!-- {_FORMAT} -->"]
    return "\n".join(lines) + "\n"


def as_latex(summary: Summary) -> str:
    """Return the table for a paper: a ``tabular`` that needs no package."""
    shown = [(column, text) for column, text in _for_people(summary) if column.in_latex]
    lines = [
        f"% {latex_text(summary.facts.name)}: {headline(summary)}",
        f"% {_FORMAT}",
        MACRO,
        r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{{''.join('l' if column.left else 'r' for column, _ in shown)}}}",
        r"\hline",
        rf"{' & '.join(column.heading for column, _ in shown)} \\",
        r"\hline",
    ]
    lines += [
        rf"{' & '.join(latex_text(text(entrant)) for _, text in shown)} \\"
        for entrant in summary.entrants
    ]
    lines += [r"\hline", r"\end{tabular}"]
    lines += [rf"\par {latex_text(line)}" for line in lines_below(summary)]
    return "\n".join([*lines, r"\par\endgroup"]) + "\n"


def as_html(summary: Summary) -> str:
    """Return the table as a piece of HTML for another page: without styles, scripts and links."""
    shown = _for_people(summary)
    heads = "".join(f'<th scope="col">{escape(column.title)}</th>' for column, _ in shown)
    name = escape(without_controls(summary.facts.name))
    lines = [
        f"<!-- {_FORMAT} -->",
        '<table class="tourney-standings">',
        f"<caption><bdi>{name}</bdi>: {escape(headline(summary))}</caption>",
        f"<thead><tr>{heads}</tr></thead>",
        "<tbody>",
    ]
    for entrant in summary.entrants:
        cells = [
            f"<td><bdi>{escape(without_controls(text(entrant)))}</bdi></td>"
            if column.key == "name"
            else f"<td>{escape(text(entrant))}</td>"
            for column, text in shown
        ]
        kind = ' class="disqualified"' if entrant.status == "disqualified" else ""
        lines.append(f"<tr{kind}>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>"]
    if below := lines_below(summary):
        items = "".join(f"<li>{escape(without_controls(line))}</li>" for line in below)
        lines.append(f'<ul class="tourney-notes">{items}</ul>')
    return "\n".join(lines) + "\n"


def as_text(summary: Summary) -> str:
    """Return the table for an e-mail, as plain text."""
    shown = _for_people(summary)
    rows = [
        [column.title for column, _ in shown],
        *([without_controls(text(entrant)) for _, text in shown] for entrant in summary.entrants),
    ]
    widths = [max(cell_len(row[at]) for row in rows) for at in range(len(shown))]
    lines = [f"{without_controls(summary.facts.name)}: {headline(summary)}", ""]
    for row in rows:
        cells = [
            _padded(cell, width, left=column.left)
            for (column, _), cell, width in zip(shown, row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    if below := lines_below(summary):
        lines += ["", *map(without_controls, below)]
    return "\n".join(lines) + "\n"


def terminal_table(summary: Summary, width: int) -> Table:
    """Return the table for a terminal.

    Args:
        summary: The table.
        width: The width of the terminal. A narrow one has no frame and fewer columns.
    """
    narrow = width < _FRAMED
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True) if narrow else Table()
    shown = [(column, text) for column, text in _for_people(summary) if column.from_width <= width]
    for column, _ in shown:
        if column.key == "name":
            table.add_column(column.title, overflow="fold")
        else:
            table.add_column(column.title, justify="left" if column.left else "right")
    for entrant in summary.entrants:
        style = {"disqualified": "strike dim", "provisional": "dim", "reference": "italic"}
        cells = [Text(text(entrant)) for _, text in shown]
        table.add_row(*cells, style=style.get(entrant.status, ""))
    return table


def lines_below(summary: Summary) -> list[str]:
    """Return the lines below the table: the result, how certain it is, and the rulings."""
    result = _result(summary)
    rulings = dict.fromkeys(summary.ruling(ruling.name) for ruling in summary.rulings)
    return [
        *([result] if result else []),
        *summary.remarks,
        *claims(summary),
        *(
            f"{ruling.name} is {ruling_words(summary, ruling.name)}"
            for ruling in rulings
            if ruling is not None
        ),
    ]


def _result(summary: Summary) -> str:
    """Describe the result if the last table decides it, else return an empty text."""
    if not summary.last_table_decides:
        return ""
    if not summary.final:
        return "this ranking, by rating over all deals, is not the result: the last table decides"
    winners, others = summary.final[: summary.winners], summary.final[summary.winners :]
    won = (
        f"{winners[0]} has won the last table"
        if len(winners) == 1
        else f"{', '.join(winners)} share the first place at the last table"
    )
    won += f", before {', '.join(others)}" if others else ""
    return f"{won}; that is the result, and not this ranking by rating over all deals"


def claims(summary: Summary) -> list[str]:
    """Return how certain the table is, and why some bots are not ranked among the others."""
    sure = () if summary.last_table_decides else _certainty(summary)
    return [*sure, *_statuses(summary)]


def _certainty(summary: Summary) -> Iterator[str]:
    """Yield warnings about how far the order of the table can be trusted."""
    table = summary.table
    if not table.deals:
        return
    if not table.converged:
        yield (
            "The ratings did not converge: parts of the field are connected by few deals, and the"
            " differences between them are too small here."
        )
    if table.too_little_data:
        yield (
            f"There is too little data: intervals and rank ranges need {LEAST_MATCHES} independent"
            " matches a bot."
        )
    elif table.too_close:
        yield _too_close(table.too_close)


def _too_close(pairs: tuple[Adjacent, ...]) -> str:
    what = "1 adjacent pair is" if len(pairs) == 1 else f"{len(pairs)} adjacent pairs are"
    needed = [pair.more_rounds for pair in pairs if pair.more_rounds is not None]
    if not needed:
        return f"{what} too close to call. More rounds would hardly change that."
    which = "it" if len(pairs) == 1 else "the closest of them"
    rounds = counted(min(needed), "more round")
    return f"{what} too close to call. About {rounds} would separate {which} with even odds."


def _statuses(summary: Summary) -> Iterator[str]:
    """Yield why some bots are not ranked among the others."""
    provisional = [row for row in summary.entrants if row.status == "provisional"]
    if provisional:
        names = ", ".join(f"{row.name} ({row.matches})" for row in provisional)
        least = summary.table.provisional_below
        yield f"Provisional, with fewer than {least} independent matches: {names}"
    references = ", ".join(row.name for row in summary.entrants if row.status == "reference")
    if references:
        yield f"Measured against the field and not ranked in it: {references}"
    yield from _anchor_words(summary)
    facts = summary.facts
    if facts.own_times:
        yield f"Bots with time limits of their own: {facts.own_times}"
    for change in facts.time_changes:
        yield f"Changed {facts.described(change)}. Reason: {change.reason}"


def _anchor_words(summary: Summary) -> Iterator[str]:
    """Yield the scale of the ratings, if a bot fixes it."""
    wanted, anchor = summary.facts.anchor, summary.table.anchor
    if wanted is None or not summary.deals:
        return
    if anchor is None:
        yield (
            f"The ratings are not anchored: no deals of {wanted.name} count, whose rating is fixed."
        )
        return
    row = next(row for row in summary.entrants if row.name == anchor.name)
    if row.interval is None:
        matches = counted(row.matches, "match", "matches")
        why = f"there are no intervals, since it has only {matches}"
    else:
        why = "the intervals are those of the differences from it"
    yield f"Ratings are anchored: {anchor.name} has {anchor.mu:g} by definition, and {why}."


def headline(summary: Summary) -> str:
    """Return the game, the number of deals, and whether the tournament is complete."""
    state = "" if summary.complete else ", not complete"
    return f"{summary.facts.game}, {counted(summary.deals, 'deal')}{state}"


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - cell_len(cell))
    return f"{cell}{space}" if left else f"{space}{cell}"


def _markdown_cell(column: Column, text: str) -> str:
    """Return a cell; numbers stay readable as they are, and only names are a stranger's text."""
    return markdown(text) if column.key == "name" else text.replace("<", r"\<")


def markdown(text: str) -> str:
    """Return text in which all markup is escaped.

    Forges also look for mentions (``@name``), issues (``#1``, ``!1``), labels and emoji in the text
    that is left, so an empty comment stands between such a mark and what follows it.
    """
    shown = "".join(c for c in text if not is_control(c))
    escaped = re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~&:@$%^])", r"\\\1", shown)
    return re.sub(r"(\\[@#!$%&:~^])(?=\w|\\[-+_])", r"\1<!-- -->", escaped)


FORMATS: tuple[tuple[str, str, Callable[[Summary], str]], ...] = (
    ("CSV", "standings.csv", as_csv),
    ("JSON", "standings.json", as_json),
    ("Markdown", "standings.md", as_markdown),
    ("HTML", "standings.html", as_html),
    ("LaTeX", "standings.tex", as_latex),
    ("plain text", "standings.txt", as_text),
)
"""The title, the file name and the writer of each file format."""
