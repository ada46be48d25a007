"""The programs and files in a bot's commands: finding them, and explaining problems with them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.access import choose_program, visible_file
from tourney_runner.process.program_finder import NotGrantedError, ProgramError

if TYPE_CHECKING:
    from tourney_runner.process.launcher import Rights

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
