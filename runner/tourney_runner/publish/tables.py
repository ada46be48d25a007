"""The ranking as JSON, CSV, Markdown, LaTeX, plain text and as a table for the terminal.

Names are strangers' text, so each format escapes them in its own way. None of them holds
times, dates, paths, host or job data: the same deals give the same bytes everywhere.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import msgspec
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from tourney_runner.text import counted, is_control, without_controls

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.publish.summary import Ruling, Summary
    from tourney_runner.ratings.standings import Standing

__all__ = [
    "FORMATS",
    "as_csv",
    "as_json",
    "as_latex",
    "as_markdown",
    "as_text",
    "headline",
    "lines_below",
    "markdown",
    "no_formula",
    "terminal_table",
]


def as_json(summary: Summary) -> str:
    """The table for programs; floats are unrounded.

    Every entrant has a rank, so that rows can be sorted by it; who is disqualified has the last
    one, and the reason under ``disqualified``. Where the order of the last table is the result,
    that is there as ``last_table``, empty until then.
    """
    document = {
        "name": summary.facts.name,
        "game": summary.facts.game,
        "seed": summary.seed,
        "seed_sha256": summary.seed_sha256,
        "deals": summary.deals,
        "complete": summary.complete,
        **({"last_table": summary.final} if summary.last_table_decides else {}),
        "entrants": [
            msgspec.to_builtins(entrant) | _json_ruling(summary.ruling(entrant.name))
            for entrant in summary.entrants
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_csv(summary: Summary) -> str:
    """The table for spreadsheets; a name that looks like a formula is marked as text.

    The rank of a disqualified entrant is left empty.
    """
    players = max((len(entrant.places) for entrant in summary.entrants), default=0)
    kinds = _fault_kinds(summary)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["rank", "name", "mu", "sigma", "score", "deals", "points", "mean_place"]
        + [f"place_{place + 1}" for place in range(players)]
        + [f"faults_{kind}" for kind in kinds]
        + ["forfeits"]
        + (["ruling"] if summary.rulings else [])
    )
    for entrant in summary.entrants:
        places = [*entrant.places, *[0] * (players - len(entrant.places))]
        rank = "" if _is_out(summary, entrant) else entrant.rank
        writer.writerow(
            [rank, no_formula(entrant.name), entrant.mu, entrant.sigma, entrant.score]
            + [entrant.deals, entrant.points, entrant.mean_place]
            + places
            + [entrant.faults.get(kind, 0) for kind in kinds]
            + [entrant.forfeits]
            + ([no_formula(_ruling_words(summary, entrant.name))] if summary.rulings else [])
        )
    return file.getvalue()


def as_markdown(summary: Summary) -> str:
    """The table for a README or a chat."""
    head = ["rank", "bot", "score", "mu", "sigma", "deals", "points", "mean place", "faults"]
    lines = [
        f"# {markdown(summary.facts.name)}",
        "",
        headline(summary),
        "",
        f"| {' | '.join(head)} |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for entrant in summary.entrants:
        cells = _cells(summary, entrant)
        cells[1] = markdown(entrant.name)
        if _is_out(summary, entrant):
            cells[1] = f"~~{cells[1]}~~"
        lines.append(f"| {' | '.join(cells)} |")
    if below := lines_below(summary):
        lines += ["", *(f"* {markdown(line)}" for line in below)]
    return "\n".join(lines) + "\n"


def as_latex(summary: Summary) -> str:
    """The table for a paper: a ``tabular`` that needs no package."""
    head = [
        "rank",
        "bot",
        "score",
        "$\\mu$",
        "$\\sigma$",
        "deals",
        "points",
        "mean place",
        "faults",
    ]
    lines = [
        rf"% {without_controls(summary.facts.name)}: {headline(summary)}",
        r"\begin{tabular}{rlrrrrrrl}",
        r"\hline",
        rf"{' & '.join(head)} \\",
        r"\hline",
    ]
    lines += [
        rf"{' & '.join(_latex(cell) for cell in _cells(summary, entrant))} \\"
        for entrant in summary.entrants
    ]
    lines += [r"\hline", r"\end{tabular}"]
    lines += [rf"\par {_latex(line)}" for line in lines_below(summary)]
    return "\n".join(lines) + "\n"


def as_text(summary: Summary) -> str:
    """The table for a mail: letters, digits and spaces."""
    head = ["rank", "bot", "score", "mu", "sigma", "deals", "points", "mean place", "faults"]
    rows = [
        head,
        *(
            [without_controls(cell) for cell in _cells(summary, entrant)]
            for entrant in summary.entrants
        ),
    ]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(head))]
    lines = [f"{without_controls(summary.facts.name)}: {headline(summary)}", ""]
    for row in rows:
        cells = [
            _padded(cell, width, left=column in {1, 8})
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    if below := lines_below(summary):
        lines += ["", *map(without_controls, below)]
    return "\n".join(lines) + "\n"


def terminal_table(summary: Summary, *, narrow: bool = False) -> Table:
    """The table for a person at a terminal.

    Args:
        summary: The table.
        narrow: Whether to leave out the frame, whose lines take the room that names need.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True) if narrow else Table()
    table.add_column("rank", justify="right")
    table.add_column("bot", overflow="fold")
    for title in ("score", "mu", "sigma", "deals", "points", "mean place"):
        table.add_column(title, justify="right")
    table.add_column("faults")
    for entrant in summary.entrants:
        style = "strike dim" if _is_out(summary, entrant) else ""
        table.add_row(*map(Text, _cells(summary, entrant)), style=style)
    return table


