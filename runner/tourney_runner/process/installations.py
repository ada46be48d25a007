"""Find the programs that the organiser of a tournament has installed.

Everything is taken from the organiser's own environment: the Python that runs this program, the
installations of version managers, and the search path. Nothing here depends on a bot.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

__all__ = [
    "holds",
    "home_folder",
    "installation_around",
    "is_crowded",
    "is_private",
    "managed_installations",
    "rustup_folders",
    "search_folders",
    "unshimmed",
]

_CROWDED = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/proc"),
    *("/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var", "/var/tmp"),  # noqa: S108 - never shown whole
)
_MANAGERS = (
    # (variables and default places of a manager's root, where installations are below it)
    (("$UV_PYTHON_INSTALL_DIR", "$XDG_DATA_HOME/uv/python", "~/.local/share/uv/python"), ("*",)),
    (("$UV_TOOL_DIR", "$XDG_DATA_HOME/uv/tools", "~/.local/share/uv/tools"), ("*",)),
    (("$PYENV_ROOT", "~/.pyenv"), ("versions/*",)),
    (
        (
            *("$CONDA_PREFIX", "$CONDA_ROOT", "$MAMBA_ROOT_PREFIX", "~/.conda", "~/anaconda3"),
            *("~/mambaforge", "~/micromamba", "~/miniconda3", "~/miniforge3"),
        ),
        ("envs/*",),
    ),
    (("$NVM_DIR", "$XDG_CONFIG_HOME/nvm", "~/.nvm"), ("versions/*/*",)),
    (("$RUSTUP_HOME", "~/.rustup"), ("toolchains/*",)),
    (("$ASDF_DATA_DIR", "$ASDF_DIR", "~/.asdf"), ("installs/*/*",)),
    (("$MISE_DATA_DIR", "$XDG_DATA_HOME/mise", "~/.local/share/mise"), ("installs/*/*",)),
    (("$SDKMAN_DIR", "~/.sdkman"), ("candidates/*/*",)),
)
_SHIMS = {
    "pyenv": ("$PYENV_ROOT", "~/.pyenv"),
    "asdf": ("$ASDF_DATA_DIR", "$ASDF_DIR", "~/.asdf"),
    "mise": ("$MISE_DATA_DIR", "$XDG_DATA_HOME/mise", "~/.local/share/mise"),
}
"""Version managers with a folder of shims, and their roots."""
_VARIABLES = frozenset(
    place.split("/")[0][1:]
    for places in (*(places for places, _ in _MANAGERS), *_SHIMS.values())
    for place in places
    if place.startswith("$")
) | {"CARGO_HOME", "HOME"}
_SHIM_SECONDS = 30.0

_KINDS = (
    # Files beside `bin` that mark a whole installation of a known kind
    ("lib/python3*/os.py",),
    ("pyvenv.cfg",),
    ("conda-meta/history",),
    ("include/node/node_version.h",),
    ("lib/node_modules/npm/package.json",),
    ("release", "lib/modules"),
    ("release", "jre/lib/rt.jar"),
    ("VERSION", "src/runtime", "pkg/tool"),
    ("lib/rustlib",),
)


def holds(tree: str, path: str) -> bool:
    """Return whether a path is a folder or below it, judging by the names alone."""
    return path == tree or path.startswith(tree.rstrip("/") + "/")


def home_folder() -> str:
    """Return the organiser's home, with links resolved."""
    return os.path.realpath(Path.home())


def is_crowded(folder: str) -> bool:
    """Return whether a folder is a home or a part of the system with mixed contents."""
    return folder in _CROWDED or holds(folder, home_folder())


def is_private(folder: str) -> bool:
    """Return whether a folder holds more than an installation and so must not be shown whole."""
    return (
        is_crowded(folder)
        or os.path.basename(folder) == ".local"
        or os.path.lexists(f"{folder}/.git")
    )


