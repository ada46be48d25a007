from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("tourney", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("tourney")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("slow", default=False):
        return
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(pytest.mark.skip(reason="slow: run it with --slow"))
