"""Setup of a table with a person: the bots, the folder, and the rules in words."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tourney_runner.config import read_bot
from tourney_runner.config.field_types import checked_name, folded
from tourney_runner.config.paths import bundled_folder
from tourney_runner.errors import UsageError
from tourney_runner.games.registry import game as find_game
from tourney_runner.text import listed, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.config import Config, Entrant
    from tourney_runner.games.base import Game, GameOptions

__all__ = ["Invitation", "invite", "rulebook", "rules_text"]


@dataclass(frozen=True)
class Invitation:
    """The players of a table, its game and its folder."""

    config: Config
    """Game, limits and rating."""
    options: GameOptions
    """The rules, for as many players as there are."""
    person: str
    bots: tuple[Entrant, ...]
    """The others, clockwise from the person."""
    folder: Path
    """The folder of the deals."""
    seed: str | None = None
    """The source of all cards; drawn at random if None."""


def invite(
    config: Config, person: str, against: Sequence[str], folder: Path, seed: str | None
) -> Invitation:
    """Set up a table.

    Args:
        config: A tournament; its bots fill the table if `against` is empty.
        person: The person's name; a bot of that name is left out.
        against: Bots of the tournament by name, folders of other bots, or a number of bots of the
            tournament.
        folder: The folder for the deals.
        seed: The source of all cards.

    Raises:
        UsageError: There is no such bot, or the game does not allow this number of players.
        ConfigError: A bot's folder is wrong.
    """
    if against:
        bots = [bot for word in against for bot in _wanted(config, word, person)]
    else:
        bots = _others(config, person)[: config.options.players - 1]
    players = len(bots) + 1
    person = checked_name(person, "--as")
    named = _told_apart(bots, person)
    return Invitation(config, _options(config, players), person, named, folder, seed)


def _others(config: Config, person: str) -> list[Entrant]:
    return [bot for bot in config.entrants if folded(bot.name) != folded(person)]


def _wanted(config: Config, word: str, person: str) -> list[Entrant]:
    found = [bot for bot in config.entrants if folded(bot.name) == folded(word)]
    if found:
        return found[:1]
    if Path(word).is_dir():
        return [read_bot(Path(word))]
    if word.isdecimal() and 1 <= int(word) <= _MOST_BOTS:
        others = _others(config, person)
        if others:
            return [*islice(cycle(others), int(word))]
    names = [bot.name for bot in config.entrants]
    raise UsageError(
        f"there is no bot {shown(word)} in {config.path}, and no such folder; the bots there are"
        f" {listed(names, 'and')}{nearest(word, names)}"
    )


def _told_apart(bots: Sequence[Entrant], person: str) -> tuple[Entrant, ...]:
    """Rename bots so that all names differ, also from the person's."""
    taken = {folded(person)}
    named = []
    for bot in bots:
        name, number = bot.name, 2
        while folded(name) in taken:
            name, number = f"{bot.name}-{number}", number + 1
        taken.add(folded(name))
        named.append(bot.model_copy(update={"name": name}))
    return tuple(named)


def _options(config: Config, players: int) -> GameOptions:
    """Return the tournament's rules for this number of players."""
    if players == config.options.players:
        return config.options
    model = find_game(config.game).options
    chosen = config.options.model_dump(exclude_unset=True) | {"players": players}
    try:
        options: GameOptions = model.model_validate(chosen)
    except ValidationError as error:
        why = "; ".join(str(one["msg"]) for one in error.errors())
        raise UsageError(f"{config.game} with {players} players: {why}") from error
    return options


_MOST_BOTS = 99
_COMMENT = re.compile(r"^<!--.*?-->$\n?", re.MULTILINE | re.DOTALL)


def rulebook(game: Game[Any, Any], options: GameOptions) -> str:
    """Return the rules in force, and the rule book if the game has one, as Markdown.

    Args:
        game: The game.
        options: The options at this table.
    """
    return f"{rules_text(game, options)}\n\n{_book(game.name)}"


def rules_text(game: Game[Any, Any], options: GameOptions) -> str:
    """Return every option with its value and its meaning, as Markdown."""
    in_force = options.in_force()
    lines = [f"# {game.title}: the rules at this table", ""]
    for name, field in game.options.model_fields.items():
        if name in in_force:
            text = " ".join((field.description or "").split())
            lines.append(f"- **{name}: {json.dumps(in_force[name])}** {text}")
    return "\n".join(lines)


def _book(name: str) -> str:
    """Return the rule book that comes with the program; empty if the game has none."""
    folder = bundled_folder("docs")
    book = None if folder is None else folder / f"rules-{name}.md"
    if book is None or not book.is_file():
        return ""
    return _COMMENT.sub("", book.read_text(encoding="utf-8"))
