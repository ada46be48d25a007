"""A new league: a folder with a configuration to start from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tourney_runner.atomic_write import write_whole
from tourney_runner.errors import RunError, UsageError
from tourney_runner.games.registry import game as find_game

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["create_league"]

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
