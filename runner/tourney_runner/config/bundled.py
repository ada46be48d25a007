"""The bots, configurations, guides and rule cases that come with the program."""

from __future__ import annotations

from pathlib import Path

from tourney_runner.errors import UsageError
from tourney_runner.text import shown

__all__ = ["bundled", "bundled_folder", "bundled_names", "guides", "rule_case_files"]


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
