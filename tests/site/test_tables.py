"""The ranking elsewhere: all formats show the names of strangers as text and nothing else."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from contextlib import closing
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import jsonschema
import pytest
from made import make_results
from markdown_it import MarkdownIt
from test_publishing import summary_of, tourney
from tourney_runner.publish import tables
from tourney_runner.publish.documents import StandingsDocument, document_schema
from tourney_runner.publish.latex_text import latex_text, plain_text
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.site import Site
from tourney_runner.publish.site_document import SiteDocument
from tourney_runner.publish.summary import summarise
from tourney_runner.ratings.table import Anchor
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.verify.page_numbers import READERS
from tourney_runner.verify.published_check import reference, standings_wrong

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tourney_runner.publish.summary import Summary

NAMES = (
    "<script>alert(1)</script><b>&amp;",
    "\" onmouseover='alert(1)' x=\"",
    '=HYPERLINK("http://x.example","win")',
    "@SUM(A1:A9)|cmd",
    "**bold** [win](http://x.example) `code` ![i](http://x/i)",
    "one | two | three",
    "[red]red[/red] {{ 7 * 7 }}{% raw %}",
    r"\input{/etc/passwd} \write18{x} $y$ 50%",
    "$x^2_i$ & {curly} #1 ~tilde~",
    "^^41 \\",
    "@octocat closes #1, !2, GH-3 :tada: www.example.org",
    "Nguyễn Văn Tiến Lên",
    "Zoë Åström Łukasz Øre ß æ œ",
    "王小明",
    "محمد",
    "Ελένη Дмитрий",
    "ไทย हिन्दी",
    "🂡 deal 🎉",
    "\N{FULLWIDTH EQUALS SIGN}1+1",
    "a -- b --- c '' d `` e ?` f !` g",
    "<1 % ±0.5 × 2 – 3 — “q” ‘s’ …",  # noqa: RUF001 - looking alike is the point
    "1e9",
    "W" * 64,
    "\\end{tabular}\\end{document}",
)


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return summary_of(make_results(tmp_path_factory.mktemp("strangers"), NAMES, matches=24))


class _Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.rows: list[list[str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {key for key, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


def test_html_is_a_table_and_nothing_else(strangers: Summary) -> None:
    page = _Page(tables.as_html(strangers))
    assert {row[1] for row in page.rows[1:]} == set(NAMES)
    assert page.tags <= {
        "table", "caption", "bdi", "thead", "tbody", "tr", "th", "td", "ul", "li",
    }  # fmt: skip
    assert page.attributes <= {"class", "scope"}


def test_markdown_is_literal_and_mentions_nobody(strangers: Summary) -> None:
    text = tables.as_markdown(strangers)
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    page = _Page(rendered)
    assert {row[1] for row in page.rows[1:]} == set(NAMES)
    assert not page.tags & {"a", "img", "strong", "em", "code", "script", "b", "s"}
    # A forge looks for these in the text between two tags or comments.
    pieces = re.split(r"<[^>]*>", rendered)
    assert not any(re.search(r"@\w|#\d|!\d|:\w+:|\$\w", piece) for piece in pieces)


def test_csv_has_every_name_and_excel_gets_its_mark(tmp_path: Path, strangers: Summary) -> None:
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(strangers))))
    assert {row["name"].removeprefix("'") for row in rows} == set(NAMES)
    results = make_results(tmp_path / "r", NAMES[:4], matches=1)
    for words in ((), ("--bom",)):
        tourney(
            "export", results, "--table", tmp_path / "t.csv", "--deals", tmp_path / "d.csv", *words
        )
        for name in ("t.csv", "d.csv"):
            assert (tmp_path / name).read_bytes().startswith(b"\xef\xbb\xbf") is bool(words)


def test_latex_can_be_read_back() -> None:
    for name in NAMES:
        assert plain_text(latex_text(name)) == name


@pytest.mark.parametrize(("file", "write"), [(file, write) for _, file, write in tables.FORMATS])
def test_every_format_can_be_read_back(
    file: str, write: Callable[[Summary], str], strangers: Summary
) -> None:
    rows = list(READERS[file](write(strangers)))
    assert list(standings_wrong(rows, reference(strangers))) == []


def test_every_format_says_which_bot_the_ratings_are_anchored_to(tmp_path: Path) -> None:
    folder = make_results(tmp_path / "r", NAMES[:4], matches=24)
    free = {row.name: row for row in summary_of(folder).entrants}
    with closing(Store(folder / FILE_NAME)) as store:
        store.change(anchor=Anchor(NAMES[1], 1500.0))
        summary = summarise(store)
        site = Site(store, kept_choices(store))
        pages = dict(site.pages())
    said = "has 1500 by definition, and the intervals are those of the differences from it."
    for _, file, write in tables.FORMATS:
        text = write(summary)
        assert (said in text.replace("\\", "").replace("{}", "")) is (file != "standings.csv"), file
        assert list(standings_wrong(list(READERS[file](text)), reference(summary))) == []
    document = json.loads(tables.as_json(summary))
    jsonschema.validate(document, document_schema(StandingsDocument))
    assert document["anchor"] == {"name": NAMES[1], "mu": 1500.0}
    shift = 1500.0 - free[NAMES[1]].mu
    for row in document["entrants"]:
        assert row["mu"] == pytest.approx(free[row["name"]].mu + shift, abs=1e-5)
    anchor = next(row for row in document["entrants"] if row["name"] == NAMES[1])
    assert anchor["interval"] == [1500.0, 1500.0]
    assert said in pages["index.html"]
    assert "anchor: 1500" in pages["index.html"]  # in the configuration to play it again
    history = json.loads(pages["tournament.json"])["history"]
    last = {NAMES[at]: history["interval"][at][-1] for at in range(4)}
    assert last == {row["name"]: row["interval"] for row in document["entrants"]}
    assert "relative to <bdi>" in pages["bots/001.html"]


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
@pytest.mark.parametrize(
    "options", ["", r"\usepackage[ngerman]{babel}", r"\usepackage[T1]{fontenc}"]
)
def test_latex_compiles(tmp_path: Path, strangers: Summary, engine: str, options: str) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    if "babel" in options and not _has_file("ngerman.ldf"):
        pytest.skip("babel has no German here")
    (tmp_path / "table.tex").write_text(tables.as_latex(strangers), encoding="utf-8")
    (tmp_path / "page.tex").write_text(
        rf"\documentclass{{article}}{options}\begin{{document}}\noindent\input{{table.tex}}"
        r"\end{document}",
        encoding="utf-8",
    )
    ended = subprocess.run(
        [engine, "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 1000


def _has_file(name: str) -> bool:
    found = subprocess.run(["kpsewhich", name], capture_output=True, check=False)
    return found.returncode == 0


@pytest.mark.parametrize("document", [StandingsDocument, SiteDocument])
def test_the_schemas_describe_the_files(
    document: type[StandingsDocument | SiteDocument], site: Path
) -> None:
    schema = document_schema(document)
    jsonschema.Draft202012Validator.check_schema(schema)
    name = {StandingsDocument: "standings.json", SiteDocument: "tournament.json"}[document]
    found = json.loads((site / name).read_text())
    jsonschema.validate(found, schema)
    assert set(found) <= set(schema["properties"])
    assert (
        json.loads(tourney("schema", "site" if document is SiteDocument else "standings")) == schema
    )


def test_the_site_has_everything_for_programs(site: Path) -> None:
    found = json.loads((site / "tournament.json").read_text())
    assert found["standings"] == json.loads((site / "standings.json").read_text())
    assert [bot["author"] for bot in found["bots"]] == ["Ada"] * len(found["bots"])
    assert found["endings"]["faults"] == {"crash": 1}
    assert found["endings"]["deals"] == found["standings"]["deals"] == 12
    assert found["began"] == "2026-01-01T10:00:00+00:00"
    deals = found["meetings"]["deals"]
    assert all(deals[a][b] == deals[b][a] for a in range(6) for b in range(6))


def test_the_first_page_stays_light_with_200_bots(tmp_path: Path) -> None:
    names = [f"a bot of number {number}" for number in range(24)]
    results = make_results(tmp_path / "r", names, matches=60)  # enough matches for all columns
    with closing(Store(results / FILE_NAME)) as store:
        page = Site(store, kept_choices(store)).front("")
    start, end = page.index("<tbody>"), page.index("</tbody>")
    rows = page[start:end]
    assert "±" in rows
    others = page[:start] + page[end:]
    assert len(others.encode()) + len(rows.encode()) / 24 * 200 < 200_000
    tags = re.compile(r"<[a-z]")
    assert len(tags.findall(page)) + len(tags.findall(rows)) / 24 * 176 < 8_000