def lines_below(summary: Summary) -> list[str]:
    """What a table does not say: what decides instead of it, and what was decided about bots."""
    result = _result(summary)
    return ([result] if result else []) + [
        f"{ruling.name} is {_ruling_words(summary, ruling.name)}"
        for ruling in dict.fromkeys(summary.ruling(ruling.name) for ruling in summary.rulings)
        if ruling is not None
    ]


def _result(summary: Summary) -> str:
    """Whose a tournament is whose last table decides."""
    if not summary.last_table_decides:
        return ""
    if not summary.final:
        return "this ranking, by rating over all deals, is not the result: the last table decides"
    winner, *others = summary.final
    won = f"{winner} has won the last table" + (f", before {', '.join(others)}" if others else "")
    return f"{won}; that is the result, and not this ranking by rating over all deals"


def _is_out(summary: Summary, entrant: Standing) -> bool:
    ruling = summary.ruling(entrant.name)
    return ruling is not None and ruling.kind == "disqualified"


def _json_ruling(ruling: Ruling | None) -> dict[str, str]:
    return {} if ruling is None else {ruling.kind: ruling.reason}


def _ruling_words(summary: Summary, name: str) -> str:
    ruling = summary.ruling(name)
    if ruling is None:
        return ""
    if ruling.kind == "disqualified":
        return f"disqualified: {ruling.reason}; deals at which it sat count for nobody"
    if ruling.kind == "benched":
        rounds = counted(ruling.from_round or 0, "round")
        return f"benched after {rounds}, and forfeits its deals unplayed: {ruling.reason}"
    if ruling.from_round is None:
        return f"withdrawn from {ruling.since} on: {ruling.reason}"
    return f"withdrawn, after {counted(ruling.from_round, 'round')}: {ruling.reason}"


def headline(summary: Summary) -> str:
    """The game, how much of it was played, and whether that is all."""
    state = "" if summary.complete else ", not complete"
    return f"{summary.facts.game}, {counted(summary.deals, 'deal')}{state}"


def _cells(summary: Summary, entrant: Standing) -> list[str]:
    """A row in words; who is disqualified has no rank."""
    place = "-" if entrant.mean_place is None else f"{entrant.mean_place:.3f}"
    faults = ", ".join(f"{kind} {count}" for kind, count in entrant.faults.items())
    if entrant.forfeits:
        faults += f"{' ' if faults else ''}(+ {entrant.forfeits} unplayed)"
    return [
        "-" if _is_out(summary, entrant) else str(entrant.rank),
        entrant.name,
        f"{entrant.score:.2f}",
        f"{entrant.mu:.2f}",
        f"{entrant.sigma:.2f}",
        f"{entrant.deals:,}",
        f"{entrant.points:,.10g}",
        place,
        faults or "-",
    ]


def _fault_kinds(summary: Summary) -> list[str]:
    return sorted({kind for entrant in summary.entrants for kind in entrant.faults})


_FORMULA = tuple("=+-@\t\r＝＋－＠")  # noqa: RUF001 - spreadsheets take the wide ones, too


def no_formula(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - cell_len(cell))
    return f"{cell}{space}" if left else f"{space}{cell}"


def markdown(text: str) -> str:
    """Text in which nothing is markup."""
    shown = "".join(c for c in text if not is_control(c))
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~&:@])", r"\\\1", shown)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def _latex(text: str) -> str:
    """Text in which nothing is a command."""
    return "".join(_LATEX.get(character, character) for character in without_controls(text))


FORMATS: tuple[tuple[str, str, Callable[[Summary], str]], ...] = (
    ("CSV", "standings.csv", as_csv),
    ("JSON", "standings.json", as_json),
    ("Markdown", "standings.md", as_markdown),
    ("LaTeX", "standings.tex", as_latex),
    ("plain text", "standings.txt", as_text),
)
"""Title, name of the file, and writer of each format that files have."""
