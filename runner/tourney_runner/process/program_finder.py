"""Follow a bot's program through links, interpreters and environments, path by path.

See `access` for what a bot may see. Every path is judged by its name before it is touched.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.executables import MOST_INTERPRETERS, UnrunnableError, read_header
from tourney_runner.process.installations import (
    holds,
    home_folder,
    installation_around,
    is_private,
    managed_installations,
    rustup_folders,
    search_folders,
)
from tourney_runner.process.visible_files import View, system, tool_folders
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NotGrantedError", "ProgramError", "ProgramFinder", "quoted", "tools_line"]

_MOST_LINKS = 40
_MOST_SETTINGS_BYTES = 65536
"""The maximum number of bytes read from a ``pyvenv.cfg``."""
_LONGEST_SHOWN = 300
_THIS_PROGRAM = os.path.realpath(Path(__file__).parents[1])
"""The folder of this package. In an installation it also holds the bundled bots."""


class ProgramError(Exception):
    """A command cannot be started. The message gives the reason, to follow the wrong word."""


class NotGrantedError(ProgramError):
    """A path is outside of everything a bot may see. The message gives the line that grants it."""


class ProgramFinder:
    """A resolver that follows paths link by link and records the files that must be shown.

    Args:
        folder: The bot's folder, if it has any.
        tools: Folders of programs granted by the tournament.
        data: Files and folders that it grants for reading.
        search: A search path instead of this process's own.
        opens_own: Whether files in the bot's folder may be opened.

    Raises:
        OSError: The folder or a granted file is missing.
    """

    def __init__(
        self,
        folder: str | None,
        *,
        tools: tuple[str, ...] = (),
        data: tuple[str, ...] = (),
        search: str | None = None,
        opens_own: bool = True,
    ) -> None:
        self.folder = "/nowhere" if folder is None else os.path.realpath(folder)
        if folder is not None and not os.path.isdir(self.folder):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
        self._has_folder = folder is not None
        self._opens_own = opens_own
        self._links: dict[str, str] = {}
        self._trees: list[str] = []
        self._bins: list[str] = []
        self._env: dict[str, str] = {}
        parts = system()
        self._system = (*parts.trees, *(place for place, _ in parts.links), *parts.settings)
        self._installations = tuple(
            tree for tree in managed_installations() if not self._is_around(tree)
        )
        self._data = _both(data)
        self._tools = _both(tools)
        self._tool_folders = tool_folders(tools)
        self._search = tuple(
            place
            for place in (*self._tool_folders, *search_folders(search))
            if not holds(self.folder, os.path.realpath(place))
        )
        self._organisers = (*self._system, *self._installations, *self._tools)
        self._allowed = (*self._organisers, *self._data, self.folder)
        # The folder may have been named through links, and every folder on the way is visible.
        own_names = () if folder is None else (os.path.abspath(folder),)
        self._ways = {
            parent
            for place in (*self._allowed, *self._search, *own_names)
            for parent in _folders_on_the_way(place)
        }
        for path in own_names:
            self._walk(path, trusted=True)  # for the links on the way
        for path in (*tools, *data):
            self._show(self._walk(path, trusted=True))

    def forget_places(self) -> None:
        """Allow only the bot's folder."""
        self._allowed, self._organisers, self._search = (self.folder,), (), ()

    def real_path(self, path: str) -> str:
        """Return a path named by the bot with its links resolved; see `access.visible_file`."""
        return self._walk(path, trusted=False)

    def find(self, word: str) -> str:
        """Return the expected location of a program, given the first word of a command.

        Raises:
            ProgramError: No such program was found.
        """
        if word.startswith("/"):
            return word
        if "/" in word or word in (".", ".."):
            return str(Path(self.folder, word))
        own = f"{self.folder}/{word}"
        if self._has_folder and _is_program(own, follow=False):
            return own
        for place in self._search:
            if _is_program(f"{place}/{word}"):
                return f"{place}/{word}"
        if self._has_folder and os.path.lexists(own):
            return own
        if len(words := word.split()) > 1:
            raise ProgramError(
                "there is no program of that name; a command is a list of words, so write"
                f" [{', '.join(words)}]"
            )
        raise ProgramError(
            "there is no such program on the search path, expected one that is installed"
        )

    def is_searched(self, path: str) -> bool:
        """Return whether a path names a program in a folder of the search path."""
        return os.path.dirname(path) in self._search

    def add_program(self, path: str, *, trusted: bool) -> None:
        """Show a program with its installation and its interpreters.

        Args:
            path: The path of the program.
            trusted: Whether the organiser named it, and not the bot.

        Raises:
            ProgramError: It is missing or cannot run.
            NotGrantedError: The bot may not use it.
        """
        named: str | None = None
        for _ in range(MOST_INTERPRETERS + 1):
            real = self._program(path, named=named, trusted=trusted)
            own = self._is_bots(real)
            if own and not self._opens_own:
                return
            interpreter, is_script = self._interpreter(real)
            if interpreter is None:
                return
            named, trusted = interpreter, not own
            if not interpreter.startswith("/"):
                path = f"{self.folder}/{interpreter}"
                trusted = False
            else:
                path = interpreter
            if not is_script:
                self._program(path, named=named, trusted=trusted)
                return
        raise ProgramError("its interpreter is a script whose interpreter is a script, and so on")

    def _program(self, path: str, *, named: str | None, trusted: bool) -> str:
        """Show one program and return its real path.

        Args:
            path: The path of the program.
            named: The name used by the file that it runs; None for the first program.
            trusted: Whether the organiser named it.
        """
        before = set(self._links)
        try:
            real = self._walk(path, trusted=trusted)
            status = os.lstat(real)
        except FileNotFoundError:
            raise ProgramError(_missing(named)) from None
        except PermissionError:
            raise ProgramError("its folder cannot be read") from None
        except OSError as error:
            raise ProgramError(f"it cannot be looked at: {error.strerror}") from None
        except NotGrantedError as error:
            reason = "" if named is None else f"it is run by {quoted(named)}: "
            raise NotGrantedError(f"{reason}{error}") from None
        self._check_runs(status, real, named)
        for place in (*(link for link in self._links if link not in before), real):
            self._add_environment(place, trusted=trusted)
        self._add_installation(real)
        return real

    def _check_runs(self, status: os.stat_result, real: str, named: str | None) -> None:
        subject = "this" if named is None else f"its interpreter {quoted(named)}"
        if stat.S_ISDIR(status.st_mode):
            raise ProgramError(f"{subject} is a folder, expected a program")
        if not stat.S_ISREG(status.st_mode):
            raise ProgramError(f"{subject} is not a regular file, expected a program")
        if not status.st_mode & 0o111 or not os.access(real, os.X_OK):
            what = "this file" if named is None else subject
            raise ProgramError(
                f"{what} is not executable, expected a program: chmod +x it or name its interpreter"
            )

    def _interpreter(self, real: str) -> tuple[str | None, bool]:
        try:
            header = read_header(real)
        except UnrunnableError as error:
            raise ProgramError(str(error)) from None
        except OSError:  # may be executable but not readable
            return None, False
        return header.interpreter, header.is_script

    def _add_installation(self, real: str) -> None:
        if any(holds(tree, real) for tree in (*system().trees, self.folder)):
            return
        if any(holds(tree, real) for tree in (*self._tools, *self._data)):
            return
        known = [tree for tree in self._installations if holds(tree, real)]
        root = max(known, key=len) if known else installation_around(real)
        rustup = rustup_folders(real)
        if rustup is not None:
            home, cargo = rustup
            self._show(self._walk(home, trusted=True))  # with its links: it is named in a variable
            self._show(self._walk(cargo, trusted=True))
            self._bins.append(cargo)
            self._env |= {"RUSTUP_HOME": home, "CARGO_HOME": "{home}/cargo"}
        elif root is not None and not self._is_around(root):
            self._show(os.path.realpath(root))
            self._bins.append(f"{root}/bin")
        else:
            self._show(real)

    def _add_environment(self, place: str, *, trusted: bool) -> None:
        """Show a virtual environment and the Python that it was made from.

        Args:
            place: A program that may be part of a virtual environment.
            trusted: Whether the organiser named it.
        """
        root = os.path.dirname(os.path.dirname(place))
        own = self._is_bots(root)
        if own and not self._opens_own:
            return
        if not (trusted or any(holds(tree, root) for tree in self._allowed)) or is_private(root):
            return
        home = _home_of_environment(f"{root}/pyvenv.cfg")
        if home is None or (self._is_around(root) and root != self.folder):
            return
        self._show(root)
        if not own:
            self._bins.append(f"{root}/bin")
        python = f"{home}/python3"
        try:
            real = self._walk(python, trusted=not own)
        except NotGrantedError as error:
            raise NotGrantedError(
                f"its virtual environment was made from {quoted(home)}: {error}"
            ) from None
        except OSError:
            return  # a link to its program may lead on; without one, the environment cannot run
        self._add_installation(real)

    def _is_around(self, tree: str) -> bool:
        """Return whether a folder holds the bot's folder, so that it is more than an installation.

        The bots that come with this program are part of its installation.
        """
        return holds(tree, self.folder) and not holds(_THIS_PROGRAM, self.folder)

    def _is_bots(self, path: str) -> bool:
        """Return whether the bot's author may have put files at a path."""
        return any(holds(tree, path) for tree in (self.folder, *self._data))

    def _show(self, real: str) -> None:
        self._trees.append(real)

    def _walk(self, path: str, *, trusted: bool) -> str:
        """Return a path with all links resolved, and record every link on the way.

        Args:
            path: An absolute path.
            trusted: Whether the organiser named it, so that it may lead anywhere.

        Raises:
            NotGrantedError: The path leads outside what the bot may see. Nothing there is read.
            FileNotFoundError: The path does not exist.
            OSError: A folder on the way cannot be read.
        """
        done, todo, links = "/", path.split("/")[::-1], 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                done = os.path.dirname(done)
                continue
            here = f"{done.rstrip('/')}/{name}"
            if self._is_bots(here):
                trusted = False
            if not trusted and not self._may_look_at(here):
                raise NotGrantedError(_not_granted("/".join([here, *todo[::-1]])))
            status = os.lstat(here)
            if not stat.S_ISLNK(status.st_mode):
                done = here
                continue
            links += 1
            if links > _MOST_LINKS:
                raise ProgramError("it is a circle of links")
            self._links[here] = target = os.readlink(here)
            if not any(todo) and self._is_organisers(here):
                trusted = True  # the bot named nothing of what follows
            done = "/" if target.startswith("/") else done
            todo += target.split("/")[::-1]
        return done

    def _may_look_at(self, here: str) -> bool:
        return (
            here in self._ways
            or any(holds(tree, here) for tree in self._allowed)
            or os.path.dirname(here) in self._search
        )

    def _is_organisers(self, here: str) -> bool:
        """Return whether the organiser put the file at a path."""
        if self._is_bots(here):
            return False
        folder = os.path.dirname(here)
        return folder in self._search or any(holds(tree, here) for tree in self._organisers)

    def view(self) -> View:
        """Return the recorded files and links, without duplicates."""
        hidden = (*system().trees, self.folder)
        trees = [
            tree
            for tree in dict.fromkeys(self._trees)
            if not any(holds(other, tree) for other in hidden)
            and not any(holds(other, tree) for other in self._trees if other != tree)
        ]
        taken = (*hidden, *trees)
        links = {
            place: target
            for place, target in self._links.items()
            if (place, target) not in system().links
            and not any(holds(tree, place) for tree in (*taken, *system().settings))
        }
        bins = [
            place
            for place in dict.fromkeys((*self._tool_folders, *self._bins))
            if ":" not in place and not any(holds(tree, place) for tree in system().trees)
        ]
        return View(
            self.folder, tuple(trees), tuple(links.items()), tuple(bins), tuple(self._env.items())
        )


