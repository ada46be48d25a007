"""The files that a run writes beside its results.

They are used again while everything that they were made from is unchanged. A run with nothing left
to play shows the table again, and making it, and the libraries for that, would take most of the
time of such a run.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

from tourney_runner import __version__
from tourney_runner.atomic_write import write_whole
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.site_folder import SITE_FOLDER
from tourney_runner.publish.summary import Summary
from tourney_runner.results.tournament_record import Seed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from tourney_runner.publish.publish_options import PublishChoices
    from tourney_runner.results.store import Store

__all__ = ["output_format", "write_files"]

_TABLE_FILES = ("standings.json", "standings.csv", "standings.md", "index.html")
"""The files beside the site."""

_KEPT = ".published.json"
_MOST_BOTS = 500
"""A larger table is computed again: its likelihoods of superiority would fill megabytes."""


class _Published(msgspec.Struct, frozen=True):
    """A publication and what it was made from."""

    made_from: str
    """A digest of the results, the choices and the version of the program."""
    files: str
    """A digest of the names, sizes and times of all files."""
    summary: Summary


def write_files(folder: Path, store: Store, choices: PublishChoices | None = None) -> Summary:
    """Write ``standings.json``, ``.csv``, ``.md``, the site, and a start page that links to it.

    Nothing is written while the files of the last time are up to date.

    Args:
        folder: The results folder.
        store: Its results.
        choices: The choices for pages; those of the tournament's configuration if left out.

    Returns:
        The table.

    Raises:
        DamageError: The results are damaged.
        RunError: The disk fails.
        UsageError: The folder of the site contains other files.
    """
    choices = choices or kept_choices(store)
    summary = _current(folder, store, choices)
    if summary is not None:
        return summary
    # Arrays, templates and plots take half a second to import.
    from tourney_runner.publish.site import Site  # noqa: PLC0415
    from tourney_runner.publish.tables import as_csv, as_json, as_markdown  # noqa: PLC0415

    site = Site(store, choices)
    summary = site.summary
    for name, text in (
        ("standings.json", as_json(summary)),
        ("standings.csv", as_csv(summary)),
        ("standings.md", as_markdown(summary)),
    ):
        write_whole(folder / name, text)
    site.write(folder / SITE_FOLDER)
    write_whole(folder / "index.html", site.front(f"{SITE_FOLDER}/"))
    _keep(folder, store, choices, summary)
    return summary


def _current(folder: Path, store: Store, choices: PublishChoices) -> Summary | None:
    """Return the published table if the files in a results folder are up to date.

    Args:
        folder: The results folder.
        store: Its results.
        choices: The choices for pages.

    Returns:
        The table; None if something has changed, or was made by another version of the program.

    Raises:
        DamageError: The files are up to date, but the results are damaged.
    """
    try:
        text = (folder / _KEPT).read_bytes()
        published = msgspec.json.decode(text, type=_Published)
    except (OSError, msgspec.MsgspecError):
        return None
    if published.made_from != _made_from(store, choices) or published.files != _files(folder):
        return None
    for _ in store.outcomes():
        pass  # reading a deal checks it
    return msgspec.structs.replace(published.summary, facts=store.about())


def _keep(folder: Path, store: Store, choices: PublishChoices, summary: Summary) -> None:
    """Remember a publication for `_current`.

    Raises:
        RunError: The disk fails.
    """
    if len(summary.entrants) > _MOST_BOTS or (digest := _made_from(store, choices)) is None:
        (folder / _KEPT).unlink(missing_ok=True)
        return
    # The results have the record; a copy of it would show a sealed seed.
    facts = msgspec.structs.replace(summary.facts, seed=Seed(0, secret=False), later_seeds=())
    summary = msgspec.structs.replace(summary, facts=facts)
    published = msgspec.to_builtins(_Published(digest, _files(folder), summary))
    write_whole(folder / _KEPT, json.dumps(published, ensure_ascii=False))


@cache
def output_format() -> str:
    """Return an identifier of the tables and pages that this version of the program writes.

    Two files with the same identifier and the same results are equal; see `verify.published_check`.
    """
    total = hashlib.sha256(__version__.encode())
    for package in ("tourney_runner.publish", "tourney_runner.ratings"):
        for file in sorted(_files_below(files(package)), key=lambda file: file.name):
            total.update(file.name.encode() + b"\0" + file.read_bytes())
    return f"{__version__}-{total.hexdigest()[:12]}"


def _files_below(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files_below(entry)
        elif entry.is_file():
            yield entry


def _made_from(store: Store, choices: PublishChoices) -> str | None:
    """Return a digest of everything that tables are made from; None if the results have none."""
    stored = store.digest()
    if stored is None:
        return None
    parts = [output_format(), stored, msgspec.to_builtins(choices)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _files(folder: Path) -> str:
    """Return a digest of the names, sizes and times of all published files."""
    published = [folder / name for name in _TABLE_FILES]
    published += sorted(path for path in (folder / SITE_FOLDER).rglob("*") if path.is_file())
    total = hashlib.sha256()
    for path in published:
        try:
            status = path.stat()
        except OSError:
            total.update(b"missing\n")
        else:
            total.update(
                f"{path.relative_to(folder)} {status.st_size} {status.st_mtime_ns}\n".encode()
            )
    return total.hexdigest()
