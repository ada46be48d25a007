"""Starter kits: bundled bots that are copied into a new folder and named after it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tourney_runner.config.bot_entries import MANIFEST
from tourney_runner.config.field_types import checked_name
from tourney_runner.config.paths import bundled_folder
from tourney_runner.errors import UsageError
from tourney_runner.games import registry
from tourney_runner.text import listed, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["KITS", "Kit", "bundled_bots", "create", "installation", "kit_of"]


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
    aliases: tuple[str, ...] = ()
    """Other names of the language on the command line."""
    typed: bool = False
    """Whether the kit has types for answers, so that it can answer only the bundled games."""

    def missing(self) -> list[str]:
        """Return the programs that this machine lacks."""
        return [program for program in self.programs if shutil.which(program) is None]

    def can_answer(self, game: str) -> bool:
        """Return whether the kit can send every answer of a game."""
        return not self.typed or game in registry.BUNDLED


KITS = {
    kit.language: kit
    for kit in (
        Kit("python", "random", (), "`choose` in bot.py", ("py", "python3")),
        Kit("javascript", "javascript", ("node",), "`pick` in bot.js", ("js", "node")),
        Kit("typescript", "typescript", ("tsc", "node"), "`choose` in bot.ts", ("ts",), typed=True),
        Kit("c", "c", ("gcc",), "`choose` in bot.c", typed=True),
        Kit("cpp", "cpp", ("g++",), "`choose` in bot.cpp", ("c++", "cxx"), typed=True),
        Kit("rust", "rust", ("rustc",), "`choose` in bot.rs", ("rs",), typed=True),
        Kit("go", "go", ("go",), "`choose` in bot.go", ("golang",), typed=True),
        Kit("java", "java", ("javac", "java"), "`choose` in Bot.java", typed=True),
        Kit("ruby", "ruby", ("ruby",), "`choose` in bot.rb", ("rb",)),
        Kit("lua", "lua", ("lua",), "`choose` in bot.lua"),
        Kit("perl", "perl", ("perl",), "`$pick` in bot.pl", ("pl",)),
        Kit("shell", "shell", ("sh", "awk"), "`reply` in bot.sh", ("sh", "bash")),
    )
}

_ALIASES = {alias: kit.language for kit in KITS.values() for alias in kit.aliases}

_INSTALLATION = {
    "tsc": "npm install -g typescript, or the package node-typescript of Debian",
    "lua": "the package lua5.4 of Debian",
    "javac": "a JDK, such as the package default-jdk of Debian",
    "rustc": "the package rustc of Debian, or rustup",
    "go": "the package golang-go of Debian",
}
"""Sources of programs whose package has another name."""

_README = """\
# {name}

A bot for `tourney`, in {language}. It plays a random legal move. To make it better, start with
{change}. From the folder above this one:

    tourney check {quoted}         # is it ready for a tournament? if not, what has to be fixed
    tourney run league.yaml

with a `league.yaml` there such as

    game: {game}
    rules: {{players: 2}}
    bots:
      - {folder}
      - {{bot: {rival}, trusted: true}}

`bot.yaml` has the bot's name and the commands by which it is {built}started. "Writing a bot" and
"The protocol" in tourney's docs explain the lines that it reads and writes: `tourney docs
writing-a-bot`, `tourney docs protocol`. `tourney schema protocol` prints every field, and `tourney
games {game}` the rules.
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
            f"{nearest(language, [*KITS, *_ALIASES])}"
        )
    return kit


def installation(program: str) -> str:
    """Return where to get a program that a kit needs; empty if its package has its own name."""
    return _INSTALLATION.get(program, "")


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
        UsageError: The folder is in use, its name is not valid for a bot, there is no such game,
            or the kit cannot answer it.
    """
    for name in games:
        registry.game(name)
        if not kit.can_answer(name):
            others = [other.language for other in KITS.values() if not other.typed]
            raise UsageError(
                f"the {kit.language} kit has types for the answers of "
                f"{listed(registry.BUNDLED, 'and')} only, so it cannot play {name}; start with "
                f"the kit for {listed(others, 'or')}"
            )
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
