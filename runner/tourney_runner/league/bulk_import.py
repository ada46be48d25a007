"""Import of the submissions of a class: a folder or a ZIP file with one bot per entry."""

from __future__ import annotations

import stat
import zipfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.botcheck import Watcher
from tourney_runner.errors import TourneyError, UsageError
from tourney_runner.league.league_setup import League
from tourney_runner.league.submission import submit
from tourney_runner.process.folder_tree import make_temp, remove_tree
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from tourney_runner.botcheck import Check

__all__ = ["MOST_BYTES", "MOST_FILES", "Imported", "import_bots", "unpack"]

MOST_FILES = 10_000
MOST_BYTES = 256 << 20
"""The largest unpacked size of one ZIP file, in bytes."""
_DEEPEST = 4
"""The number of nested folders that exports of course platforms put around a submission."""
_CHUNK = 1 << 20


class Imported(NamedTuple):
    """The outcome for one submission."""

    source: str
    """The entry of the folder or ZIP file."""
    name: str | None
    """The name under which the bot was entered; None if it was not."""
    why: str
    """The reason, if it was not entered; may have several lines."""


class _Failures(Watcher):
    """The failed checks of one submission."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, name: str) -> None:
        """See `Watcher.begin`."""

    def finish(self, check: Check) -> None:
        """See `Watcher.finish`."""
        if check.verdict == "failed":
            self.lines.append(f"  {escaped(check.name, 200)}: {escaped(check.found, 400)}")


def import_bots(source: Path, league: Path, *, replace: bool, today: date) -> Iterator[Imported]:
    """Check every submission and enter those that pass; yield the outcome of each.

    Args:
        source: A folder with a folder or ZIP file for each bot, or a ZIP file of such.
        league: The league's configuration.
        replace: Whether a bot retires the entered version of its name.
        today: Part of the name of each version.

    Raises:
        UsageError: The source is neither a folder nor a ZIP file, or holds no submissions.
    """
    with _opened(source) as folder:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "__")))
        if not entries:
            raise UsageError(f"{source}: there are no submissions in it")
        for entry in entries:
            yield _enter(entry, league, replace=replace, today=today)


def _enter(entry: Path, league: Path, *, replace: bool, today: date) -> Imported:
    label = escaped(entry.name)
    failures = _Failures()
    try:
        with _opened(entry) as folder:
            bot = _bot_folder(folder)
            known = League(league)
            there = replace and _is_entered(known, bot)
            entered = submit(bot, known, name=None, replace=there, today=today, watcher=failures)
    except TourneyError as error:
        why = "it failed these checks:" if failures.lines else str(error)
        return Imported(label, None, "\n".join([why, *failures.lines]))
    return Imported(label, entered.name, "")


def _is_entered(league: League, bot: Path) -> bool:
    from tourney_runner.config import read_bot  # noqa: PLC0415 - only for a replacement

    return league.entry(read_bot(bot).name) is not None


def _bot_folder(folder: Path) -> Path:
    """Return the folder of ``bot.yaml``, which may lie some folders deeper."""
    level = [folder]
    for _ in range(_DEEPEST):
        found = [path for path in level if (path / "bot.yaml").is_file()]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(escaped(path.name) for path in found)
            raise UsageError(f"there are {len(found)} bots in it ({names}); submit them one by one")
        level = [
            path
            for parent in level
            for path in sorted(parent.iterdir())
            if path.is_dir() and not path.is_symlink() and not path.name.startswith((".", "__"))
        ]
    raise UsageError("there is no bot.yaml in it")


@contextmanager
def _opened(source: Path) -> Iterator[Path]:
    """Yield a folder itself, and a ZIP file as a temporary folder."""
    if source.is_symlink():
        raise UsageError(f"{source}: it is a link, expected a folder or a ZIP file")
    if source.is_dir():
        yield source
        return
    folder = make_temp("import")
    try:
        unpack(source, Path(folder))
        yield Path(folder)
    finally:
        remove_tree(folder)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a ZIP file whose content is not trusted.

    Nothing is written outside of the folder. Links and special files are refused, and of
    the permissions only the executable bit is kept.

    Args:
        archive: The ZIP file.
        folder: An empty folder.

    Raises:
        UsageError: It is not a ZIP file, or holds something that is refused.
    """
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
            if len(members) > MOST_FILES:
                raise UsageError(
                    f"{archive.name}: it holds {len(members):,} files, over {MOST_FILES:,}"
                )
            for member in members:
                left = _write(opened, member, folder, left, archive.name)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise UsageError(
            f"{escaped(archive.name)}: expected a folder or a ZIP file: {escaped(str(error), 200)}"
        ) from error


def _write(
    opened: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, left: int, archive: str
) -> int:
    """Write one member; return the bytes that are left for others."""
    parts = PurePosixPath(member.filename.replace("\\", "/")).parts
    where = f"{escaped(archive)}: {escaped(member.filename)}"
    if not parts or ".." in parts or parts[0].startswith("/") or ":" in parts[0]:
        raise UsageError(f"{where}: its path leads out of the folder")
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise UsageError(
            f"{where}: it is a link or a special file; only files and folders may be in it"
        )
    target = folder.joinpath(*parts)
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return left
    target.parent.mkdir(parents=True, exist_ok=True)
    with opened.open(member) as source, target.open("xb") as out:
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise UsageError(f"{where}: unpacked, it is larger than {MOST_BYTES >> 20} MiB")
            out.write(chunk)
    target.chmod(0o755 if mode & 0o111 else 0o644)
    return left
