"""Tests of the task queue: workers take tasks of their own lane first, and are never idle."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("distributed", reason="the extra dask is not installed")

from tourney_runner.cluster.tasks import TaskQueue
from tourney_runner.run.worker_process import Check, Chunk

if TYPE_CHECKING:
    from collections.abc import Coroutine


def _run(trial: Coroutine[None, None, None]) -> None:
    asyncio.run(asyncio.wait_for(trial, 60))


def _chunk(lane: int) -> Chunk:
    return Chunk(lane, (), lane=lane)


def test_each_place_is_given_the_tasks_of_its_lane() -> None:
    async def trial() -> None:
        tasks = TaskQueue()
        waiting = [asyncio.create_task(tasks.take(lane)) for lane in range(3)]
        await asyncio.sleep(0)
        for lane in (2, 0, 1):
            tasks.put(_chunk(lane))
        assert await asyncio.gather(*waiting) == [_chunk(lane) for lane in range(3)]
        for lane in (2, 0, 1):
            tasks.put(_chunk(lane))
        assert [await tasks.take(lane) for lane in range(3)] == [_chunk(lane) for lane in range(3)]

    _run(trial())


def test_no_task_waits_while_a_place_is_idle() -> None:
    async def trial() -> None:
        tasks = TaskQueue()
        waiting = asyncio.create_task(tasks.take(5))
        await asyncio.sleep(0)
        tasks.put(_chunk(2))
        assert await waiting == _chunk(2)
        for task in (_chunk(3), Check(7, 1)):
            tasks.put(task)
            assert await tasks.take(5) == task

    _run(trial())


def test_a_task_that_is_handed_to_a_place_in_its_last_moment_goes_to_another() -> None:
    async def trial() -> None:
        tasks = TaskQueue()
        leaving = asyncio.create_task(tasks.take(0))
        await asyncio.sleep(0)
        tasks.put(_chunk(0))
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        assert await tasks.take(1) == _chunk(0)

    _run(trial())


def test_no_task_is_handed_to_a_place_that_is_being_dismissed() -> None:
    async def trial() -> None:
        tasks = TaskQueue()
        leaving = asyncio.create_task(tasks.take(0))
        await asyncio.sleep(0)
        leaving.cancel()  # what it waits for is cancelled, its own code has not run yet
        tasks.put(_chunk(0))
        with pytest.raises(asyncio.CancelledError):
            await leaving
        assert await tasks.take(1) == _chunk(0)

    _run(trial())


def test_a_place_that_comes_back_has_the_lane_that_was_left() -> None:
    tasks = TaskQueue()
    with tasks.place() as first:
        with tasks.place() as second, tasks.place() as third:
            assert (first, second, third, tasks.places) == (0, 1, 2, 3)
        with tasks.place() as again:
            assert (again, tasks.places) == (1, 2)
