from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with four good bots, one that grants itself rights, one with a team."""
    for name in "abcd":
        bot = tmp_path / "bots" / name
        bot.mkdir(parents=True)
        (bot / "bot.sh").write_text("read line\n")
        (bot / "bot.yaml").write_text(f"name: {name}\ncommand: [sh, bot.sh]\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "grabby").mkdir()
    (tmp_path / "grabby" / "bot.yaml").write_text(
        "name: grabby\nlanguage: sh\ntrusted: true\nnetwork: true\ncomand: sh\n"
    )
    (tmp_path / "teamed").mkdir()
    (tmp_path / "teamed" / "bot.yaml").write_text("name: teamed\ncommand: [sh]\nteam: x\n")
    (tmp_path / "timed").mkdir()
    (tmp_path / "timed" / "bot.yaml").write_text("name: timed\ncommand: [sh]\ntime: {move: 9s}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path
