from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pathlib import Path

settings.register_profile("tourney", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("tourney")

LONG_FIRST = (
    "cluster", "run", "authors", "cli", "site", "league", "compare", "clock", "bundled", "publish",
    "process", "play",
)  # fmt: skip
"""Folders of tests that run real programs, those with the longest files before the others.

A file stays with one worker. Were a long one dealt out last, all other workers would wait for it.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Three workers for two cores: a test waits for its processes a third of its time."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ((cores or 1) * 3 + 1) // 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_rank)
    if config.getoption("slow", default=False):
        return
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(pytest.mark.skip(reason="slow: run it with --slow"))


def _rank(item: pytest.Item) -> int:
    folder, _, _ = item.nodeid.removeprefix("tests/").partition("/")
    return LONG_FIRST.index(folder) if folder in LONG_FIRST else len(LONG_FIRST)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of staged bots for all workers, so that each compiler runs once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    folder.mkdir(exist_ok=True)
    return folder