def tools_line(path: str) -> str:
    """Return the line of a tournament's file that grants a program.

    Args:
        path: The absolute path of the program. It is not accessed.
    """
    clean = os.path.normpath(path)
    folder = os.path.dirname(clean)
    if os.path.basename(folder) in ("bin", "sbin"):
        folder = os.path.dirname(folder)
    granted = clean if _is_too_much(folder) else folder
    plain = re.fullmatch(r"[A-Za-z0-9_./+@-]+", granted)
    return f"tools: [{granted if plain else json.dumps(granted)}]"


def _is_too_much(folder: str) -> bool:
    """Return whether granting a folder would show far more than a program, judging by its name."""
    return (
        (folder.count("/") < 2 and folder in ("/", "/home", "/opt", "/srv", "/var", "/tmp", "/etc"))  # noqa: S108
        or folder in ("/root", "/var/tmp", "/usr/local")  # noqa: S108
        or os.path.dirname(folder) == "/home"
        or os.path.basename(folder) == ".local"
        or holds(folder, home_folder())
        or holds(folder, str(Path.home()))
    )


@lru_cache(maxsize=1024)
def _folders_on_the_way(place: str) -> tuple[str, ...]:
    """Return a place and all folders above it.

    Kept, since the places of the system are the same for every bot.
    """
    return tuple(str(parent) for parent in Path(place, "_").parents)


