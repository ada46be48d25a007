from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from real_table import RealTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def table(tmp_path: Path) -> Iterator[RealTable]:
    """An empty table; whoever is seated at it is gone after the test."""
    table = RealTable(tmp_path)
    yield table
    table.close()
