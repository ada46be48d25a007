from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandbox_stage import Reports, Stage, works
from tourney_runner.process.procfs import become_subreaper
from tourney_runner.process.sandbox import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.process.launcher import Launcher


@pytest.fixture(scope="session", autouse=True)
def _collects_orphans() -> None:
    become_subreaper()


@pytest.fixture(params=["bwrap", "landlock"])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    """Each sandbox that this machine has, as the user who runs the tests."""
    if (missing := works(request.param)) is not None:
        pytest.skip(missing)
    return choose(request.param, trusted=False)


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="sandbox-stage-") as place:
        Path(place).chmod(0o755)
        yield Stage(Path(place))
        Reports.close_all()
