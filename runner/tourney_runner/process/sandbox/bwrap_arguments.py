"""The options of bubblewrap for one program: the files it sees, and its isolation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tourney_runner.process.launcher import clean_environment
from tourney_runner.process.visible_files import system

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tourney_runner.process.launcher import Program, ResourceLimits
    from tourney_runner.process.visible_files import View

__all__ = ["FEATURES", "Features", "bwrap_options"]

_TEMP = "/tmp"  # noqa: S108 - inside, where it is the bot's own
_SHARED_MEMORY = 16 * 1024 * 1024

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
_SESSION = ("--die-with-parent", "--new-session", "--hostname", "bot", "--clearenv")
_NO_RIGHTS = ("--cap-drop", "ALL")
_KERNEL_FILES = (
    *("--proc", "/proc"),
    # The first process belongs to bubblewrap, and is neither counted nor stopped. A bot that runs
    # as the same user could write to its memory.
    *("--tmpfs", "/proc/1", "--remount-ro", "/proc/1"),
    # The organiser's keys, by name.
    *("--ro-bind-try", "/dev/null", "/proc/keys"),
    *("--dev", "/dev"),
)
_TO_CHANGE_USER = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


@dataclass(frozen=True)
class Features:
    """Optional features of a bubblewrap release, found by a trial run and not by version."""

    sizes: bool = True
    """``--size`` (0.7): limited temporary space. Without it, there is no temporary space."""
    disable_userns: bool = True
    """``--disable-userns`` (0.8). Without it, only the filter of system calls prevents
    namespaces."""


FEATURES = (
    Features(),
    Features(disable_userns=False),
    Features(sizes=False, disable_userns=False),
)
"""The feature sets of the releases, newest first."""


def bwrap_options(
    program: Program, view: View, limits: ResourceLimits, features: Features, *, as_root: bool
) -> list[str]:
    """Return all options except those that contain descriptors.

    Args:
        program: The program to start.
        view: The files that it needs.
        limits: The limits, for the size of temporary space.
        features: The features of this bubblewrap.
        as_root: Whether bubblewrap runs as root, and so without a user namespace.
    """
    environment = clean_environment(program, _TEMP, view)
    return [
        *_isolation(features, network=program.rights.network, as_root=as_root),
        *(word for pair in environment.items() for word in ("--setenv", *pair)),
        *_system(network=program.rights.network),
        *_KERNEL_FILES,
        *_space("/dev/shm", _SHARED_MEMORY, features),  # noqa: S108 - inside
        *(word for path in program.rights.devices for word in ("--dev-bind", path, path)),
        *("--remount-ro", "/dev"),
        *_space(_TEMP, limits.temp_size, features),
        *_files(view, writable=program.builds),
        *("--remount-ro", "/", "--chdir", view.folder),
    ]


def _isolation(features: Features, *, network: bool, as_root: bool) -> list[str]:
    words = [*_NAMESPACES, *_SESSION, *_NO_RIGHTS]
    if not network:
        words.append("--unshare-net")
    if as_root:
        return [*words, *(word for right in _TO_CHANGE_USER for word in ("--cap-add", right))]
    words.append("--unshare-user")
    return [*words, "--disable-userns"] if features.disable_userns else words


def _system(*, network: bool) -> list[str]:
    parts = system()
    settings = parts.settings + (parts.network_settings if network else ())
    return [
        *(word for path in parts.trees for word in ("--ro-bind", path, path)),
        *(word for place, target in parts.links for word in ("--symlink", target, place)),
        *_folders_above(settings),
        *(word for path in settings for word in ("--ro-bind-try", path, path)),
    ]


def _space(place: str, size: int, features: Features) -> list[str]:
    """Return options for a writable place of limited size, or an empty folder without `sizes`."""
    if not features.sizes:
        return ["--dir", place]
    return ["--perms", "1777", "--size", f"{size}", "--tmpfs", place]


def _files(view: View, *, writable: bool) -> list[str]:
    places = [place for place, _ in view.links]
    return [
        *_folders_above((*places, *view.trees, view.folder)),
        *(word for place, target in view.links for word in ("--symlink", target, place)),
        *(word for path in view.trees for word in ("--ro-bind", path, path)),
        *("--bind" if writable else "--ro-bind", view.folder, view.folder),
    ]


def _folders_above(paths: Iterable[str]) -> list[str]:
    """Return options that make the folders above paths, open to all even if root makes them."""
    above = {
        str(folder): None
        for path in paths
        for folder in reversed(PurePosixPath(path).parents)
        if folder not in (PurePosixPath("/"), PurePosixPath(_TEMP))
    }
    return [word for folder in above for word in ("--perms", "0755", "--dir", folder)]
