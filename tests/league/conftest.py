from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from whole_program import Arena, arena

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["arena"]


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A small tournament that was played; tests work on copies of ``out``."""
    arena = Arena(tmp_path_factory.mktemp("cup"))
    bots = [arena.bot(name) for name in ("one", "two", "three")]
    bots.append(arena.bot("lucky", first="import random", move="answer = random.choice(legal)"))
    config = arena.configure(bots, schedule={"rounds": 2})
    arena.run("run", config, "--out", "out")
    yield arena
    arena.close()


@pytest.fixture
def out(cup: Arena) -> Path:
    """A copy of the results that a test may change; its name in the arena."""
    number = len(list(cup.path.glob("copy-*")))
    copy = cup.path / f"copy-{number}"
    shutil.copytree(cup.path / "out", copy)
    return copy


@pytest.fixture
def sql(out: Path) -> Iterator[sqlite3.Connection]:
    """The copy's results file, for tampering."""
    with closing(sqlite3.connect(out / "results.sqlite", isolation_level=None)) as connection:
        yield connection
