"""A league's configuration file, changed in place: comments and order stay as they are."""

from __future__ import annotations

import io
import os
import re
import unicodedata
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from runner.config import load_config
from runner.config.document import load_document
from runner.config.entrants import Candidates
from runner.config.problems import Problems
from runner.errors import ConfigError, RunError, UsageError

__all__ = ["Entry", "League", "find_league", "slug"]


class Entry(NamedTuple):
    """One bot of a league as it stands in the file."""

    name: str
    place: int
    """In the list of bots, from 0."""


def find_league(path: Path) -> Path:
    """A league's configuration: the file itself, or the one of a folder.

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
        ConfigError: It is wrong, apart from bots whose languages this machine lacks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = load_config(path, skip_broken=True)
        if self.config.path != path:
            raise UsageError(f"{path}: there is no such file")
        self.entries = self._read_entries()

    @property
    def folder(self) -> Path:
        """What its paths are relative to."""
        return Path(os.path.realpath(self.path.parent))

    def entry(self, name: str) -> Entry | None:
        """Who has a name already; case and form do not matter."""
        return next((entry for entry in self.entries if _folded(entry.name) == _folded(name)), None)

    def write(self, folder: str, name: str | None, *, place: int | None = None) -> None:
        """Add a bot to the file, or put it in another's place.

        Args:
            folder: The bot's, relative to the league's.
            name: To enter it under; None for its own.
            place: Of the bot that it replaces.

        Raises:
            ConfigError: The file would be wrong then; it is left as it was.
            RunError: It cannot be written.
        """
        yaml, document = self._document()
        entry: Any = folder
        if name is not None:
            entry = CommentedMap({"bot": folder, "name": name})
            entry.fa.set_flow_style()
        bots = document["bots"]
        if place is None:
            bots.append(entry)
            _move_comment(bots)
        else:
            bots[place] = entry
        text = io.StringIO()
        yaml.dump(document, text)
        self._replace(text.getvalue())

    def _read_entries(self) -> list[Entry]:
        problems = Problems(str(self.path))
        document = load_document(self.path, str(self.path), problems)
        if document is None:
            raise ConfigError(problems.lines())
        reader = Candidates(document, self.folder)
        found = [reader.read(place) for place in range(len(document.get(("bots",))))]
        return [
            Entry(candidate.entrant.name, place)
            for place, candidate in enumerate(found)
            if candidate is not None
        ]

    def _document(self) -> tuple[YAML, Any]:
        source = self.path.read_text(encoding="utf-8-sig")
        yaml = YAML()
        yaml.preserve_quotes = True
        yaml.width = 10_000
        dash = re.search(r"(?m)^bots:[^\n]*\n(?:[ ]*(?:#[^\n]*)?\n)*( *)-", source)
        offset = len(dash[1]) if dash else 2
        yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
        return yaml, yaml.load(source)

    def _replace(self, text: str) -> None:
        """Put a text in the file's place, if it is a right configuration."""
        trial = self.path.with_name(f".{self.path.stem}.new{self.path.suffix}")
        try:
            trial.write_text(text, encoding="utf-8")
            trial.chmod(self.path.stat().st_mode)
            load_config(trial, skip_broken=True)
            trial.replace(self.path)
        except OSError as error:
            raise RunError(f"{self.path}: it cannot be written: {error}") from error
        except ConfigError as error:
            named = [line.replace(str(trial), str(self.path)) for line in error.problems]
            raise ConfigError(named) from error
        finally:
            trial.unlink(missing_ok=True)


def _move_comment(bots: Any) -> None:
    """Keep what stands between the list and the next key after the list, where a bot was added.

    The reader hangs blank lines and comments on the entry before them.
    """
    comments = bots.ca.items
    before = len(bots) - 2
    held = comments.get(before, [None])[0]
    if held is None or "\n" not in held.value:
        return
    own, line, rest = held.value.partition("\n")
    if not rest:
        return
    comments[len(bots) - 1] = [type(held)(line + rest, held.start_mark, None), None, None, None]
    if own:
        held.value = own + line
    else:
        del comments[before]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def slug(name: str) -> str:
    """A bot's name as that of a folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "bot"
