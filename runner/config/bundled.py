"""The configurations that come with the program."""

from __future__ import annotations

from pathlib import Path

__all__ = ["bundled", "bundled_names"]


def bundled(name: str | Path) -> Path | None:
    """The configuration of that name, from the installed package or the repository.

    Args:
        name: ``quickstart.yaml`` or ``configs/quickstart.yaml``. Its bots lie in ``../bots``.
    """
    parts = Path(name).parts
    if len(parts) == 2 and parts[0] == "configs":
        parts = parts[1:]
    folder = _folder()
    if len(parts) != 1 or folder is None:
        return None
    path = folder / parts[0]
    return path if path.suffix == ".yaml" and path.is_file() else None


def bundled_names() -> list[str]:
    """The file names of all of them, sorted."""
    folder = _folder()
    return sorted(path.name for path in folder.glob("*.yaml")) if folder else []


def _folder() -> Path | None:
    package = Path(__file__).resolve().parent.parent
    folders = (package / "_bundled" / "configs", package.parent / "configs")
    return next((folder for folder in folders if folder.is_dir()), None)
