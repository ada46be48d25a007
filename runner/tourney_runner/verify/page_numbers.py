"""Numbers in the visible text of published tables and pages.

Attributes, scripts and styles are ignored: a number counts as it stands before a reader's eyes. So
the files of any version can be read, as long as a column keeps its name.
"""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.publish.latex_text import plain_text
from tourney_runner.text import without_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "READERS",
    "UNREADABLE",
    "Numbers",
    "Page",
    "PageTable",
    "Row",
    "agrees",
    "clean",
    "numbers_in",
    "page",
]

Numbers = dict[str, float | None]
"""The expected numbers of one row, by the heading of their column; None for a cell without one."""

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MARKED = re.compile(r"^'(?=[=+\-@\t\r＝＋－＠])")  # noqa: RUF001 - spreadsheets take the wide ones, too
"""The mark before a name that a spreadsheet would take for a formula."""


UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, csv.Error)
"""The errors of reading a file that is not what its name says; it may be a stranger's."""


class Row(NamedTuple):
    """One row of a table."""

    name: str
    """The bot of the row, or else its first cell."""
    cells: dict[str, str]
    """By heading."""
    first: str = ""
    """The first cell."""


class PageTable(NamedTuple):
    """One table of a page."""

    id: str
    headings: list[str]
    rows: list[Row]


class Page(NamedTuple):
    """The numbers of one page."""

    title: str
    """Its first heading."""
    tables: list[PageTable]
    facts: dict[str, str]
    """The terms and descriptions of its lists."""

    def table(self, *headings: str) -> PageTable | None:
        """Return the first table that has all these headings."""
        return next((one for one in self.tables if set(headings) <= set(one.headings)), None)


def clean(name: str) -> str:
    """Return a name as a reader sees it in any of the formats."""
    return " ".join(without_controls(name).split())


def numbers_in(cell: str) -> list[str]:
    """Return the numbers that a reader sees in a cell."""
    plain = cell.replace("\N{MINUS SIGN}", "-").replace("\\", "")
    return [found.replace(",", "") for found in _NUMBER.findall(plain)]


def agrees(cell: str, number: float | None, rounded: float = 0.0) -> bool:
    """Return whether the first number of a cell is a number, to the precision of the cell.

    Args:
        cell: The cell; without a number for None.
        number: The expected number.
        rounded: The largest error of the expected number itself.
    """
    found = numbers_in(cell)
    if not found or number is None:
        return not found and number is None
    decimals = len(found[0].partition(".")[2].partition("e")[0])
    tolerance: float = 0.501 * 10**-decimals + 1e-9 * abs(number) + rounded
    return abs(float(found[0]) - number) <= tolerance


class _Parser(HTMLParser):
    """A parser for the tables and facts of a page, as visible to a reader."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.tables: list[tuple[str, list[list[str]], list[str]]] = []
        """The id, the cells and the names of each table."""
        self.facts: dict[str, str] = {}
        self._term = ""
        self._inside = ""
        """The element that collects text: a cell, a term, a description or a heading."""
        self._in_name = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter a table, a row, a cell, or the name of a bot: the first ``bdi`` of its row."""
        if tag == "table":
            self.tables.append((dict(attrs).get("id") or "", [], []))
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
            self.tables[-1][2].append("")
        elif tag in {"td", "th"} and self.tables and self.tables[-1][1]:
            self.tables[-1][1][-1].append("")
            self._inside = "cell"
        elif tag in {"dt", "dd"} or (tag == "h1" and not self.title):
            self._inside = tag
            if tag == "dt":
                self._term = ""
        elif tag == "bdi" and self._inside == "cell":
            self._in_name = not self.tables[-1][2][-1]
        elif tag in {"script", "style"}:
            self._inside = ""
        elif self._inside == "cell":
            self.tables[-1][1][-1][-1] += " "

    def handle_endtag(self, tag: str) -> None:
        """Leave the element."""
        if tag in {"td", "th", "dt", "dd", "h1"}:
            self._inside = ""
        if tag == "bdi":
            self._in_name = False

    def handle_data(self, data: str) -> None:
        """Add visible text."""
        if self._inside == "cell":
            self.tables[-1][1][-1][-1] += data
            if self._in_name:
                self.tables[-1][2][-1] += data
        elif self._inside == "dt":
            self._term += data
        elif self._inside == "dd":
            self.facts[self._term] = self.facts.get(self._term, "") + data
        elif self._inside == "h1":
            self.title += data


def page(text: str) -> Page:
    """Return the tables and facts of a page."""
    parser = _Parser()
    parser.feed(text)
    tables = []
    for mark, cells, names in parser.tables:
        headings = [heading.strip() for heading in cells[0]] if cells else []
        rows = [
            Row(clean(name or row[0]), _by_heading(headings, row), clean(row[0]))
            for row, name in zip(cells[1:], names[1:], strict=True)
            if row
        ]
        tables.append(PageTable(mark, headings, rows))
    return Page(clean(parser.title), tables, parser.facts)


def _by_heading(headings: list[str], cells: list[str]) -> dict[str, str]:
    return dict(zip(headings, map(str.strip, cells), strict=False))


def _json_rows(text: str) -> Iterator[Row]:
    for entrant in json.loads(text)["entrants"]:
        yield Row(clean(entrant["name"]), {key: _number(entrant[key]) for key in entrant})


def _number(value: object) -> str:
    return repr(value) if isinstance(value, int | float) else ""


def _csv_rows(text: str) -> Iterator[Row]:
    for row in csv.DictReader(text.splitlines()):
        yield Row(clean(_MARKED.sub("", row["name"])), {key: row[key] or "" for key in row if key})


def _markdown_rows(text: str) -> Iterator[Row]:
    text = text.replace("<!-- -->", "")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    for cells in table[2:]:
        row = dict(zip(table[0], cells, strict=False))
        name = row["bot"]
        if name.startswith("~~"):  # struck out; a tilde of the name itself is escaped
            name = name.removeprefix("~~").removesuffix("~~")
        yield Row(clean(re.sub(r"\\(.)", r"\1", name)), row)


def _latex_rows(text: str) -> Iterator[Row]:
    lines = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]
    table = [re.split(r"(?<!\\) & ", line) for line in lines]
    for cells in table[1:]:
        row = dict(zip(table[0], map(plain_text, cells), strict=False))
        yield Row(clean(row["bot"]), row)


def _plain_rows(text: str) -> Iterator[Row]:
    lines = text.splitlines()[2:]
    table = [re.split(r"\s{2,}", line.strip()) for line in lines if line.strip()]
    for cells in table[1:]:
        if len(cells) == len(table[0]):
            row = dict(zip(table[0], cells, strict=True))
            yield Row(clean(row["bot"]), row)


def _page_rows(text: str) -> Iterator[Row]:
    tables = [table for table in page(text).tables if table.id == "standings"]
    yield from (row for table in tables[:1] for row in table.rows)


def _fragment_rows(text: str) -> Iterator[Row]:
    yield from (row for table in page(text).tables[:1] for row in table.rows)


READERS: Mapping[str, Callable[[str], Iterator[Row]]] = {
    "standings.json": _json_rows,
    "standings.csv": _csv_rows,
    "standings.md": _markdown_rows,
    "standings.html": _fragment_rows,
    "standings.tex": _latex_rows,
    "standings.txt": _plain_rows,
    "index.html": _page_rows,
}
"""The reader of the table of standings in each published file."""
