"""The ranking as JSON, CSV, Markdown, HTML and as a table for the terminal.

Names are strangers' text, so each format escapes them in its own way. The first three hold no
times, dates, paths, host or job data: the same deals give the same bytes everywhere.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

import msgspec
from jinja2 import Environment, PackageLoader
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from runner.publish.summary import Summary
    from runner.ratings.standings import Standing

__all__ = ["as_csv", "as_html", "as_json", "as_markdown", "headline", "terminal_table"]


def as_json(summary: Summary) -> str:
    """The table for programs; floats are unrounded."""
    document = {
        "name": summary.facts.name,
        "game": summary.facts.game,
        "seed": summary.seed,
        "seed_sha256": summary.seed_sha256,
        "deals": summary.deals,
        "complete": summary.complete,
        "entrants": [msgspec.to_builtins(entrant) for entrant in summary.entrants],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_csv(summary: Summary) -> str:
    """The table for spreadsheets; a name that looks like a formula is marked as text."""
    players = max((len(entrant.places) for entrant in summary.entrants), default=0)
    kinds = _fault_kinds(summary)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["rank", "name", "mu", "sigma", "score", "deals", "points", "mean_place"]
        + [f"place_{place + 1}" for place in range(players)]
        + [f"faults_{kind}" for kind in kinds]
    )
    for entrant in summary.entrants:
        places = [*entrant.places, *[0] * (players - len(entrant.places))]
        writer.writerow(
            [entrant.rank, _no_formula(entrant.name), entrant.mu, entrant.sigma, entrant.score]
            + [entrant.deals, entrant.points, entrant.mean_place]
            + places
            + [entrant.faults.get(kind, 0) for kind in kinds]
        )
    return file.getvalue()


def as_markdown(summary: Summary) -> str:
    """The table for a README or a chat."""
    head = ["rank", "bot", "score", "mu", "sigma", "deals", "points", "mean place", "faults"]
    lines = [
        f"# {_markdown(summary.facts.name)}",
        "",
        headline(summary),
        "",
        f"| {' | '.join(head)} |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for entrant in summary.entrants:
        cells = _cells(entrant)
        cells[1] = _markdown(entrant.name)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_html(summary: Summary) -> str:
    """The table as a page of its own that needs nothing else."""
    environment = Environment(
        loader=PackageLoader("runner.publish"), autoescape=True, trim_blocks=True
    )
    template = environment.get_template("index.html")
    return template.render(
        summary=summary,
        headline=headline(summary),
        rows=[(_cells(entrant), entrant) for entrant in summary.entrants],
        facts=_facts(summary),
    )


def terminal_table(summary: Summary) -> Table:
    """The table for a person at a terminal."""
    table = Table()
    table.add_column("rank", justify="right")
    table.add_column("bot", overflow="fold")
    for title in ("score", "mu", "sigma", "deals", "points", "mean place"):
        table.add_column(title, justify="right")
    table.add_column("faults")
    for entrant in summary.entrants:
        table.add_row(*map(Text, _cells(entrant)))
    return table


def headline(summary: Summary) -> str:
    """The game, how much of it was played, and whether that is all."""
    state = "" if summary.complete else ", not complete"
    return f"{summary.facts.game}, {summary.deals:,} deals{state}"


def _cells(entrant: Standing) -> list[str]:
    place = "-" if entrant.mean_place is None else f"{entrant.mean_place:.3f}"
    faults = ", ".join(f"{kind} {count}" for kind, count in entrant.faults.items())
    return [
        str(entrant.rank),
        entrant.name,
        f"{entrant.score:.2f}",
        f"{entrant.mu:.2f}",
        f"{entrant.sigma:.2f}",
        f"{entrant.deals:,}",
        f"{entrant.points:,.10g}",
        place,
        faults or "-",
    ]


def _facts(summary: Summary) -> list[tuple[str, Any]]:
    facts = summary.facts
    rules = ", ".join(f"{key}: {json.dumps(value)}" for key, value in facts.differing.items())
    seed = f"secret for now; SHA-256 {summary.seed_sha256}"
    return [
        ("rules that differ", rules or "none"),
        ("limits", facts.limits),
        ("protection", facts.protection),
        ("clock", facts.clock),
        ("seed", seed if summary.seed is None else summary.seed),
        ("played with", f"tourney {facts.version}"),
    ]


def _fault_kinds(summary: Summary) -> list[str]:
    return sorted({kind for entrant in summary.entrants for kind in entrant.faults})


def _no_formula(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def _markdown(text: str) -> str:
    """Text in which nothing is markup."""
    plain = "".join(c for c in text if unicodedata.category(c) not in {"Cc", "Cf"})
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~&:@])", r"\\\1", plain)