def search_folders(search: str | None = None) -> tuple[str, ...]:
    """Return the folders of a search path, leaving out relative ones.

    Args:
        search: A value like that of ``PATH``; this process's own if left out.
    """
    text = os.environ.get("PATH", os.defpath) if search is None else search
    return tuple(
        dict.fromkeys(
            os.path.normpath(folder)
            for folder in text.split(os.pathsep)
            if folder.startswith("/") and ".." not in folder.split("/")
        )
    )


def managed_installations() -> tuple[str, ...]:
    """Return the folders of this Python and of all installations of version managers.

    Each is returned both as named and with links resolved. Folders that hold more than an
    installation, such as a home, are left out.
    """
    return _installations(_environment())


def _environment() -> tuple[tuple[str, str], ...]:
    found = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    if conda := os.environ.get("CONDA_EXE"):
        found.setdefault("CONDA_ROOT", str(Path(conda).parent.parent))
    return tuple(sorted({**found, "HOME": str(Path.home())}.items()))


@lru_cache(maxsize=8)
def _installations(environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    values = dict(environment)
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    for places, patterns in _MANAGERS:
        for root in _roots(places, values):
            if os.path.isdir(root / "conda-meta"):  # conda's root is an installation itself
                found.append(str(root))
            for pattern in patterns:
                found += [str(path) for path in sorted(root.glob(pattern)) if os.path.isdir(path)]
    both = dict.fromkeys(name for path in found for name in (path, os.path.realpath(path)))
    return tuple(path for path in both if not is_private(path))


def _roots(places: tuple[str, ...], values: dict[str, str]) -> list[Path]:
    """Return the existing roots of a manager, from variables and defaults."""
    roots = []
    for place in places:
        first, _, rest = place.partition("/")
        base = values["HOME"] if first == "~" else values.get(first[1:], "")
        root = Path(base, rest)
        if base.startswith("/") and os.path.isdir(root):
            roots.append(root)
    return roots


def installation_around(real: str) -> str | None:
    """Return the folder of the installation of a program that no manager has installed.

    Only known kinds of installations count: Python, virtual and conda environments, Node, Java, Go,
    Rust.

    Args:
        real: The program, with links resolved.
    """
    folder = Path(real).parent
    root = folder.parent
    if folder.name not in ("bin", "sbin") or is_private(str(root)):
        return None
    for marks in _KINDS:
        if all(any(root.glob(mark)) for mark in marks):
            return str(root)
    return None


def rustup_folders(real: str) -> tuple[str, str] | None:
    """Return rustup's home and the folder of its proxies if a program is a proxy, else None."""
    values = dict(_environment())
    cargo = Path(values.get("CARGO_HOME") or Path(values["HOME"], ".cargo"), "bin")
    home = values.get("RUSTUP_HOME") or str(Path(values["HOME"], ".rustup"))
    rustup = cargo / "rustup"
    if os.path.realpath(cargo) != os.path.dirname(real):
        return None
    try:
        is_proxy = os.path.samefile(real, rustup)
    except OSError:
        return None
    return (home, str(cargo)) if is_proxy and os.path.isdir(home) else None


def unshimmed(program: str) -> str:
    """Return the program behind a version manager's shim. A shim adds 50 ms to a start."""
    folder, name = os.path.split(program)
    values = dict(_environment())
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
        return program
    for manager, places in _SHIMS.items():
        for root in _roots(places, values):
            if folder in (str(root / "shims"), os.path.realpath(root / "shims")):
                return _asked(_manager(manager, root), name) or program
    return program


def _manager(name: str, root: Path) -> str | None:
    """Return the path of a version manager."""
    for place in (str(root / "bin"), *search_folders()):
        if os.access(f"{place}/{name}", os.X_OK) and os.path.isfile(f"{place}/{name}"):
            return f"{place}/{name}"
    return None


def _asked(manager: str | None, name: str) -> str | None:
    """Return the program that a version manager reports for a name."""
    if manager is None:
        return None
    try:
        answer = subprocess.run(
            [manager, "which", name],
            cwd="/",
            env={**os.environ, "PATH": os.pathsep.join(search_folders())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SHIM_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    path = answer.stdout.strip()
    is_program = path.startswith("/") and os.access(path, os.X_OK)
    return path if is_program else None