def _both(paths: Iterable[str]) -> tuple[str, ...]:
    """Return paths both as given and with links resolved."""
    return tuple(dict.fromkeys(name for path in paths for name in (path, os.path.realpath(path))))


def _is_program(path: str, *, follow: bool = True) -> bool:
    """Return whether a path is an executable file.

    Args:
        path: The path to check.
        follow: Whether to follow a link. One in a bot's folder could lead anywhere.
    """
    try:
        status = os.stat(path) if follow else os.lstat(path)
    except OSError:
        return False
    if stat.S_ISLNK(status.st_mode):
        return True
    return stat.S_ISREG(status.st_mode) and os.access(path, os.X_OK)


def _home_of_environment(settings: str) -> str | None:
    """Return the folder of the Python that a virtual environment was made from.

    Args:
        settings: The path of its ``pyvenv.cfg``.
    """
    try:
        descriptor = os.open(settings, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        text = os.read(descriptor, _MOST_SETTINGS_BYTES).decode(errors="surrogateescape")
    finally:
        os.close(descriptor)
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and key.strip().lower() == "home" and value.strip().startswith("/"):
            return value.strip()
    return None


def _missing(named: str | None) -> str:
    if named is None:
        return "there is no such file, expected a program"
    if named.endswith("\r"):
        return (
            f"its first line names the interpreter {quoted(named)}: the line ends with a carriage "
            r"return (\r, as Windows writes lines); save the file with plain line ends"
        )
    return (
        f"it is run by {quoted(named)}, and there is no such file; expected an interpreter that "
        "is installed here"
    )


def _not_granted(path: str) -> str:
    return (
        "a bot may not use this; if the organiser wishes it, the bot's entry in the tournament's "
        f"file needs {tools_line(path)}"
    )


def quoted(text: str) -> str:
    """Return a word of a bot as messages show it."""
    return f"'{escaped(text, _LONGEST_SHOWN)}'"
