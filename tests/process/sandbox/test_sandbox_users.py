from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sandbox_stage import Reports

if TYPE_CHECKING:
    from sandbox_stage import Stage

WIDE = 1879048192
"""The first of as many users as all workers need; a small container has not got them."""


@pytest.fixture(scope="module", params=["bwrap", "landlock"])
def users(request: pytest.FixtureRequest, stage: Stage) -> tuple[list[int], list[int]]:
    """Those of living bots of two workers, whose own numbers follow each other.

    One has more bots than its own number is good for.
    """
    key = (request.param, "root")
    many, few = [Reports(stage, {key: ("users", request.param, count)}) for count in ("66", "2")]
    return many.of(*key), few.of(*key)


def test_no_two_living_bots_of_a_worker_are_one_user(users: tuple[list[int], list[int]]) -> None:
    for of_worker in users:
        assert len(set(of_worker)) == len(of_worker)


def test_no_bots_of_two_workers_are_one_user(users: tuple[list[int], list[int]]) -> None:
    many, few = users
    if min(many) < WIDE:
        pytest.skip("this container has too few users for that")
    assert set(many).isdisjoint(few)
