"""Starter kits: bundled bots that are copied into a new folder and named after it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tourney_runner.config.bot_entries import MANIFEST
from tourney_runner.config.bundled import bundled_folder
from tourney_runner.config.field_types import checked_name
from tourney_runner.errors import UsageError
from tourney_runner.games import registry
from tourney_runner.text import listed, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["KITS", "Kit", "bundled_bots", "create", "kit_of"]


@dataclass(frozen=True)
class Kit:
    """The starter kit of one language."""

    language: str
    """The name of the language on the command line."""
    folder: str
    """The folder of the bundled bot, below ``bots/``."""
    programs: tuple[str, ...]
    """The programs that have to be installed."""
    change: str
    """The place for the first change."""

    def missing(self) -> list[str]:
        """Return the programs that this machine lacks."""
        return [program for program in self.programs if shutil.which(program) is None]


KITS = {
    kit.language: kit
    for kit in (
        Kit("python", "random", (), "`choose` in bot.py"),
        Kit("javascript", "javascript", ("node",), "`pick` in bot.js"),
        Kit("typescript", "typescript", ("tsc", "node"), "`choose` in bot.ts"),
        Kit("c", "c", ("gcc",), "`choose` in bot.c"),
        Kit("cpp", "cpp", ("g++",), "`choose` in bot.cpp"),
        Kit("rust", "rust", ("rustc",), "`choose` in bot.rs"),
        Kit("go", "go", ("go",), "`choose` in bot.go"),
        Kit("java", "java", ("javac", "java"), "`choose` in Bot.java"),
        Kit("perl", "perl", ("perl",), "`$pick` in bot.pl"),
        Kit("shell", "shell", ("sh", "awk"), "`reply` in bot.sh"),
    )
}

_ALIASES = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "node": "javascript",
    "ts": "typescript",
    "c++": "cpp",
    "cxx": "cpp",
    "rs": "rust",
    "golang": "go",
    "pl": "perl",
    "sh": "shell",
    "bash": "shell",
}
"""Other names of the languages."""

_README = """\
# {name}

A bot for `tourney`, in {language}. It plays any legal move by chance; the place to make it better
is {change}. From the folder above this one:

    tourney check {quoted}         # is it ready for a tournament? if not, what to mend
    tourney run league.yaml

with a `league.yaml` there such as

    game: {game}
    rules: {{players: 2}}
    bots:
      - {folder}
      - {{bot: {rival}, trusted: true}}

`bot.yaml` says what the bot is called and how it is {built}started. What the lines mean that it
reads and writes is in "Writing a bot" and "The protocol" in tourney's docs; `tourney schema
protocol` prints every field, `tourney games {game}` the rules.
"""


def kit_of(language: str) -> Kit:
    """Return the kit of a language.

    Raises:
        UsageError: There is none.
    """
    kit = KITS.get(_ALIASES.get(language.lower(), language.lower()))
    if kit is None:
        raise UsageError(
            f"there is no kit for {shown(language)}; the kits are {listed(KITS, 'and')}"
            f"{nearest(language, KITS)}"
        )
    return kit


def bundled_bots() -> Path:
    """Return the folder of the bots that come with the program.

    Raises:
        UsageError: The installation is broken.
    """
    folder = bundled_folder("bots")
    if folder is None:
        raise UsageError("this installation of tourney lacks its bots; install it again")
    return folder


def create(kit: Kit, folder: Path, games: Sequence[str] = ()) -> list[Path]:
    """Create a bot's folder and name the bot after it.

    Args:
        kit: The kit.
        folder: The new folder; it must be missing or empty.
        games: The games that the bot claims to play; if empty, all that the kit can play.

    Returns:
        The new files.

    Raises:
        UsageError: The folder is in use, its name is not valid for a bot, or there is no such game.
    """
    for name in games:
        registry.game(name)
    name = checked_name(folder.resolve().name, "the folder's name becomes the bot's")
    try:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder}: there is something here already; name another folder")
        _fill(kit, folder, name, games)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder}: the kit cannot be written here ({reason})") from error
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _fill(kit: Kit, folder: Path, name: str, games: Sequence[str]) -> None:
    source = bundled_bots() / kit.folder
    shutil.copytree(
        source,
        folder,
        dirs_exist_ok=True,
        copy_function=shutil.copyfile,
        ignore=shutil.ignore_patterns("__pycache__", "*.pyc"),
    )
    manifest = folder / MANIFEST
    text = _manifest(manifest.read_text(encoding="utf-8"), name, games)
    manifest.write_text(text, encoding="utf-8")
    readme = _README.format(
        name=name,
        quoted=shlex.quote(folder.resolve().name),
        folder=json.dumps(folder.resolve().name) if " " in name else folder.resolve().name,
        language=re.search(r"(?m)^language: (.*)", text)[1],  # type: ignore[index]  # every kit says it
        change=kit.change,
        game=games[0] if games else "tienlen",
        rival=bundled_bots() / "greedy",
        built="built and " if "\nbuild:" in text else "",
    )
    (folder / "README.md").write_text(readme, encoding="utf-8")


def _manifest(text: str, name: str, games: Sequence[str]) -> str:
    """Return a bundled bot's ``bot.yaml`` with another name, as the author's own."""
    plain = re.fullmatch(r"[A-Za-z][\w-]*", name) and name.lower() != "null"
    written = name if plain else json.dumps(name)
    text = re.sub(r"(?m)^name:.*$", lambda _: f"name: {written}", text)
    text = re.sub(r"(?m)^author:.*\n", "", text)
    if games:
        text = re.sub(r"(?m)^games:.*$", f"games: [{', '.join(games)}]", text)
    return text
