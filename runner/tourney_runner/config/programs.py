"""Finding the program and the files that a bot's command names."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

__all__ = ["expanded", "find_program", "missing_file", "missing_program"]

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


def expanded(command: tuple[str, ...]) -> tuple[str, ...]:
    """A command with ``{python}`` replaced by the interpreter that runs this program."""
    return tuple(word.replace("{python}", sys.executable) for word in command)


def find_program(word: str, folder: Path | None, search: str | None = None) -> str | None:
    """The absolute path of a program, or None if there is no such executable file.

    Args:
        word: The first word of a command. A path is relative to the folder; a bare name is a
            file of the folder, or else a program on the search path.
        folder: The bot's files, if it has any.
        search: A search path instead of this process's own.
    """
    if _is_absolute(word):
        return shutil.which(word)
    if folder is not None:
        inside = shutil.which(str(folder / word))
        if inside is not None:
            return inside
    return shutil.which(word, path=search) if os.sep not in word else None


def missing_program(
    word: str, folder: Path | None, search: str | None = None, *, built: bool = False
) -> str | None:
    """Why a command cannot be started, or None if nothing speaks against it.

    Args:
        word: Its first word, expanded.
        folder: The bot's files, if it has any.
        search: A search path instead of this process's own.
        built: Whether a build will still add files to the folder.
    """
    if find_program(word, folder, search) or (built and not _is_absolute(word)):
        return None
    if folder is None and os.sep in word and not _is_absolute(word):
        return _NEEDS_FOLDER
    path = word if folder is None else os.path.join(folder, word)  # noqa: PTH118 - any text will do here
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path's, it takes names that are too long
        return "this is a folder, expected a program"
    if os.path.exists(path):  # noqa: PTH110 - as above
        return (
            "this file is not executable, expected a program: chmod +x it or name its interpreter"
        )
    if os.sep in word:
        return "there is no such file, expected a program"
    return "there is no such program on the search path, expected one that is installed"


def missing_file(command: tuple[str, ...], folder: Path | None) -> tuple[str, str] | None:
    """The first file of a command that will not be there when the bot runs.

    Args:
        command: Expanded.
        folder: The bot's files, if it has any.

    Returns:
        The word and what is wrong with it; None if all is well.
    """
    name = re.sub(r"[0-9.]+$", "", Path(command[0]).name)
    ending = _SOURCES.get(name)
    for number, word in enumerate(command):
        path = word if folder is None else os.path.join(folder, word)  # noqa: PTH118 - any text will do here
        exists = os.path.exists(path)  # noqa: PTH110 - unlike Path's, it takes names that are too long
        source = ending is not None and number and word.endswith(ending) and word[0] != "-"
        if folder is None and source and not _is_absolute(word):
            return word, _NEEDS_FOLDER
        if exists and folder is not None and Path(os.path.normpath(word)).parts[:1] == ("..",):
            return word, "this leads out of the bot's folder, and only that folder is copied"
        if source and not exists:
            return word, "there is no such file, expected it in the bot's folder"
    return None


def _is_absolute(word: str) -> bool:
    return word.startswith(os.sep)
