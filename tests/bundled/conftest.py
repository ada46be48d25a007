from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bundled_table import Play
from tourney_runner.process.procfs import become_subreaper

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Play:
    become_subreaper()  # as every worker is: it finds what bots leave behind
    return Play(tmp_path_factory.mktemp("bundled"), built)
