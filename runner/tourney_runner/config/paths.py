"""Folders, programs and bundled bots in a configuration, and suggestions for missing ones."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError
from tourney_runner.process.access import choose_program, visible_file
from tourney_runner.process.program_finder import NotGrantedError, ProgramError
from tourney_runner.text import closest, escaped, shown

if TYPE_CHECKING:
    from tourney_runner.process.launcher import Rights

__all__ = [
    "bundled",
    "bundled_folder",
    "bundled_names",
    "expanded",
    "find_program",
    "guides",
    "missing_file",
    "missing_program",
    "no_folder",
    "resolved",
    "rule_case_files",
]


_LONGEST = 500
"""The longest path that is suggested, in characters; a cut one would be useless."""


def resolved(base: Path, text: str) -> Path:
    """Return the absolute path for a path in a file.

    Args:
        base: The folder that relative paths start from.
        text: The path as written; ``~`` is the user's home.
    """
    # Path's own expanduser raises for an unknown ~user.
    return Path(os.path.realpath(base / os.path.expanduser(text.replace("\0", ""))))  # noqa: PTH111


def no_folder(base: Path, text: str) -> str:
    """Return the message for a path that is not a folder, with the nearest one that is.

    Args:
        base: As for `resolved`.
        text: As for `resolved`.
    """
    if os.path.isfile(resolved(base, text)):  # noqa: PTH113 - unlike Path's, it takes long names
        parent = shown(os.path.dirname(text) or ".")  # noqa: PTH120 - as it was written
        return f"found {shown(text)}, a file, expected the folder that it is in, {parent}"
    meant = _from_here(base, text) or _repaired(base, text)
    hint = f"; did you mean '{escaped(meant, _LONGEST)}'?" if meant else ""
    if " " in text.strip() and not hint:
        hint = "; a command is written {name: .., command: .., cwd: ..}"
    return f"found {shown(text)}, which is not there, expected a folder{hint}"


def _from_here(base: Path, text: str) -> str | None:
    """Return the path from the file to a folder that was given from the working directory."""
    here = resolved(Path.cwd(), text)
    return os.path.relpath(here, base) if _is_folder(here) else None


def _repaired(base: Path, text: str) -> str | None:
    """Return the path with each missing part replaced by the folder nearest in name."""
    path = Path()
    for part in Path(text).parts:
        name: str | None = part
        if not _is_folder(resolved(base, str(path / part))):
            name = closest(part, _folders(resolved(base, str(path))))
        if name is None:
            return None
        path /= name
    return str(path)


def _folders(path: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(path) if entry.is_dir()]
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - as above


_SOURCES = {
    "bash": ".sh",
    "java": ".jar",
    "lua": ".lua",
    "node": ".js",
    "perl": ".pl",
    "php": ".php",
    "python": ".py",
    "ruby": ".rb",
    "sh": ".sh",
}
"""By interpreter, the ending of the words of a command that must be files."""
_NEEDS_FOLDER = "a relative path needs `cwd:`, the folder of the bot's files, which is copied"
_LEADS_OUT = "this leads out of the bot's folder, and only that folder is copied"
_NOT_VISIBLE = (
    "the bot would not see this file: put it into the bot's folder, or grant it in the "
    "tournament's file with `data:`"
)


def expanded(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command with ``{python}`` replaced by the interpreter that runs this program."""
    return tuple(word.replace("{python}", sys.executable) for word in command)


def find_program(
    word: str,
    folder: Path | None,
    rights: Rights,
    search: str | None = None,
    *,
    staged: bool = True,
) -> str:
    """Return the absolute path of a program.

    Args:
        word: The first word of a command, expanded. A path is relative to the folder; a bare name
            is a file of the folder, or else a granted tool, or else on the search path.
        folder: The bot's files, if it has any.
        rights: What the tournament grants the bot.
        search: A search path instead of this process's own.
        staged: Whether the folder is the copy that will run; in the author's own folder no file
            is opened.

    Raises:
        ProgramError: The bot may not use any such program; the message follows the word.
        OSError: The folder, or something granted, is not there.
    """
    if folder is None and os.sep in word and not word.startswith(os.sep):
        raise ProgramError(_NEEDS_FOLDER)
    return choose_program(
        word,
        None if folder is None else str(folder),
        search=search,
        tools=rights.tools,
        data=rights.data,
        staged=staged,
    )


