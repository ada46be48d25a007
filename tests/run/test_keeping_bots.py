"""Tests of the number of bots that a worker keeps running."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from whole_program import Arena

BOTS = 48


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="prlimit exists on Linux only")
def test_few_open_files_are_enough_for_a_field_at_full_tables(arena: Arena) -> None:
    """All of these bots would need 288 files at once, and bots cannot be promised less than 256."""
    bots = [arena.bot(f"bot {number}") for number in range(BOTS)]
    keys = {"game": "speahx", "rules": {"players": 14, "max_turns": 2}, "match": {"duplicate": 2}}
    config = arena.configure(bots, **keys)
    arena.run("run", config, "--out", "many", "--jobs", 1)
    process = arena.start("run", config, "--out", "few", "--jobs", 1)
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (256, 256))  # before it starts the worker
    arena.end(process)
    assert arena.files("few") == arena.files("many")
