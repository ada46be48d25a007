"""Submission of a bot to a league: a stored version, and an entry in the configuration."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tourney_runner.botcheck import check_bot, make_plan
from tourney_runner.bots.sources import copy, digest, scan
from tourney_runner.config import read_bot
from tourney_runner.errors import RunError, TourneyError, UsageError
from tourney_runner.league.league_setup import slug
from tourney_runner.text import listed, shown

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from tourney_runner.botcheck import Watcher
    from tourney_runner.config import Entrant
    from tourney_runner.league.league_setup import Entry, League

__all__ = ["Submission", "submit"]

_BOTS = "bots"
"""The folder of versions, below the league's folder."""


@dataclass(frozen=True)
class Submission:
    """The result of a submission."""

    name: str
    version: Path
    """The folder of this version."""
    hash: str
    """SHA-256 of its files."""
    replaced: Entry | None
    """The older version that was retired, if any."""
    league: Path
    """The configuration."""
    missing: int
    """The number of bots still missing to fill a table."""

    def next_steps(self) -> list[str]:
        """Return the next steps for the author."""
        lines = [f"{self.name} is entered: {self.version} (SHA-256 {self.hash[:12]})"]
        if self.replaced:
            lines.append("it takes the place of the version before, whose folder is kept")
        if self.replaced and self.replaced.granted:
            lines.append(
                f"that version had {listed(self.replaced.granted, 'and')} in {self.league}; this "
                "one has not, since its files are others: the organiser may grant that again"
            )
        if self.missing:
            more = "1 more bot" if self.missing == 1 else f"{self.missing} more bots"
            lines.append(f"a table is full, and the league can begin, with {more}")
        lines.append(f"to have it play: tourney season {shlex.quote(str(self.league))}")
        if repository := _repository(self.version.resolve()):
            git = f"git -C {shlex.quote(str(repository))}"
            paths = [path.resolve().relative_to(repository) for path in (self.version, self.league)]
            branch = f"enter-{slug(self.name).lower()}-{self.hash[:8]}"
            added = " ".join(shlex.quote(str(path)) for path in paths)
            lines += [
                "to submit it as a pull request, on a branch of its own:",
                f"  {git} switch -c {branch}",
                f"  {git} add -- {added}",
                f"  {git} commit -m {shlex.quote(f'Enter {self.name}')} -- {added}",
                f"  {git} push -u {_remote(repository)} {branch}",
            ]
        return lines


def submit(  # noqa: PLR0913 - each is a choice of the author
    folder: Path,
    league: League,
    *,
    name: str | None,
    replace: bool,
    today: date,
    watcher: Watcher,
) -> Submission:
    """Check a bot and enter it; the league may be too small for a run yet.

    Args:
        folder: The bot's folder.
        league: The league's configuration, which is changed.
        name: The name of the entry; the bot's own if None.
        replace: Whether the bot retires the version of that name.
        today: The date in the version's name.
        watcher: Notified of each check.

    Raises:
        UsageError: The name is taken, there is no bot of that name to replace, or the bot fails.
        ConfigError: The bot's folder is wrong.
        RunError: The league's folder cannot be written.
    """
    entrant = read_bot(folder, name=name)
    rival = _rival(entrant, league, replace=replace)
    report = check_bot(entrant, make_plan(league.config, entrant), watcher)
    if not report.passed:
        raise UsageError(
            f"{shown(entrant.name)} is not entered, since it failed a check: see above. "
            f"`{shlex.join(['tourney', 'check', str(folder)])}` tries it again"
        )
    version, sha256 = _copied(folder, entrant.name, league, today)
    place = version.relative_to(league.folder).as_posix()
    own_name = read_bot(folder).name
    written = entrant.name if entrant.name != own_name else None
    try:
        league.write(place, written, place=None if rival is None else rival.place)
    except TourneyError:
        shutil.rmtree(version)
        raise
    bots = len(league.entries) + (rival is None)
    missing = max(0, league.config.options.players - bots)
    return Submission(entrant.name, version, sha256, rival, league.path, missing)


def _rival(entrant: Entrant, league: League, *, replace: bool) -> Entry | None:
    """Return the entry that the bot replaces, if any."""
    rival = league.entry(entrant.name)
    if rival is not None and not replace:
        raise UsageError(
            f"{league.path}: the name {shown(entrant.name)} is taken; give --replace to retire "
            "that version, or --name to enter this one beside it"
        )
    if rival is None and replace:
        raise UsageError(
            f"{league.path}: nobody is called {shown(entrant.name)}, so there is nothing to "
            "replace; leave --replace out"
        )
    return rival


def _copied(folder: Path, name: str, league: League, today: date) -> tuple[Path, str]:
    """Copy the bot's sources into the league's folder; return the copy and its hash."""
    entries = scan(folder)
    sha256 = digest(folder, entries)
    version = league.folder / _BOTS / slug(name) / f"{today:%Y-%m-%d}-{sha256[:8]}"
    if version.exists():
        raise UsageError(f"{version}: this version was submitted before; change the bot first")
    try:
        version.mkdir(parents=True)
        copy(folder, entries, version)
    except OSError as error:
        shutil.rmtree(version, ignore_errors=True)
        raise RunError(f"{version}: it cannot be written: {error}") from error
    return version, sha256


def _remote(repository: Path) -> str:
    """Return the remote that a new branch is pushed to; `origin` if the repository has none."""
    try:
        config = (repository / ".git" / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:  # a linked work tree, whose configuration is elsewhere
        return "origin"
    remotes = re.findall(r'(?m)^\s*\[remote "([\w.-]+)"\]', config)
    return "origin" if "origin" in remotes or not remotes else str(remotes[0])


def _repository(path: Path) -> Path | None:
    """Return the git repository of a path, or None."""
    return next((parent for parent in path.parents if (parent / ".git").exists()), None)
