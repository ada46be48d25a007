"""A check of published tables and pages against the stored deals.

Files that this version of the program wrote are generated again and compared. For files of another
version, numbers are parsed from the visible text and compared by the names of their columns, since
a later version may have other columns, words or styles.
"""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tourney_runner.publish.latex_text import plain_text
from tourney_runner.publish.publish_options import PublishChoices
from tourney_runner.publish.site import Site
from tourney_runner.publish.site_folder import MARKER
from tourney_runner.publish.tables import FORMATS
from tourney_runner.text import without_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.store import Store

__all__ = ["Marker", "Reference", "marker_of", "numbers_wrong", "reference", "remade_wrong"]

Reference = dict[str, dict[str, float | None]]
"""The expected numbers of each bot that is not disqualified, by name and column."""

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
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
_PLACE = re.compile(r">#(\d+) of \d+<")


class Marker(msgspec.Struct, frozen=True):
    """The contents of the file that marks a folder as a site."""

    deals: int = 0
    complete: bool = False
    format: str = ""
    """See `reuse.output_format`; empty for versions that did not write it."""
    choices: PublishChoices | None = None


class _Row(NamedTuple):
    name: str
    cells: dict[str, str]
    """By heading."""


def marker_of(site: Path) -> Marker:
    """Return the marker of a site; an empty one if it cannot be read."""
    try:
        return msgspec.json.decode((site / MARKER).read_bytes(), type=Marker)
    except (OSError, msgspec.DecodeError):
        return Marker()


def reference(summary: Summary) -> Reference:
    """Return the numbers that tables and pages must show."""
    return {
        _clean(row.name): {
            "rank": row.rank,
            "mu": row.mu,
            "sigma": row.sigma,
            "score": row.score,
            "deals": row.deals,
            "points": row.points,
            "mean_place": row.mean_place,
        }
        for row in summary.entrants
        if row.status != "disqualified"
    }


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
        if (folder / name).exists() and _text(folder / name) != write(summary):
            yield f"{name} is not what the stored deals give"
    if (folder / "index.html").exists() and _text(folder / "index.html") != made.front(
        f"{site.name}/"
    ):
        yield "index.html is not what the stored deals give"
    for name, text in made.pages():
        path = site / name
        if not path.exists():
            yield f"{site.name}/{name} is missing"
        elif _text(path) != text:
            yield f"{site.name}/{name} is not what the stored deals give"


