"""Stage entrants: hash their files, copy them, build them once and make the result read-only."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from os import getpid
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.bots.build import build
from tourney_runner.bots.cache import cache_folder, slot, sweep
from tourney_runner.bots.ignored import read_ignore_rules
from tourney_runner.bots.sources import ALGORITHM, Entry, copy, digest, file_digest, scan
from tourney_runner.config.paths import expanded, find_program, missing_file
from tourney_runner.errors import UsageError
from tourney_runner.play.bot import Bot
from tourney_runner.process.access import visible_file
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.process.process_tree import clean_up, end_tree, end_unknown_children
from tourney_runner.process.procfs import become_subreaper, children
from tourney_runner.process.program_finder import ProgramError
from tourney_runner.text import escaped, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from concurrent.futures import Future

    from tourney_runner.config.models import Entrant
    from tourney_runner.process.launcher import Launcher

__all__ = [
    "former_hashes",
    "remove_unfinished",
    "stage",
    "stage_all",
    "version_name",
    "with_stored_hash",
]


_VERSIONS = "bots"


def stage(
    entrant: Entrant,
    cache: Path | None = None,
    *,
    launcher: Launcher | None = None,
    build_network: bool = False,
    build_seconds: float = 600.0,
) -> Bot:
    """Stage a bot; fast if this version of it was staged before.

    Safe to call for several entrants at once, from threads or processes.

    Args:
        entrant: The entrant to stage.
        cache: The cache folder; `bots.cache.cache_folder` if left out.
        launcher: Starts its build commands. They are not confined if it is left out.
        build_network: Whether build commands may use the network.
        build_seconds: The time limit for all build commands together.

    Raises:
        UsageError: The bot cannot be copied, built or started. A failed attempt leaves no files.
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
    if entrant.folder:
        _check_ignore_file(entrant, entrant.folder)
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
    return Bot(
        number=entrant.number,
        name=entrant.name,
        language=entrant.language,
        author=entrant.author,
        folder=str(place.folder),
        command=command,
        env=entrant.env,
        hash=f"{ALGORITHM}:{_identity(entrant, sources)}",
        executable=os.path.realpath(command[0]),
        rights=entrant.rights,
        trusted=entrant.trusted,
    )


def with_stored_hash(bot: Bot, entrant: Entrant, stored: Collection[str]) -> Bot:
    """Return a staged bot with the hash by which results of an earlier version identify it.

    Args:
        bot: The bot as it was staged now.
        entrant: The same bot with its folder.
        stored: The hashes in the results, by any algorithm.

    Returns:
        The bot itself if the results have its hash, or none that an earlier version gave it.
    """
    unnamed = {one for one in stored if ":" not in one}
    if bot.hash in stored or not unnamed:
        return bot
    found = next((one for one in former_hashes(bot, entrant) if one in unnamed), bot.hash)
    return msgspec.structs.replace(bot, hash=found)


def former_hashes(bot: Bot, entrant: Entrant) -> Iterator[str]:
    """Yield the hashes that earlier versions may have given to a bot.

    Args:
        bot: The bot as it was staged now.
        entrant: The same bot with its folder.
    """
    yield bot.digits
    with suppress(OSError, UsageError):  # then there never were the same files
        if entrant.folder:
            sources = digest(entrant.folder, scan(entrant.folder, staged=True))
            yield _identity(entrant, sources)


def remove_unfinished(cache: Path | None = None) -> None:
    """Remove versions that were left unfinished when their process was killed.

    Args:
        cache: The cache folder; `bots.cache.cache_folder` if left out.
    """
    with suppress(OSError):  # another process may be cleaning up too; `stage` reports real problems
        sweep((cache or cache_folder()) / _VERSIONS)


def version_name(entrant: Entrant, sources: str) -> str:
    """Return the name of a bot's version in the cache, specific to this kind of machine.

    Args:
        entrant: The entrant.
        sources: The digest of its files; see `bots.sources`.
    """
    steps = tuple(expanded(step) for step in entrant.build or ())
    return _sha256([sources, steps, platform.system(), platform.machine()])[:32]


