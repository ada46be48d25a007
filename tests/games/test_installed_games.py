"""Games that an installed package adds, good ones and broken ones."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from tourney_runner.cli.output import game_list
from tourney_runner.config.schema import config_schema
from tourney_runner.errors import UsageError
from tourney_runner.games import registry
from tourney_runner.protocol.schemas import protocol_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, seen by this process."""
    monkeypatch.syspath_prepend(tmp_path)
    registry.game.cache_clear()
    yield tmp_path
    registry.game.cache_clear()


def install(folder: Path, package: str, code: str, points: str) -> None:
    (folder / f"{package}.py").write_text(code)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


FAMILY = """
import copy
from tourney_runner.games.tienlen import GAME

def member(name):
    if name == "chess":
        raise ValueError("it is for one player")
    if name == "crash":
        raise KeyError("boards")
    game = copy.copy(GAME)
    game.name = f"family/{name}"
    game.draw_probability = 0.25
    return game
"""


def test_a_broken_package_harms_no_other_game(packages: Path) -> None:
    install(packages, "brokengame", "1 / 0", "[tourney.games]\nbroken = brokengame:GAME\n")
    install(packages, "nogame", "GAME = 3", "[tourney.games]\nnothing = nogame:GAME\n")
    loaded = registry.loaded()
    assert [*loaded.games] == ["speahx", "tienlen"]
    assert "of the installed package brokengame does not load" in loaded.broken["broken"]
    assert "is not a tourney_runner.games.base.Game" in loaded.broken["nothing"]
    listing = game_list()
    assert "tienlen - Tien Len" in listing
    assert "broken - cannot be used: " in listing
    assert {*protocol_schema()["games"]} == {"speahx", "tienlen"}
    assert config_schema()
    with pytest.raises(UsageError, match="division by zero"):
        registry.game("broken")


def test_a_family_makes_its_games_when_they_are_asked_for(packages: Path) -> None:
    install(packages, "gamefamily", FAMILY, "[tourney.game_families]\nfamily = gamefamily:member\n")
    assert registry.names() == ["speahx", "tienlen"]
    assert registry.exists("family/go")
    assert not registry.exists("other/go")
    assert registry.claims(("tienlen", "family"), "family/go")
    assert not registry.claims(("tienlen", "other"), "family/go")
    assert "family/NAME" in game_list()
    assert "gamefamily" not in sys.modules  # nothing was imported so far
    game = registry.game("family/go")
    assert (game.name, game.draw_probability) == ("family/go", 0.25)
    assert registry.game("family/go") is game
    with pytest.raises(UsageError, match="there is no game 'family/chess': it is for one player"):
        registry.game("family/chess")
    with pytest.raises(UsageError, match="of the installed package gamefamily does not load"):
        registry.game("family/crash")


MEMBERS = {
    "notitle": ("game.title = None", "`title` is not a text"),
    "never": ("game.draw_probability = 0", "`draw_probability` is 0, expected"),
    "noview": ("game.observation = dict", "`observation` is not a class that extends Struct"),
    "noanswer": ("game.answer = None", "`answer` is not a class that extends Answer"),
    "nodefault": ("game.options = Strict", "there is no default for players, seats"),
    "noschema": ("game.event = Odd", "its types are wrong"),
    "leaving": ("raise SystemExit(3)", "does not load"),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_game_with_wrong_parts_harms_no_other_game(packages: Path, name: str) -> None:
    change, message = MEMBERS[name]
    code = f"""
import copy
import msgspec
from tourney_runner.games.base import GameOptions
from tourney_runner.games.tienlen import GAME

class Strict(GameOptions):
    seats: int

class Odd(msgspec.Struct):
    value: object
    other: complex

game = copy.copy(GAME)
game.name = "{name}"
{change}
"""
    install(packages, f"{name}game", code, f"[tourney.games]\n{name} = {name}game:game\n")
    loaded = registry.loaded()
    assert [*loaded.games] == ["speahx", "tienlen"]
    assert re.search(message, loaded.broken[name])
    assert f"{name} - cannot be used: " in game_list()
    assert {*protocol_schema()["games"]} == {"speahx", "tienlen"}
