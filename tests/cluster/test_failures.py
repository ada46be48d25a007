"""Tests of blame for failing tasks: the task, or one machine with any number of workers."""

from __future__ import annotations

from tourney_runner.cluster.tasks import TRIES, Failures

TASK = 7


def _failed(*workers: str) -> Failures:
    """A task has failed at these, each named by its machine and a number."""
    failures = Failures()
    for worker in workers:
        failures.add(TASK, worker[0], worker)
    return failures


def test_one_machine_of_several_does_not_make_a_task_bad() -> None:
    failures = _failed("a1", "a2", "a3", "a4", "a1")
    assert not failures.show_bad_task(TASK, machines=2)


def test_a_task_that_fails_on_all_machines_or_on_several_is_bad() -> None:
    assert _failed("a1", "a2", "b1").show_bad_task(TASK, machines=2)
    assert not _failed("a1", "a2", "b1").show_bad_task(TASK, machines=10)
    assert _failed("a1", "b1", "c1").show_bad_task(TASK, machines=10)


def test_where_there_is_one_machine_several_workers_are_enough() -> None:
    assert not _failed("a1", "a2", "a1").show_bad_task(TASK, machines=1)
    assert _failed("a1", "a2", "a3").show_bad_task(TASK, machines=1)


def test_a_task_that_was_done_has_never_failed() -> None:
    failures = _failed("a1", "b1")
    failures.forget(TASK)
    assert failures.add(TASK, "c", "c1") == 1
    assert not failures.show_bad_task(TASK, machines=3)


def test_a_worker_is_told_how_often_it_has_failed_at_a_task() -> None:
    failures = _failed("a1", "a2", "a1")
    failures.add(TASK + 1, "a", "a1")
    assert failures.add(TASK, "a", "a1") == TRIES