def _check_ignore_file(entrant: Entrant, folder: Path) -> None:
    """Refuse an ignore file that leaves out what the bot's command or build names.

    Raises:
        UsageError: It does, or cannot be used at all.
        OSError: It cannot be read.
    """
    words = (*entrant.command, *(word for step in entrant.build or () for word in step))
    try:
        read_ignore_rules(folder).check_needed(words)
    except UsageError as error:
        raise UsageError(f"the bot {shown(entrant.name)} cannot be staged: {error}") from error


def _copy(folder: Path, entries: list[Entry], target: Path, expected: str) -> None:
    copy(folder, entries, target)
    if digest(target, entries) != expected:
        raise UsageError(
            f"'{escaped(str(folder), 500)}' changed while it was copied; run this again"
        )


def _resolved(entrant: Entrant, folder: Path) -> tuple[str, ...]:
    """Return the command as it will be run, after checking that it can be started.

    Raises:
        UsageError: The command cannot be started.
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


def _identity(entrant: Entrant, sources: str) -> str:
    """Return the SHA-256 of a bot, given the digest of its files."""
    outside = _outside(entrant)
    return _sha256([sources, entrant.command, entrant.build, entrant.env, outside])


def _outside(entrant: Entrant) -> list[str]:
    """Return the hashes of files outside the bot's folder that its command names by absolute path.

    Only files that the bot may see are opened.
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


_FIRST_LINE_AFTER = 5.0
"""Seconds of staging before the first progress line. Each pause is twice as long as the last."""
_AT_ONCE = 2
"""Number of builds that run at the same time."""


def stage_all(
    entrants: Sequence[Entrant],
    *,
    launcher: Launcher | None = None,
    build_network: bool = False,
    alone: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[list[Bot], dict[str, str]]:
    """Stage all bots, after removing what killed runs left behind.

    Args:
        entrants: The entrants, by number.
        launcher: Starts build commands. They are not confined if it is left out.
        build_network: Whether build commands may use the network.
        alone: Whether this process starts nothing else in the meantime. New child processes are
            then leftovers of builds and are ended.
        say: Called with a progress line from time to time while builds run.

    Returns:
        The bots that are ready, and the reasons why others are not, by name.

    Raises:
        Interrupted: A signal arrived. Running builds are ended and their files removed.
    """
    become_subreaper()  # before anything starts that could outlive this process
    clean_up()
    remove_unfinished()
    known = set(children(getpid()))
    try:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            futures = [
                pool.submit(stage, entrant, launcher=launcher, build_network=build_network)
                for entrant in entrants
            ]
            try:
                _wait(entrants, futures, say)
            except BaseException:
                _stop(futures)
                raise
    finally:
        if alone:
            end_unknown_children(known)
    ready: list[Bot] = []
    broken: dict[str, str] = {}
    for entrant, future in zip(entrants, futures, strict=True):
        try:
            ready.append(future.result())
        except UsageError as error:
            broken[entrant.name] = str(error)
    return ready, broken


def _wait(
    entrants: Sequence[Entrant], futures: Sequence[Future[Bot]], say: Callable[[str], None]
) -> None:
    """Wait until all bots are staged, and report the running builds from time to time."""
    began = monotonic()
    pause = _FIRST_LINE_AFTER
    while wait(futures, timeout=pause).not_done:
        pause *= 2
        names = [
            shown(entrant.name)
            for entrant, future in zip(entrants, futures, strict=True)
            if future.running()
        ]
        waiting = sum(not future.done() for future in futures) - len(names)
        more = f"; {waiting} more to come" if waiting > 0 else ""
        say(f"building {', '.join(names)} ({monotonic() - began:.0f} s so far){more}")


def _stop(futures: list[Future[Bot]]) -> None:
    """End the running builds. Their threads notice it and clean up."""
    for future in futures:
        future.cancel()
    while wait(futures, timeout=0.02).not_done:
        for pid in children(getpid()):
            end_tree(pid)  # not reaped here: the build's thread needs its exit status
