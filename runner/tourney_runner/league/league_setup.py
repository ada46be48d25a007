"""The configuration of a league, and a folder with one to start from."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from anyascii import anyascii

from tourney_runner.atomic_write import write_whole
from tourney_runner.config import load_config
from tourney_runner.config.bot_entries import EntryReader
from tourney_runner.config.field_types import folded
from tourney_runner.config.models import BotGrants
from tourney_runner.config.validation import Problems
from tourney_runner.config.yaml_document import load_document
from tourney_runner.errors import ConfigError, RunError, UsageError
from tourney_runner.games.registry import game as find_game
from tourney_runner.league.yaml_list_edit import find_list

__all__ = ["Entry", "League", "create_league", "find_league", "slug"]


_LEAGUE = """\
# The league {name}. `tourney docs organising` explains every step;
# `tourney docs configuration` lists every option.
name: {name}
game: {game}
seed: secret      # each season draws its own, which stays sealed until the season is closed
rules: {{players: {players}}}
bots: []          # `tourney submit BOT .` and `tourney league import FOLDER_OR_ZIP .` add them
schedule: {{format: round-robin, rounds: 20}}
match: {{duplicate: true}}
time: {{start: 10s, move: 1s}}
limits: {{memory: 512M}}
publish: {{logs: first_line}}
"""

_IGNORED = """\
# Results hold sealed seeds. Keep them out of a public repository.
/seasons/
"""


def create_league(folder: Path, *, game: str, name: str | None) -> Path:
    """Write ``league.yaml``, ``bots/`` and ``.gitignore`` into a folder.

    Args:
        folder: The new league's; made if it is missing.
        game: The game, with the number of players that its options prefer.
        name: The league's name; the folder's if None.

    Returns:
        The configuration.

    Raises:
        UsageError: There is no such game, or the folder has a ``league.yaml``.
        RunError: The folder cannot be written.
    """
    players = find_game(game).options.model_validate({}).in_force()["players"]
    path = folder / "league.yaml"
    if path.exists():
        raise UsageError(f"{path} exists; choose another folder, or edit that file")
    title = name or folder.resolve().name
    text = _LEAGUE.format(name=json.dumps(title, ensure_ascii=False), game=game, players=players)
    try:
        (folder / "bots").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder}: the folder cannot be written: {error.strerror}") from error
    write_whole(path, text)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        write_whole(ignored, _IGNORED)
    return path


class Entry(NamedTuple):
    """One bot of a league as it stands in the file."""

    name: str
    place: int
    """The index in the list of bots, from 0."""
    granted: tuple[str, ...]
    """The other keys of the entry besides its folder and name, such as ``trusted``."""


def find_league(path: Path) -> Path:
    """Return a league's configuration file: the path itself, or the one in a folder.

    Raises:
        UsageError: There is none, or more than one.
    """
    if not path.is_dir():
        return path
    files = [path / "league.yaml"] if (path / "league.yaml").is_file() else []
    files = files or sorted([*path.glob("*.yaml"), *path.glob("*.yml")])
    if len(files) != 1:
        found = ", ".join(file.name for file in files) or "none"
        raise UsageError(f"{path}: expected one configuration in this folder, found {found}")
    return files[0]


class League:
    """A league that bots can be added to.

    Args:
        path: Its configuration.

    Raises:
        ConfigError: The file is wrong. Bots whose languages this machine lacks, and too few bots
            for a run, are not errors here.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = load_config(path, skip_broken=True, growing=True)
        if self.config.path != path:
            raise UsageError(f"{path}: there is no such file")
        self.entries = self._read_entries()

    @property
    def folder(self) -> Path:
        """The folder that its paths are relative to."""
        return Path(os.path.realpath(self.path.parent))

    def entry(self, name: str) -> Entry | None:
        """Return the entry with a name, without regard to case and Unicode form."""
        return next((entry for entry in self.entries if folded(entry.name) == folded(name)), None)

    def write(self, folder: str, name: str | None, *, place: int | None = None) -> None:
        """Add a bot to the file, or replace another one.

        Args:
            folder: The bot's folder, relative to the league's.
            name: The name of the entry; None for the bot's own.
            place: The index of the bot that it replaces.

        Raises:
            ConfigError: The file would become wrong; it is not changed.
            UsageError: The bots in the file are not written as a list.
            RunError: The file cannot be written.
        """
        entry = folder
        if name is not None:
            entry = f"{{bot: {folder}, name: {json.dumps(name, ensure_ascii=False)}}}"
        bots = find_list(self.path.read_bytes().decode(), "bots")
        if bots is None:
            raise UsageError(
                f"{self.path}: `bots` is not a list in this file (an alias or a tag, perhaps); add "
                f"this entry by hand: {entry}"
            )
        self._replace(bots.added(entry) if place is None else bots.replaced(place, entry))

    def _read_entries(self) -> list[Entry]:
        problems = Problems(str(self.path))
        document = load_document(self.path, str(self.path), problems)
        if document is None:
            raise ConfigError(problems.lines())
        reader = EntryReader(document, self.folder)
        found = [reader.read(place) for place in range(len(document.get(("bots",))))]
        return [
            Entry(candidate.entrant.name, place, _granted(document.get(("bots", place))))
            for place, candidate in enumerate(found)
            if candidate is not None
        ]

    def _replace(self, text: str) -> None:
        """Replace the content of the file, if the new text is a valid configuration."""
        trial = self.path.with_name(f".{self.path.stem}.new{self.path.suffix}")
        try:
            trial.write_bytes(text.encode())
            trial.chmod(self.path.stat().st_mode)
            load_config(trial, skip_broken=True, growing=True)
            trial.replace(self.path)
        except OSError as error:
            raise RunError(f"{self.path}: it cannot be written: {error}") from error
        except ConfigError as error:
            named = [line.replace(str(trial), str(self.path)) for line in error.problems]
            raise ConfigError(named) from error
        finally:
            trial.unlink(missing_ok=True)


def _granted(entry: object) -> tuple[str, ...]:
    """Return the keys of an entry that grant its bot something."""
    written = entry if isinstance(entry, dict) else {}
    return tuple(key for key in BotGrants.model_fields if written.get(key))


def slug(name: str) -> str:
    """Return a bot's name as that of a folder, in Latin letters: `Nguyễn` becomes `Nguyen`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", anyascii(name)).strip("-.") or "bot"
