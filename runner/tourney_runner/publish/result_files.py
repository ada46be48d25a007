"""The files that a run writes beside its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.atomic_write import write_whole
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.reuse import current, keep
from tourney_runner.publish.site_folder import SITE_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.publish.publish_options import PublishChoices
    from tourney_runner.publish.summary import Summary
    from tourney_runner.results.store import Store

__all__ = ["write_files"]


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
    summary = current(folder, store, choices)
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
    keep(folder, store, choices, summary)
    return summary
