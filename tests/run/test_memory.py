"""The runner's memory does not grow with the number of deals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONDUCTING = Path(__file__).with_name("conducting.py")
DEALS_A_ROUND = 32


@pytest.mark.parametrize(
    "deals", [(10_000, 30_000), pytest.param((20_000, 100_000), marks=pytest.mark.slow)]
)
def test_memory_is_flat_in_the_number_of_deals(deals: tuple[int, int], tmp_path: Path) -> None:
    rounds = [str(number // DEALS_A_ROUND) for number in deals]
    ended = subprocess.run(
        [sys.executable, CONDUCTING, tmp_path / "out", *rounds],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    some, many = (tuple(map(int, line.split())) for line in ended.stdout.splitlines())
    assert many[0] > 2.9 * some[0]
    assert many[1] < some[1] + 8  # MiB; the deals alone would take more
    assert many[1] < 150
