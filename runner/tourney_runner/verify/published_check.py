"""A check of published tables and pages against the stored deals.

Files that this version of the program wrote are generated again and compared. For files of another
version, numbers are parsed from the visible text and compared by the names of their columns, since
a later version may have other columns, words or styles.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tourney_runner.publish.publish_options import PublishChoices
from tourney_runner.publish.site import Site
from tourney_runner.publish.site_folder import MARKER
from tourney_runner.publish.statistics import gather
from tourney_runner.publish.tables import FORMATS
from tourney_runner.verify.page_numbers import READERS, UNREADABLE, agrees, clean, page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tourney_runner.publish.statistics import BotResults
    from tourney_runner.publish.summary import Summary
    from tourney_runner.ratings.table import Standing
    from tourney_runner.results.store import Store
    from tourney_runner.verify.page_numbers import Numbers, Page, Row

__all__ = [
    "Marker",
    "Reference",
    "facts_wrong",
    "marker_of",
    "numbers_wrong",
    "page_numbers_wrong",
    "reference",
    "remade_wrong",
    "rows_wrong",
    "standings_wrong",
    "table_numbers",
]

_COLUMNS = {
    "rank": "rank",
    "mu": "mu",
    "$\\mu$": "mu",
    "rating": "mu",
    "sigma": "sigma",
    "$\\sigma$": "sigma",
    "score": "score",
    "deals": "deals",
    "points": "points",
    "mean place": "mean_place",
    "mean_place": "mean_place",
}
"""Columns whose meaning is the same in all versions, by heading."""
_PLACE = re.compile(r">#(\d+) of \d+<")


class Reference(NamedTuple):
    """The numbers that tables and pages must show."""

    names: list[str]
    """All bots, by number."""
    rows: dict[str, Numbers]
    """The numbers of each bot that is not disqualified, by name and column."""
    ranked: set[str]
    """The bots that have a rank on their badges."""


class Marker(msgspec.Struct, frozen=True):
    """The contents of the file that marks a folder as a site."""

    deals: int = 0
    complete: bool = False
    format: str = ""
    """See `reuse.output_format`; empty for versions that did not write it."""
    choices: PublishChoices | None = None


def marker_of(site: Path) -> Marker:
    """Return the marker of a site; an empty one if it cannot be read."""
    try:
        path = site / MARKER
        return msgspec.json.decode(path.read_bytes() if path.is_file() else b"", type=Marker)
    except (OSError, *UNREADABLE):
        return Marker()


def reference(summary: Summary) -> Reference:
    """Return the numbers that tables and pages must show."""
    shown = [row for row in summary.entrants if row.status != "disqualified"]
    return Reference(
        [clean(name) for name in summary.facts.names],
        {clean(row.name): table_numbers(row) for row in shown},
        {clean(row.name) for row in shown if row.status == "ranked"},
    )


def table_numbers(row: Standing) -> Numbers:
    """Return the numbers of a row of the standings by column."""
    return {column: getattr(row, column) for column in dict.fromkeys(_COLUMNS.values())}


def remade_wrong(
    folder: Path, site: Path, store: Store, summary: Summary, choices: PublishChoices
) -> Iterator[str]:
    """Generate the files of this version again; yield the differences from the existing ones.

    Args:
        folder: The results folder.
        site: Its site.
        store: The results.
        summary: Their table.
        choices: The choices with which the site was made.
    """
    made = Site(store, choices)
    for _, name, write in FORMATS:
        if (folder / name).is_file() and _text(folder / name) != write(summary):
            yield f"{name} is not what the stored deals give"
    if (folder / "index.html").is_file() and _text(folder / "index.html") != made.front(
        f"{site.name}/"
    ):
        yield "index.html is not what the stored deals give"
    for name, text in made.pages():
        path = site / name
        if not path.is_file():
            yield f"{site.name}/{name} is missing"
        elif _text(path) != text:
            yield f"{site.name}/{name} is not what the stored deals give"


def numbers_wrong(folder: Path, expected: Reference) -> Iterator[str]:
    """Yield the wrong numbers in a folder's tables, start page and badges.

    Args:
        folder: A results folder, or a site.
        expected: The numbers.
    """
    for name, read in READERS.items():
        path = folder / name
        if not path.is_file():
            continue
        try:
            rows = list(read(_text(path)))
        except UNREADABLE as error:
            yield f"{name} cannot be read as a table: {error}"
            continue
        for text in standings_wrong(rows, expected):
            yield f"{name}: {text}"
    for number, name in enumerate(expected.names):
        path = folder / "badges" / f"{number + 1:03}.svg"
        if path.is_file():
            found = _PLACE.search(_text(path))
            rank = expected.rows[name]["rank"] if name in expected.ranked else None
            if (None if found is None else float(found[1])) != rank:
                yield f"badges/{path.name} does not show the rank of {name}"


def standings_wrong(rows: list[Row], expected: Reference) -> Iterator[str]:
    """Yield the differences between the rows of a table of standings and what they must show."""
    shown = [row.name for row in rows]
    for name in expected.rows.keys() - set(shown):
        yield f"{name} is missing"
    for name in dict.fromkeys(name for name in shown if shown.count(name) > 1):
        yield f"{name} is there more than once"
    for name in sorted(set(shown) - set(expected.names)):
        yield f"{name} is not a bot of this tournament"
    by_column = [
        row._replace(
            cells={
                _COLUMNS[heading.lower()]: cell
                for heading, cell in row.cells.items()
                if heading.lower() in _COLUMNS and cell != "ref"  # no rank of its own
            }
        )
        for row in rows
    ]
    yield from rows_wrong(by_column, expected.rows)


def rows_wrong(
    rows: Iterable[Row], expected: Mapping[str, Numbers], rounded: float = 0.0
) -> Iterator[str]:
    """Yield the cells of a table that differ from the expected numbers.

    Args:
        rows: The rows of the table. Rows and columns without expected numbers are not checked.
        expected: The numbers by row and column.
        rounded: The largest error of the expected numbers themselves.
    """
    for row in rows:
        for column, number in expected.get(row.name, {}).items():
            cell = row.cells.get(column)
            if cell is not None and not agrees(cell, number, rounded):
                yield f"{row.name}: {column} is {cell}, expected {_shown(number)}"


def _shown(number: float | None) -> str:
    return "nothing" if number is None else f"{number:.10g}"


def page_numbers_wrong(
    site: Path, store: Store, summary: Summary, choices: PublishChoices
) -> Iterator[str]:
    """Yield the wrong numbers on the pages of bots, of meetings and of replays of a site.

    Estimates of another version, such as the likelihood to be the stronger bot, are not compared.

    Args:
        site: The site, of any version.
        store: The results.
        summary: Their table.
        choices: The choices for pages.
    """
    bots = gather(store, choices)[1].bots
    names = [clean(name) for name in summary.facts.names]
    for row in summary.entrants:
        number = names.index(clean(row.name))
        path = site / "bots" / f"{number + 1:03}.html"
        if path.is_file() and row.status != "disqualified":
            for text in _bot_page_wrong(page(_text(path)), row, bots[number], names):
                yield f"bots/{path.name}: {text}"
    path = site / "meetings.html"
    if path.is_file():
        for text in _meetings_wrong(page(_text(path)), bots, names):
            yield f"meetings.html: {text}"
    yield from _replays_wrong(site, store, names)


def _bot_page_wrong(
    shown: Page, row: Standing, results: BotResults, names: list[str]
) -> Iterator[str]:
    if shown.title != clean(row.name):
        yield f"it is headed {shown.title}, expected {clean(row.name)}"
    yield from facts_wrong(shown, table_numbers(row))
    if (table := shown.table("seat", "mean place")) is not None:
        yield from rows_wrong(
            table.rows,
            {
                f"{seat}": {
                    "deals": result.deals,
                    "mean place": result.mean_place,
                    "points a deal": result.mean_points,
                }
                for seat, result in enumerate(results.seats)
            },
        )
    if (table := shown.table("bot", "deals together")) is not None:
        yield from rows_wrong(
            table.rows,
            {
                name: {
                    "deals together": met.deals,
                    "finished before it": _percent(met.share),
                }
                for name, met in zip(names, results.against, strict=True)
            },
        )


def facts_wrong(shown: Page, numbers: Numbers) -> Iterator[str]:
    """Yield the wrong facts on the page of a bot.

    Args:
        shown: The page.
        numbers: The bot's row of the standings, by column.
    """
    facts: Numbers = {"deals": numbers["deals"]}
    if numbers["deals"]:
        facts |= {
            "rating": numbers["mu"],
            "points": numbers["points"],
            "mean place": numbers["mean_place"],
        }
    for term, number in facts.items():
        if not agrees(shown.facts.get(term, ""), number):
            yield f"{term} is {shown.facts.get(term, 'not there')}, expected {_shown(number)}"


def _meetings_wrong(shown: Page, bots: tuple[BotResults, ...], names: list[str]) -> Iterator[str]:
    """Yield the wrong shares in the matrix of meetings, whose columns are numbered like its rows.

    A large field has a map of coloured cells instead, without numbers to read.
    """
    table = shown.table("bot", "1")
    if table is None:
        return
    numbers = {name: number for number, name in enumerate(names)}
    order = [numbers.get(row.name) for row in table.rows]
    expected: dict[str, Numbers] = {}
    for row, number in zip(table.rows, order, strict=True):
        if number is None:
            yield f"{row.name} is not a bot of this tournament"
            continue
        expected[row.name] = {
            f"{at + 1}": None
            if other in {number, None}
            else _percent(bots[number].against[other or 0].share)
            for at, other in enumerate(order)
        }
    yield from rows_wrong(table.rows, expected)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _replays_wrong(site: Path, store: Store, names: list[str]) -> Iterator[str]:
    """Yield the wrong numbers in the results of replays and in their list."""
    pages = [path for path in (site / "replays").glob("[0-9]*.html") if path.is_file()]
    paths = {int(path.stem): path for path in pages if path.stem.isdecimal()}
    turn = "rotation" if store.tournament().play.get("duplicate") else "deal"
    listed: dict[str, Numbers] = {}
    for number, record in enumerate(store.records(), start=1):
        if number not in paths:
            continue
        key = record.key
        listed[f"deal {number:,}"] = {
            "round": key.round + 1,
            "match": key.match + 1,
            turn: key.deal + 1,
            "moves": len(record.moves.split()),
        }
        table = page(_text(paths[number])).table("place", "bot", "points")
        expected: dict[str, Numbers] = {
            names[entrant]: {
                "place": record.places[seat],
                "seat": seat,
                "points": record.points[seat],
                "moves": record.times[seat].moves,
            }
            for seat, entrant in enumerate(record.seating)
        }
        for text in rows_wrong(() if table is None else table.rows, expected):
            yield f"replays/{paths[number].name}: {text}"
    path = site / "replays.html"
    table = page(_text(path)).table("round", "match") if path.is_file() else None
    if table is not None:
        for text in rows_wrong([row._replace(name=row.first) for row in table.rows], listed):
            yield f"replays.html: {text}"


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")
