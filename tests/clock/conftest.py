from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def hogs() -> Iterator[None]:
    """Four programs that take all the time they can get."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    yield
    for program in programs:
        program.kill()
        program.wait()


@pytest.fixture
def one_core() -> Iterator[None]:
    """Put this process on one core, which a worker shares with its bots and other programs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)
