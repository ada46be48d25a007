"""One bot's folder, outside of any tournament."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from runner.bots import remove_unfinished, stage
from runner.config.document import Document
from runner.config.entrants import Candidates
from runner.config.problems import Problems
from runner.errors import ConfigError
from runner.run.prepare import specs

if TYPE_CHECKING:
    from runner.bots import Bot
    from runner.config import Entrant
    from runner.play.settings import BotSpec
    from runner.process.launcher import Launcher

__all__ = ["read_bot", "spec_of", "stage_bot"]


def read_bot(folder: Path, *, name: str | None = None) -> Entrant:
    """Read a bot's folder as a tournament's file would that names it.

    Args:
        folder: With a ``bot.yaml``.
        name: To enter it under; its own if left out.

    Raises:
        ConfigError: With everything that is wrong, such as a program that is not installed.
    """
    problems = Problems(str(folder))
    entry = {"bot": str(folder), **({} if name is None else {"name": name})}
    document = Document(str(folder), problems, {"bots": [entry]})
    candidate = Candidates(document, Path.cwd()).read(0)
    for problem in candidate.broken if candidate else ():
        problems.add(problem)
    if candidate is None or problems:
        raise ConfigError([_without_place(line) for line in problems.lines()])
    return candidate.entrant


def _without_place(line: str) -> str:
    """What is wrong, without its place in the tournament's file, which is not there."""
    return re.sub(r":1:1: bots\[0\]\.(?:bot: )?", ": ", line, count=1)


def stage_bot(entrant: Entrant, launcher: Launcher) -> Bot:
    """Copy and build it as a tournament does, under the same protection.

    Raises:
        UsageError: That does not work.
    """
    remove_unfinished()
    return stage(entrant, launcher=launcher)


def spec_of(bot: Bot, number: int) -> BotSpec:
    """What a table needs to know of it, seated as entrant `number`."""
    (spec,) = specs([bot])
    return msgspec.structs.replace(spec, number=number)