def numbers_wrong(folder: Path, expected: Reference, names: list[str]) -> Iterator[str]:
    """Yield the wrong numbers in a folder's tables, start page and badges.

    Args:
        folder: A results folder, or a site.
        expected: The numbers.
        names: All bots, by number.
    """
    for name, read in _READERS.items():
        path = folder / name
        if not path.exists():
            continue
        try:
            rows = list(read(_text(path)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            yield f"{name} cannot be read as a table: {error}"
            continue
        yield from (f"{name}: {text}" for text in _rows_wrong(rows, expected))
    for number, name in enumerate(names):
        path = folder / "badges" / f"{number + 1:03}.svg"
        if path.exists():
            found = _PLACE.search(_text(path))
            rank = expected.get(_clean(name), {}).get("rank")
            if (None if found is None else float(found[1])) != rank:
                yield f"badges/{path.name} does not show the rank of {name}"


def _rows_wrong(rows: list[_Row], expected: Mapping[str, dict[str, float | None]]) -> Iterator[str]:
    shown = {row.name for row in rows}
    for name in expected.keys() - shown:
        yield f"{name} is missing"
    for row in rows:
        numbers = expected.get(row.name)
        if numbers is None:
            continue  # disqualified, or under a name that is counted as missing above
        for heading, cell in row.cells.items():
            column = _COLUMNS.get(heading.strip().lower())
            if column is not None and not _agrees(cell, numbers[column]):
                yield f"{row.name}: {heading} is {cell}, the deals give {numbers[column]}"


def _agrees(cell: str, number: float | None) -> bool:
    """Return whether a cell shows a number, to the precision of the cell."""
    found = _NUMBER.search(cell.replace("\N{MINUS SIGN}", "-").replace("\\", ""))
    if found is None or number is None:
        return found is None and number is None
    text = found[0].replace(",", "")
    decimals = len(text.partition(".")[2].partition("e")[0])
    tolerance: float = 0.501 * 10**-decimals + 1e-9 * abs(number)
    return abs(float(text) - number) <= tolerance


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _clean(name: str) -> str:
    return " ".join(without_controls(name).split())


def _json_rows(text: str) -> Iterator[_Row]:
    for entrant in json.loads(text)["entrants"]:
        yield _Row(_clean(entrant["name"]), {key: _number(entrant[key]) for key in entrant})


def _number(value: object) -> str:
    return repr(value) if isinstance(value, int | float) else ""


def _csv_rows(text: str) -> Iterator[_Row]:
    for row in csv.DictReader(text.splitlines()):
        yield _Row(_clean(re.sub(r"^'(?=[=+\-@\t\r＝＋－＠])", "", row["name"])), dict(row))  # noqa: RUF001


def _markdown_rows(text: str) -> Iterator[_Row]:
    text = text.replace("<!-- -->", "")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    for cells in table[2:]:
        row = dict(zip(table[0], cells, strict=False))
        yield _Row(_clean(re.sub(r"\\(.)", r"\1", row["bot"].strip("~"))), row)


def _latex_rows(text: str) -> Iterator[_Row]:
    lines = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]
    table = [re.split(r"(?<!\\) & ", line) for line in lines]
    for cells in table[1:]:
        row = dict(zip(table[0], map(plain_text, cells), strict=False))
        yield _Row(_clean(row["bot"]), row)


def _plain_rows(text: str) -> Iterator[_Row]:
    lines = text.splitlines()[2:]
    table = [re.split(r"\s{2,}", line.strip()) for line in lines if line.strip()]
    for cells in table[1:]:
        if len(cells) == len(table[0]):
            row = dict(zip(table[0], cells, strict=True))
            yield _Row(_clean(row["bot"]), row)


class _StandingsPage(HTMLParser):
    """A parser for the table of standings of a page, as visible to a reader."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.names: list[str] = []
        self._in_table = self._in_cell = self._in_name = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter a row, a cell, or the name of a bot, which is the first ``bdi`` of its row."""
        if tag == "table":
            self._in_table = dict(attrs).get("id") == "standings"
        elif self._in_table and tag == "tr":
            self.rows.append([])
            self.names.append("")
        elif self._in_table and tag in {"td", "th"}:
            self.rows[-1].append("")
            self._in_cell = True
        elif self._in_table and tag == "bdi":
            self._in_name = not self.names[-1]

    def handle_endtag(self, tag: str) -> None:
        """Leave the element."""
        if tag == "table":
            self._in_table = False
        elif tag in {"td", "th"}:
            self._in_cell = False
        elif tag == "bdi":
            self._in_name = False

    def handle_data(self, data: str) -> None:
        """Add visible text."""
        if self._in_table and self._in_cell:
            self.rows[-1][-1] += data
            if self._in_name:
                self.names[-1] += data


def _page_rows(text: str) -> Iterator[_Row]:
    page = _StandingsPage()
    page.feed(text)
    head = [heading.strip() for heading in page.rows[0]] if page.rows else []
    for cells, name in zip(page.rows[1:], page.names[1:], strict=True):
        yield _Row(_clean(name), dict(zip(head, map(str.strip, cells), strict=False)))


_READERS: dict[str, Callable[[str], Iterator[_Row]]] = {
    "standings.json": _json_rows,
    "standings.csv": _csv_rows,
    "standings.md": _markdown_rows,
    "standings.tex": _latex_rows,
    "standings.txt": _plain_rows,
    "index.html": _page_rows,
}
