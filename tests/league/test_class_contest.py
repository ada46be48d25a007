"""A class contest, from nothing to a published site, with the five commands of the guide."""

from __future__ import annotations

import re
import shutil
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from whole_program import Arena

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "organising.md"

NAMES = (
    "<script>alert(1)</script><b>&amp;",
    "\" onmouseover='alert(1)' x=\"",
    '=HYPERLINK("http://x.example","win")',
    "@SUM(A1:A9)|cmd",
    "**bold** [win](http://x.example) `code`",
    "../../../etc/passwd",
    "-rf --help",
    "CON.txt",
    "one | two | three",
    "[red]red[/red] {{ 7 * 7 }}{% raw %}",
    r"\input{/etc/passwd} \write18{x} $y$ 50%",
    "$(reboot); `reboot` && reboot",
    "'; DROP TABLE deals; --",
    "^^41 \\",
    "@octocat closes #1, !2, GH-3 :tada:",
    "Nguyễn Văn Tiến Lên",
    "Zoë Åström Łukasz",
    "王小明",
    "محمد",
    "Ελένη Дмитрий",
    "ไทย हिन्दी",
    "🂡 deal 🎉",
    "\N{FULLWIDTH EQUALS SIGN}1+1",
    "a -- b --- c '' d `` e",
    "1e9",
    "null",
    "~",
    "%s %n %x",
    "W" * 64,
    "\\end{tabular}\\end{document}",
    ": [ {",
)
PROGRAMS = {
    "random": "python3", "perl": "perl", "lua": "lua", "javascript": "node", "ruby": "ruby",
    "greedy": "python3", "shell": "sh", "c": "cc", "go": "go", "java": "javac", "cpp": "c++",
}  # fmt: skip
"""The bundled bots that are handed in, and what each needs; the slow ones come last."""


class _Markup(HTMLParser):
    """The names of all elements and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


def hand_ins(archive: Path, number: int, bots: list[str]) -> None:
    """Write the submissions of a class as a course platform exports them."""
    with zipfile.ZipFile(archive, "w") as opened:
        for at, name in enumerate(NAMES[:number]):
            source = ROOT / "bots" / bots[at % len(bots)]
            manifest = yaml.safe_load((source / "bot.yaml").read_text("utf-8")) | {"name": name}
            opened.writestr(f"{at:02}/bot.yaml", yaml.safe_dump(manifest, allow_unicode=True))
            for file in source.rglob("*"):
                if file.is_file() and file.name != "bot.yaml":
                    opened.write(file, f"{at:02}/{file.relative_to(source)}")


def commands() -> list[list[str]]:
    """Return the commands of the guide, without the name of the program."""
    text = GUIDE.read_text("utf-8").partition("from nothing to a published site")[2]
    return [line.split() for line in re.findall(r"^    tourney (.+)$", text, re.MULTILINE)[:5]]


@pytest.mark.parametrize(
    ("number", "languages"), [(6, 4), pytest.param(len(NAMES), 11, marks=pytest.mark.slow)]
)
def test_a_class_contest_takes_five_commands(arena: Arena, number: int, languages: int) -> None:
    assert len(set(NAMES)) == len(NAMES) == 31
    bots = [bot for bot, program in PROGRAMS.items() if shutil.which(program)][:languages]
    hand_ins(arena.path / "hand-ins.zip", number, bots)
    init, enter, play, close, publish = commands()
    arena.run(*init)
    config = arena.path / "cup" / "league.yaml"
    text = config.read_text("utf-8").replace("rounds: 20", "rounds: 1")  # enough here
    config.write_text(text.replace("{start: 10s, move: 1s}", "{start: 60s, move: 60s}"), "utf-8")
    entered = arena.run(*enter)
    assert f"{number} bots entered, 0 not" in entered.stdout, entered
    arena.run(*play)
    arena.run(*close)
    arena.run(*publish)

    table = arena.table("public/seasons/final")
    assert {row["name"] for row in table["entrants"]} == set(NAMES[:number])
    assert sum(sum(row["faults"].values()) for row in table["entrants"]) == 0
    assert table["complete"]
    assert table["seed"] is not None
    front = (arena.path / "public" / "index.html").read_text("utf-8")
    assert 'href="seasons/final/index.html"' in front
    for page in (front, (arena.path / "public/seasons/final/index.html").read_text("utf-8")):
        found = _Markup(page).found
        assert "content" in found
        assert not [name for name in found if name.startswith("on")]
        assert "<script>alert" not in page
    assert (
        "all is as it should be" in arena.run("verify", "cup/seasons/final", "--sample", 0).stdout
    )