def missing_program(
    word: str,
    folder: Path | None,
    rights: Rights,
    search: str | None = None,
    *,
    built: bool = False,
) -> str | None:
    """Return why a command cannot be started, or None if it can.

    Args:
        word: Its first word, expanded.
        folder: The bot's own files, not yet copied, if it has any.
        rights: What the tournament grants the bot.
        search: A search path instead of this process's own.
        built: Whether a build will still add files to the folder.
    """
    try:
        find_program(word, folder, rights, search, staged=False)
    except NotGrantedError as error:
        return str(error)
    except ProgramError as error:
        return None if built and not word.startswith(os.sep) else str(error)
    except OSError:  # missing files are reported elsewhere
        return None
    return None


def missing_file(
    command: tuple[str, ...], folder: Path | None, rights: Rights
) -> tuple[str, str] | None:
    """Return the first file of a command that the bot will not find when it runs.

    Args:
        command: Expanded.
        folder: The bot's files, if it has any.
        rights: What the tournament grants the bot.

    Returns:
        The word and what is wrong with it; None if nothing is.
    """
    name = re.sub(r"[0-9.]+$", "", Path(command[0]).name)
    ending = _SOURCES.get(name)
    for number, word in enumerate(command):
        is_source = ending is not None and number and word.endswith(ending) and word[0] != "-"
        if word.startswith(os.sep):
            why = _outside(word, rights) if is_source else None
        elif folder is None:
            why = _NEEDS_FOLDER if is_source else None
        else:
            why = _inside(word, folder, is_source=bool(is_source))
        if why:
            return word, why
    return None


def _outside(word: str, rights: Rights) -> str | None:
    """Return why the bot would not find a file that is named by an absolute path."""
    try:
        visible_file(word, tools=rights.tools, data=rights.data)
    except NotGrantedError:
        return _NOT_VISIBLE
    except (OSError, ProgramError):
        return "there is no such file"
    return None


def _inside(word: str, folder: Path, *, is_source: bool) -> str | None:
    """Return why the bot would not find a file of its folder."""
    if os.path.normpath(word).startswith("..") and (is_source or word.startswith("../")):
        return _LEADS_OUT
    if not is_source:
        return None
    try:
        visible_file(str(folder / word), folder=str(folder))
    except NotGrantedError:
        return _LEADS_OUT
    except (OSError, ProgramError, ValueError):
        return "there is no such file, expected it in the bot's folder"
    return None


def bundled_folder(name: str) -> Path | None:
    """Return a folder that comes with the program, from the installed package or the checkout.

    Args:
        name: ``bots``, ``configs`` or ``docs``.

    Returns:
        The folder, or None if the installation lacks it.
    """
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    folders = [package / "_bundled" / name]
    if (checkout / "pyproject.toml").is_file():  # folders beside an installed package are not ours
        folders.append(checkout / name)
    return next((folder for folder in folders if folder.is_dir()), None)


def bundled(name: str | Path) -> Path | None:
    """Return the bundled configuration of that name, if there is one.

    Args:
        name: ``quickstart.yaml`` or ``configs/quickstart.yaml``. Its bots lie in ``../bots``.
    """
    parts = Path(name).parts
    if len(parts) == 2 and parts[0] == "configs":
        parts = parts[1:]
    folder = bundled_folder("configs")
    if len(parts) != 1 or folder is None:
        return None
    path = folder / parts[0]
    return path if path.suffix == ".yaml" and path.is_file() else None


def bundled_names() -> list[str]:
    """Return the file names of all bundled configurations, sorted."""
    folder = bundled_folder("configs")
    return sorted(path.name for path in folder.glob("*.yaml")) if folder else []


def guides() -> dict[str, tuple[str, str]]:
    """Return the guides that come with the program: title and Markdown text, by name, sorted."""
    folder = bundled_folder("docs")
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(folder.glob("*.md")) if folder else ():
        text = path.read_text(encoding="utf-8")
        found[path.stem] = (text.partition("\n")[0].lstrip("# "), text)
    return found


def rule_case_files(game: str) -> list[Path]:
    """Return the files of positions with known answers for a bundled game, sorted.

    Raises:
        UsageError: There are none for this game.
    """
    folders = [bundled_folder("cases"), bundled_folder("tests/data")]
    found = (sorted(folder.glob(f"cases_{game}*.jsonl")) for folder in folders if folder)
    files = next((paths for paths in found if paths), [])
    if not files:
        raise UsageError(f"no rule cases for {shown(game)} come with this installation")
    return files
