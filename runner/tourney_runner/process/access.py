"""Decide which program starts a bot, and which files of this machine the bot may see.

A bot sees the system, its own folder, the files granted in the tournament's file, and the
installation of its program. Programs come from places that the organiser controls:

- the folders of the system;
- the Python that runs this program, and installations made by the organiser's version managers;
- a single program in a folder of the organiser's search path, with its whole installation only if
  that is of a known kind;
- folders that the tournament's file grants with ``tools:``.

Files of a bot (its command, links, first lines of scripts, ELF headers, ``pyvenv.cfg``) select
among these places and never add to them. A path that leads anywhere else is an error. It is neither
opened nor tested for existence. The organiser's own files are trusted to name others. For example,
a link in a folder of the search path may lead to a program elsewhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tourney_runner.process.installations import is_crowded, unshimmed
from tourney_runner.process.program_finder import (
    NotGrantedError,
    ProgramError,
    ProgramFinder,
    quoted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.process.launcher import Program
    from tourney_runner.process.visible_files import View

__all__ = ["choose_program", "resolver_within", "view_of", "visible_file"]


def view_of(program: Program) -> View:
    """Return the files that a program needs beyond the system.

    Args:
        program: A program whose first word is an absolute path, as returned by `choose_program`.

    Raises:
        FileNotFoundError: Its folder, its program or a granted file is missing.
        PermissionError: Its folder cannot be shown, such as ``/``, or the bot may not use its
            program.
    """
    if is_crowded(os.path.realpath(program.folder)):
        raise PermissionError(f"a bot's folder must hold nothing but the bot: {program.folder}")
    finder = ProgramFinder(
        program.folder,
        tools=program.rights.tools,
        data=program.rights.data,
        search=dict(program.env).get("PATH"),
    )
    path = program.command[0]
    try:
        finder.add_program(path, trusted=finder.is_searched(path))
    except NotGrantedError as error:
        raise PermissionError(f"{quoted(path)}: {error}") from error
    except ProgramError as error:
        raise FileNotFoundError(f"{quoted(path)}: {error}") from error
    return finder.view()


def choose_program(  # noqa: PLR0913 - the word, and all that decides what it may stand for
    word: str,
    folder: str | None,
    *,
    search: str | None = None,
    tools: tuple[str, ...] = (),
    data: tuple[str, ...] = (),
    staged: bool = True,
) -> str:
    """Return the absolute path of the program that the first word of a command refers to.

    A path is relative to the bot's folder. A bare name is looked up in that folder, then in the
    granted tools, then on the search path.

    Args:
        word: The first word of the command.
        folder: The bot's folder, if it has any.
        search: A search path instead of this process's own.
        tools: Folders of programs granted by the tournament.
        data: Files and folders that it grants for reading.
        staged: Whether the folder is the copy that will run. If it is the author's own folder, no
            file in it is opened.

    Raises:
        ProgramError: The program does not exist or cannot run here.
        NotGrantedError: The bot may not use it.
    """
    if not word.startswith("/") and os.path.normpath(word).split("/")[0] == "..":
        raise ProgramError("this leads out of the bot's folder, and only that folder is copied")
    finder = ProgramFinder(folder, tools=tools, data=data, search=search, opens_own=staged)
    found = finder.find(word)
    finder.add_program(found, trusted=finder.is_searched(found))
    if not finder.is_searched(found):
        return found
    real = unshimmed(found)
    if real != found:
        again = ProgramFinder(folder, tools=tools, data=data, search=search, opens_own=staged)
        again.add_program(real, trusted=True)
    return real


def visible_file(
    path: str,
    folder: str | None = None,
    *,
    tools: tuple[str, ...] = (),
    data: tuple[str, ...] = (),
) -> str:
    """Return the real path of a file or folder named by a bot, if the bot may see it.

    Args:
        path: An absolute path.
        folder: The bot's folder, if it has any.
        tools: Folders of programs granted by the tournament.
        data: Files and folders that it grants for reading.

    Raises:
        NotGrantedError: The bot may not see it. It is not accessed.
        ProgramError: The path is a circle of links.
        OSError: The file is missing, or its folder cannot be read.
    """
    return ProgramFinder(folder, tools=tools, data=data).real_path(path)


def resolver_within(folder: str) -> Callable[[str], str]:
    """Return a function like `visible_file` that allows only paths inside a bot's folder.

    Args:
        folder: The bot's folder.
    """
    finder = ProgramFinder(folder)
    finder.forget_places()
    return finder.real_path
