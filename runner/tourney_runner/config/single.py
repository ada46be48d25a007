"""A bot's folder that is named by itself, and by no tournament's file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.config.bot_entries import EntryReader
from tourney_runner.config.diagnostics import NOWHERE, Problems
from tourney_runner.config.yaml_document import Document
from tourney_runner.errors import ConfigError

if TYPE_CHECKING:
    from tourney_runner.config.models import Entrant

__all__ = ["read_bot"]


def read_bot(folder: Path, *, name: str | None = None) -> Entrant:
    """Read a bot's folder as a tournament's file would that names it and grants it nothing.

    Args:
        folder: With a ``bot.yaml``.
        name: To enter it under; its own if left out.

    Raises:
        ConfigError: With everything that is wrong, such as a program that is not installed.
    """
    problems = Problems(str(folder))
    entry = {"bot": str(folder), **({} if name is None else {"name": name})}
    document = Document(str(folder), problems, entry, marks={(): NOWHERE})
    candidate = EntryReader(document, Path.cwd()).reference(())
    for problem in candidate.broken if candidate else ():
        problems.add(problem)
    if candidate is None or problems:
        raise ConfigError(problems.lines())
    return candidate.entrant
