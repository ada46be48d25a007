from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sandbox_stage import Reports

if TYPE_CHECKING:
    from sandbox_stage import Stage

EVERYWHERE = [
    (backend, user) for backend in ("bwrap", "landlock", "limits") for user in ("root", "ordinary")
]


def share(request: pytest.FixtureRequest, few: int, many: int) -> str:
    return str(many if request.config.getoption("--slow") else few)


@pytest.fixture(scope="module")
def trials(stage: Stage, request: pytest.FixtureRequest) -> Reports:
    number = share(request, 25, 250)
    return Reports(stage, {key: ("trials", key[0], number) for key in EVERYWHERE})


@pytest.fixture(scope="module")
def killed_workers(stage: Stage, request: pytest.FixtureRequest) -> Reports:
    number = share(request, 4, 100)
    return Reports(stage, {key: ("killed", key[0], number) for key in EVERYWHERE})


@pytest.mark.parametrize(("backend", "user"), EVERYWHERE)
def test_nothing_survives_a_kill_at_any_moment(backend: str, user: str, trials: Reports) -> None:
    assert trials.of(backend, user) == {"left": 0}


@pytest.mark.parametrize(("backend", "user"), EVERYWHERE)
def test_nothing_survives_a_worker_that_was_killed(
    backend: str, user: str, killed_workers: Reports
) -> None:
    assert killed_workers.of(backend, user) == {"left": 0}


@pytest.fixture(scope="module")
def outputs(stage: Stage) -> Reports:
    return Reports(stage, {key: ("outputs", key[0]) for key in EVERYWHERE})


@pytest.mark.parametrize(("backend", "user"), EVERYWHERE)
def test_a_bot_that_has_closed_stdout_is_not_waited_for(
    backend: str, user: str, outputs: Reports
) -> None:
    report = outputs.of(backend, user)
    closed = {name: ending for name, ending in report.items() if ending != "here"}
    assert closed == dict.fromkeys(
        ("closes it", "gives it a file", "closes it and has children"), "ended, alive: True"
    )
