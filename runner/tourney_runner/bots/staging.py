"""From an entrant to a bot that is ready to run: hash, copy, build once, read-only from then on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.bots.bot import Bot
from tourney_runner.bots.build import build
from tourney_runner.bots.cache import cache_folder, slot, sweep
from tourney_runner.bots.sources import Entry, copy, digest, file_digest, scan
from tourney_runner.config.programs import expanded, find_program, missing_file
from tourney_runner.errors import UsageError
from tourney_runner.process.access import ProgramError, visible_file
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.text import escaped, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.config.models import Entrant
    from tourney_runner.process.launcher import Launcher

__all__ = ["remove_unfinished", "stage", "version_name"]

_VERSIONS = "bots"


def stage(
    entrant: Entrant,
    cache: Path | None = None,
    *,
    launcher: Launcher | None = None,
    build_network: bool = False,
    build_seconds: float = 600.0,
) -> Bot:
    """Make a bot ready to run; quick when this version of it was staged before.

    May be called for several entrants at once, from threads or processes.

    Args:
        entrant: What to stage.
        cache: Where; `bots.cache.cache_folder` if left out.
        launcher: How its build commands are started; without any confinement if left out.
        build_network: Whether they may use the network.
        build_seconds: For all its build commands together.

    Raises:
        UsageError: It cannot be copied, built or started. Nothing is left of a failed attempt.
    """
    building = partial(
        build,
        entrant.name,
        tuple(expanded(step) for step in entrant.build or ()),
        launcher=launcher or PlainLauncher(limited=False),
        network=build_network,
        tools=entrant.rights.tools,
        seconds=build_seconds,
    )
    try:
        return _stage(entrant, (cache or cache_folder()).absolute(), building)
    except OSError as error:
        reason = f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
        raise UsageError(
            f"the bot {shown(entrant.name)} cannot be staged: {escaped(reason, 500)}"
        ) from error


def _stage(entrant: Entrant, cache: Path, building: Callable[[Path], None]) -> Bot:
    entries = scan(entrant.folder) if entrant.folder else []
    sources = digest(entrant.folder, entries) if entrant.folder else _sha256([])
    with slot(cache / _VERSIONS, version_name(entrant, sources)) as place:
        if not place.is_complete():
            place.clear()
            try:
                if entrant.folder:
                    _copy(entrant.folder, entries, place.folder, sources)
                building(place.folder)
                place.complete()
            except BaseException:
                place.remove()
                raise
    command = _resolved(entrant, place.folder)
    identity = [sources, entrant.command, entrant.build, entrant.env, _outside(entrant)]
    return Bot(
        number=entrant.number,
        name=entrant.name,
        language=entrant.language,
        author=entrant.author,
        folder=str(place.folder),
        command=command,
        env=entrant.env,
        hash=_sha256(identity),
        executable=os.path.realpath(command[0]),
        rights=entrant.rights,
        trusted=entrant.trusted,
    )


def remove_unfinished(cache: Path | None = None) -> None:
    """Remove the versions that `stage` was at when its process was killed.

    Args:
        cache: Where; `bots.cache.cache_folder` if left out.
    """
    with suppress(OSError):  # others may clean up as well, and whoever stages tells of the rest
        sweep((cache or cache_folder()) / _VERSIONS)


def version_name(entrant: Entrant, sources: str) -> str:
    """The name in the cache of a bot's version for this kind of machine.

    Args:
        entrant: The bot.
        sources: The digest of its files, see `bots.sources`.
    """
    steps = tuple(expanded(step) for step in entrant.build or ())
    return _sha256([sources, steps, platform.system(), platform.machine()])[:32]


def _copy(folder: Path, entries: list[Entry], target: Path, expected: str) -> None:
    copy(folder, entries, target)
    if digest(target, entries) != expected:
        raise UsageError(
            f"'{escaped(str(folder), 500)}' changed while it was copied; run this again"
        )


def _resolved(entrant: Entrant, folder: Path) -> tuple[str, ...]:
    """Return the command as it is run, after a last look at whether it can be.

    Raises:
        UsageError: It cannot.
    """
    words = expanded(entrant.command)
    try:
        program = find_program(words[0], folder, entrant.rights, entrant.env.get("PATH"))
    except ProgramError as error:
        wrong: tuple[str, str] | None = (words[0], str(error))
    else:
        wrong = missing_file(words, folder, entrant.rights)
    if wrong:
        reason = f"{shown(wrong[0])}: {wrong[1]}"
        raise UsageError(f"the bot {shown(entrant.name)} cannot be started: {reason}")
    return (program, *words[1:])


def _outside(entrant: Entrant) -> list[str]:
    """Return hashes of the files outside its folder that a command names by absolute paths.

    Only what the bot may see counts; nothing else is opened.
    """
    rights = entrant.rights
    hashes = []
    for word in entrant.command:
        if word.startswith(os.sep):
            with suppress(ProgramError, OSError):
                path = Path(visible_file(word, tools=rights.tools, data=rights.data))
                if path.is_file():
                    hashes.append(file_digest(path))
    return hashes


def _sha256(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
