"""Who the entrants are, when a tournament is continued: those of before, new ones, new versions.

A bot is known by the hash of all that decides how it plays. One that is no longer entered, or
whose files have changed, plays on from the copy that was staged when it joined.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tourney_runner.bots import Bot
from tourney_runner.bots.staged_index import recall
from tourney_runner.config import Entrant, read_bot
from tourney_runner.errors import UsageError
from tourney_runner.process.launcher import Rights
from tourney_runner.run.field import absent
from tourney_runner.text import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from tourney_runner.config import Config
    from tourney_runner.results.store import Store
    from tourney_runner.results.tournament_record import EntrantRecord

__all__ = ["Roster", "entered", "entrants_of", "roster", "with_added"]


class Roster(NamedTuple):
    """All bots that ever joined."""

    bots: list[Bot]
    """By number; those that play no more need not be there as files."""
    versions: dict[str, str]
    """The name that a configuration has for a bot, for those that joined as new versions."""
    replaced: dict[int, str]
    """Entrants that give way to a new version, and its name."""


def entered(folder: Path, config: Config) -> Entrant:
    """The bot of a folder, to be entered beside those of a configuration, which trusts it not.

    Raises:
        ConfigError: With everything that is wrong with it.
        UsageError: It does not play this game.
    """
    entrant = read_bot(folder)
    if entrant.games is not None and config.game not in entrant.games:
        raise UsageError(f"the bot {shown(entrant.name)} does not play {config.game}")
    return entrant


def with_added(entrants: Sequence[Entrant], added: Sequence[Entrant]) -> tuple[Entrant, ...]:
    """The entrants of a configuration and others; an added one goes before its namesake."""
    names = {entrant.name for entrant in added}
    kept = [entrant for entrant in entrants if entrant.name not in names]
    return tuple(
        entrant.model_copy(update={"number": number})
        for number, entrant in enumerate((*kept, *added))
    )


def roster(
    store: Store, staged: Sequence[Bot], new_versions: Collection[str], broken: Collection[str]
) -> Roster:
    """Match the bots of today with those that joined before.

    Args:
        store: The results.
        staged: Those of the configuration.
        new_versions: The names whose bots may have changed; then they join as new versions.
        broken: Names whose bots cannot be staged; their versions of before play on.

    Returns:
        All, where what is missing or has changed otherwise is left as it is found, to be refused.

    Raises:
        UsageError: The copy of a bot is needed and gone.
    """
    record = store.tournament()
    before = record.bots
    versions = dict(record.versions)
    found: dict[str, Bot] = {}
    newcomers: list[Bot] = []
    replaced: dict[int, str] = {}
    taken = {name.casefold() for name in (*before, *(bot.name for bot in staged))}
    for bot in staged:
        family = [name for name in before if versions.get(name, name) == bot.name]
        same = [name for name in family if before[name].hash == bot.hash]
        if same:
            found[same[-1]] = msgspec.structs.replace(bot, name=same[-1])
        elif not family:
            newcomers.append(bot)
        elif bot.name in new_versions:
            name = _free(bot.name, taken)
            versions[name] = bot.name
            replaced[before[family[-1]].number] = name
            newcomers.append(msgspec.structs.replace(bot, name=name))
        else:
            found[family[-1]] = msgspec.structs.replace(bot, name=family[-1])
    kept_anyway = {*versions, *versions.values(), *record.added, *broken}
    gone = absent(store)
    for name, joined in before.items():
        if name not in found and joined.number in gone:
            found[name] = _as_granted(recall(joined.hash) or _shell(joined), joined)
        elif name not in found and name in kept_anyway:
            found[name] = _as_granted(_recalled(name, joined.hash), joined)
    in_order = sorted(found, key=lambda name: before[name].number)
    numbers = [before[name].number for name in in_order]
    numbers += range(len(before), len(before) + len(newcomers))
    bots = [
        msgspec.structs.replace(bot, number=number, name=name)
        for number, name, bot in zip(
            numbers,
            [*in_order, *(bot.name for bot in newcomers)],
            [*(found[name] for name in in_order), *newcomers],
            strict=True,
        )
    ]
    return Roster(bots, versions, replaced)


def entrants_of(
    bots: Sequence[Bot],
    configured: Sequence[Entrant],
    versions: dict[str, str],
    before: Mapping[str, EntrantRecord],
) -> tuple[Entrant, ...]:
    """The entrants behind bots, for what is said of them; their files are not looked at again.

    Args:
        bots: All, by number.
        configured: Those of the configuration.
        versions: See `Roster`.
        before: What is stored of the bots that have joined, by name.
    """
    known = {entrant.name: entrant for entrant in configured}
    names = {bot.name: versions.get(bot.name, bot.name) for bot in bots}
    return tuple(
        known[names[bot.name]].model_copy(update={"number": bot.number, "name": bot.name})
        if names[bot.name] in known
        else Entrant(
            number=bot.number,
            name=bot.name,
            folder=None,
            command=bot.command,
            language=bot.language,
            author=bot.author,
            team=before[bot.name].team,
        )
        for bot in bots
    )


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while (free := f"{name} v{number}").casefold() in taken:
        number += 1
    taken.add(free.casefold())
    return free


def _recalled(name: str, bot_hash: str) -> Bot:
    bot = recall(bot_hash)
    if bot is None:
        raise UsageError(
            f"the bot {shown(name)} plays on as it was when it joined (hash {bot_hash[:16]}), but"
            " that copy is no longer in the cache of staged bots; enter those files again with"
            " --add, or withdraw it"
        )
    return bot


def _as_granted(bot: Bot, joined: EntrantRecord) -> Bot:
    """A bot with the rights of this tournament; the cache may have it with those of another."""
    if joined.rights is None:
        return bot
    return msgspec.structs.replace(bot, rights=joined.rights)


def _shell(joined: EntrantRecord) -> Bot:
    """Return what is stored of a bot that will not be started again."""
    return Bot(
        number=joined.number,
        name=joined.name,
        language=joined.language,
        author=joined.author,
        folder=os.sep,
        command=(),
        env={},
        hash=joined.hash,
        executable=joined.executable,
        rights=Rights(),
        trusted=False,
    )
