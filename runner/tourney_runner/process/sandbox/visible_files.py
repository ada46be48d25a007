"""Which files of the host a program needs to see: the system, its tools, its own folder.

Nothing else is shown. What lies outside the system's own folders (an interpreter in a home
folder, a virtual environment, a toolchain below ``/opt``) is found by following the program's
links by hand: each link is shown as a link, and only the installation at the end as a tree.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tourney_runner.process.launcher import SAFE_PATH

if TYPE_CHECKING:
    from tourney_runner.process.launcher import Program

__all__ = ["System", "View", "system", "view_of"]

_TOP_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")

_SETTINGS = ("ld.so.cache", "alternatives", "ssl", "localtime", "java-*")
_NETWORK_SETTINGS = (
    *("resolv.conf", "hosts", "host.conf", "nsswitch.conf", "gai.conf"),
    *("services", "protocols", "ca-certificates", "pki"),
)
"""Below /etc."""

_LINKS_AT_MOST = 40
_SHEBANGS_AT_MOST = 4
_INSTALLATION = ("lib", "lib64", "libexec", "conda-meta")
"""A folder that has one of these beside ``bin`` is an installation."""
_CROWDED = ("/", "/home", "/opt", "/srv", "/var", "/tmp", "/etc", "/mnt", "/media", "/run")  # noqa: S108 - never shown whole


@dataclass(frozen=True)
class System:
    """What every program needs of the system; real paths."""

    trees: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """Places and their targets."""
    settings: tuple[str, ...]
    network_settings: tuple[str, ...]


@dataclass(frozen=True)
class View:
    """What one program needs beyond the system."""

    folder: str
    """The real path of the folder that it starts in."""
    trees: tuple[str, ...]
    """Real paths of files and folders."""
    links: tuple[tuple[str, str], ...]
    """Places and their targets, none of them inside a tree."""
    env: tuple[tuple[str, str], ...]
    """Variables that its tools need to be found."""


@cache
def system() -> System:
    """The same for all programs; looked up once."""
    trees, links = ["/usr"], []
    for name in _TOP_FOLDERS:
        place = Path("/", name)
        if place.is_symlink():
            links.append((str(place), str(place.readlink())))
        elif place.is_dir():
            trees.append(str(place))
    return System(tuple(trees), tuple(links), _settings(_SETTINGS), _settings(_NETWORK_SETTINGS))


def _settings(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(path) for pattern in patterns for path in sorted(Path("/etc").glob(pattern)))


def view_of(program: Program) -> View:
    """What a program needs beyond the system.

    Raises:
        FileNotFoundError: Its folder, its command or data that it was granted do not exist.
        PermissionError: Its folder is one that cannot be shown, such as ``/``.
    """
    finder = _Finder(program.folder)
    if finder.folder in _CROWDED or _holds(finder.folder, _home()):
        raise PermissionError(f"a bot's folder must hold nothing but the bot: {program.folder}")
    for path in program.rights.data:
        finder.add_tree(path)
    finder.add_tool(program.command[0])
    return finder.view()


class _Finder:
    def __init__(self, folder: str) -> None:
        self._links: dict[str, str] = {}
        self._trees: list[str] = []
        self._env: dict[str, str] = {}
        self.folder = self._walk(folder)

    def view(self) -> View:
        """What was found, each thing once."""
        hidden = (*system().trees, self.folder)
        trees = [
            tree
            for tree in dict.fromkeys(self._trees)
            if not any(_holds(other, tree) for other in hidden)
            and not any(_holds(other, tree) for other in self._trees if other != tree)
        ]
        taken = (*hidden, *trees)
        links = {
            place: target
            for place, target in self._links.items()
            if (place, target) not in system().links
            and not any(_holds(tree, place) for tree in (*taken, *system().settings))
        }
        return View(self.folder, tuple(trees), tuple(links.items()), tuple(self._env.items()))

    def add_tree(self, path: str) -> None:
        """Show a file or folder whole."""
        self._trees.append(self._walk(path))

    def add_tool(self, path: str) -> None:
        """Show a program with the installation that it belongs to, and what it is run by."""
        for _ in range(_SHEBANGS_AT_MOST):
            real = self._walk(path)
            for place in (path, *list(self._links)):
                self._add_environment(place)
            if not self._is_shown(real):
                self._trees.append(_installation(real, self.folder))
                self._add_rustup(real)
            interpreter = _interpreter(real)
            if interpreter is None:
                return
            path = interpreter

    def _is_shown(self, path: str) -> bool:
        return any(_holds(tree, path) for tree in (*system().trees, self.folder, *self._trees))

    def _add_environment(self, program: str) -> None:
        """A Python virtual environment names the installation that it was made from."""
        root = Path(os.path.realpath(Path(program).parent.parent))
        settings = root / "pyvenv.cfg"
        if not settings.is_file() or self._is_shown(str(root)) or _holds(str(root), self.folder):
            return
        self.add_tree(str(root))
        for line in settings.read_text(errors="replace").splitlines():
            key, _, value = line.partition("=")
            python = Path(value.strip(), "python3")
            if key.strip() == "home" and python.exists():
                self.add_tool(str(python))

    def _add_rustup(self, real: str) -> None:
        """The programs of rustup find the real compilers through a folder of their own."""
        if Path(real).name != "rustup":
            return
        home = os.environ.get("RUSTUP_HOME", str(Path(_home(), ".rustup")))
        if Path(home).is_dir():
            self.add_tree(home)
            self.add_tree(str(Path(real).parent))
            self._env |= {
                "RUSTUP_HOME": home,
                "CARGO_HOME": "/tmp/cargo",  # noqa: S108 - inside, where it is private
                "PATH": f"{Path(real).parent}:{SAFE_PATH}",
            }

    def _walk(self, path: str) -> str:
        """The real path; every link on the way is noted."""
        done, todo, links = "/", path.split("/"), 0
        while todo:
            name = todo.pop(0)
            if name in ("", "."):
                continue
            here = os.path.normpath(os.path.join(done, name))  # noqa: PTH118 - keeps `..` right
            if not os.path.islink(here):  # noqa: PTH114 - as above
                done = here
                continue
            links += 1
            if links > _LINKS_AT_MOST:
                raise FileNotFoundError(f"{path} is a circle of links")
            self._links[here] = target = os.readlink(here)  # noqa: PTH115 - a string is wanted
            done = "/" if target.startswith("/") else done
            todo = [*target.split("/"), *todo]
        if not os.path.lexists(done):
            raise FileNotFoundError(f"there is no {path}")
        return done


def _holds(tree: str, path: str) -> bool:
    """Whether a path is a tree's root or below it."""
    return path == tree or path.startswith(tree.rstrip("/") + "/")


def _home() -> str:
    return os.path.realpath(Path.home())


def _installation(real: str, folder: str) -> str:
    """The folder that a program was installed as; the program alone if there is no such folder.

    Nothing is taken for one that also holds private things: a home folder, ``~/.local``, a
    source tree, or a folder that has the bot in it and so perhaps its opponents.
    """
    root = Path(real).parent.parent
    if (
        Path(real).parent.name in ("bin", "sbin")
        and any((root / name).is_dir() for name in _INSTALLATION)
        and not (root / ".git").exists()
        and root.name != ".local"
        and str(root) not in _CROWDED
        and not _holds(str(root), _home())
        and not _holds(str(root), folder)
    ):
        return str(root)
    return real


def _interpreter(real: str) -> str | None:
    """What the first line of a script says it is run by."""
    try:
        with open(real, "rb") as file:  # noqa: PTH123 - only the first bytes are wanted
            line = file.read(256).split(b"\n")[0]
    except OSError:  # that is for the start to complain about
        return None
    words = line[2:].split()
    if not line.startswith(b"#!") or not words or not words[0].startswith(b"/"):
        return None
    interpreter = os.fsdecode(words[0])
    return interpreter if os.path.lexists(interpreter) else None
