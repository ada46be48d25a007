from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from authors_program import Program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def environment(built: Path) -> dict[str, str]:
    """Return an environment with a cache of staged bots that all tests share."""
    return {**os.environ, "TOURNEY_CACHE": str(built), "LANG": "C.UTF-8", "COLUMNS": "200"}


@pytest.fixture
def tourney(tmp_path: Path, environment: dict[str, str]) -> Program:
    return Program(tmp_path, environment)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Program:
    """One folder for the whole session."""
    return Program(tmp_path_factory.mktemp("workshop"), environment)
