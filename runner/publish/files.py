"""The files that a run leaves beside its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.errors import RunError
from runner.publish.tables import as_csv, as_html, as_json, as_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from runner.publish.summary import Summary

__all__ = ["write_files", "write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never half of it.

    Raises:
        RunError: The disk fails; what was stored before is safe.
    """
    partial = path.with_name(f".{path.name}.new")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise RunError(
            f"{path}: cannot be written ({error}). The deals that were stored are safe; make room,"
            " then run the same command again."
        ) from error


def write_files(folder: Path, summary: Summary) -> None:
    """Write ``standings.json``, ``.csv``, ``.md`` and ``index.html``."""
    for name, text in (
        ("standings.json", as_json(summary)),
        ("standings.csv", as_csv(summary)),
        ("standings.md", as_markdown(summary)),
        ("index.html", as_html(summary)),
    ):
        write_whole(folder / name, text)
