"""Names are strangers' text: every table and page shows them, and none obeys them."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from whole_program import Arena

NAMES = {
    "HTML": "<script>alert(1)</script><b>&amp;",
    "an attribute": "\" onmouseover='alert(1)' x=\"",
    "a formula": '=HYPERLINK("http://x.example","win")',
    "another formula": "@SUM(A1:A9)|cmd",
    "Markdown": "**bold** [win](http://x.example) `code` ![i](http://x/i)",
    "a table's border": "one | two | three",
    "markup of the terminal": "[red]red[/red] [link=http://x.example]win[/link]",
    "a template": "{{ 7 * 7 }}{% raw %}",
    "a number": "1e9",
    "a very long one": "Wolfeschlegelsteinhausenbergerdorff " + "W" * 28,
    "accents and joined letters": "Zoë Åström 王小明",
}
TOURNAMENT = "<i>Cup</i> & **Cup** | =1+1"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """A tournament of all of them, played once for all tests here."""
    from whole_program import Arena  # noqa: PLC0415 - the name is taken by the type

    arena = Arena(tmp_path_factory.mktemp("names") / "arena")
    bots = [arena.bot(name.strip()) for name in NAMES.values()]
    config = arena.configure(bots, name=TOURNAMENT, match={"duplicate": False})
    arena.run("run", config, "--out", "out")
    return arena


def _names() -> set[str]:
    return {name.strip() for name in NAMES.values()}


def test_json_has_them_unchanged(played: Arena) -> None:
    assert set(played.rows()) == _names()
    assert played.table()["name"] == TOURNAMENT


def test_csv_marks_formulas_as_text_and_keeps_the_rest(played: Arena) -> None:
    rows = list(csv.DictReader(io.StringIO(played.files()["standings.csv"])))
    assert {row["name"].removeprefix("'") for row in rows} == _names()
    assert not any(row["name"][0] in "=+-@\t\r" for row in rows)


def test_markdown_renders_to_the_very_names_and_nothing_else(played: Arena) -> None:
    html = MarkdownIt("commonmark").enable("table").render(played.files()["standings.md"])
    page = _Page(html)
    assert {cells[1] for cells in page.rows[1:]} == _names()
    assert page.tags <= {"h1", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.texts["h1"] == TOURNAMENT


def test_the_page_shows_the_names_and_runs_nothing_of_them(played: Arena) -> None:
    text = (played.path / "out" / "index.html").read_text("utf-8")
    page = _Page(text)
    for name in _names():
        assert name in " ".join(page.all_text.split()) or name in page.all_text
    assert "alert" not in "".join(page.scripts)
    assert not any(key.startswith("on") for key in page.attributes)
    assert not re.search(r"""(src|href)=["']?http://x\.example""", text)


def test_the_terminal_shows_them_as_they_are(played: Arena) -> None:
    shown = played.run("standings", "out").stdout
    for name in _names():
        assert name in shown
    assert "\x1b" not in shown


REFUSED = {
    "an escape": "\x1b[2Jgone",
    "a line break": "two\nlines",
    "a mark that turns text round": "gro\u202excod",
    "nothing to see": "\u200b",
    "a bell": "\x07",
}


def test_names_that_would_mislead_are_refused(arena: Arena) -> None:
    bad = [arena.bot("x") | {"name": name} for name in REFUSED.values()]
    config = arena.configure([arena.bot("good"), arena.bot("fine"), *bad])
    ended = arena.run("run", config, "--out", "out", status=2)
    for number in range(len(REFUSED)):
        assert f"bots[{number + 2}].name" in ended.stderr
    assert not set("\x1b\x07\u202e\u200b") & set(ended.stderr)


class _Page(HTMLParser):
    """The visible text of a page, and its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.rows: list[list[str]] = []
        self.texts: dict[str, str] = {}
        self.scripts: list[str] = []
        self.all_text = ""
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {key for key, _ in attrs}
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts.append(data)
            return
        self.all_text += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        for tag in self._open:
            self.texts[tag] = self.texts.get(tag, "") + data
