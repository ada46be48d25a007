"""The page on writing a game, the package that `new-game` writes, and the check of the contract."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.cli.app import app
from tourney_runner.errors import UsageError
from tourney_runner.gamekit import tricks
from tourney_runner.gamekit.conformance import CHECKS, NonconformityError, actions_a_second
from tourney_runner.gamekit.package import create
from tourney_runner.games import registry
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tourney_runner.gamekit.conformance import Check

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-game.md"
GAMES = {"tricks": tricks.GAME, **registry.loaded().games}


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    registry.game.cache_clear()
    yield
    registry.game.cache_clear()


def test_the_examples_of_the_page_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    searching, game = blocks
    exec(compile(searching, "searching", "exec"), {})  # noqa: S102 - our own page
    assert game == Path(tricks.__file__).read_text(), "copy gamekit/tricks.py to the page"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("name", GAMES)
def test_our_games_keep_the_contract(name: str, check: Check) -> None:
    game = GAMES[name]
    for seed in range(2):
        check.run(game, game.options.model_validate({}), seed)


def wrong(**changes: Any) -> tricks.Tricks:
    """The example with other methods in its state or its game."""
    state_methods = {k: v for k, v in changes.items() if hasattr(tricks.TricksState, k)}
    state = type("State", (tricks.TricksState,), state_methods)

    class Wrong(tricks.Tricks):
        pass

    Wrong.state = state
    for name in changes.keys() - state_methods.keys():
        setattr(Wrong, name, changes[name])
    return Wrong()


def with_a_secret(self: Any, seat: int, action: tricks.TricksAnswer) -> tricks.TricksEvent:
    event = tricks.TricksState.act(self, seat, action)
    hidden = [card for seat in range(self.players) for card in self.hand(seat)]
    return tricks.TricksEvent(seat=event.seat, play=(*event.play, *hidden[-1:]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"returns": lambda self: (1.0,) * (self.players + 1)}, "gave 4 numbers for 3 players"),
        ({"fallback_action": lambda self: self.answer(play=("1S",))}, "read.. refuses .*1S"),
        ({"encode": lambda _, action: f"!{action}"}, "does not begin with !"),
        ({"act": with_a_secret}, "an event shows seat . the hidden cards"),
        ({"clone": lambda self: self}, "a copy shares parts"),
        ({"returns": lambda self: (1.0,) * self.players}, "forfeited got points"),
        ({"describe": lambda _self, _event: ""}, "describe.. is empty"),
    ],
)
def test_what_breaks_the_contract_is_named(
    changes: dict[str, Callable[..., Any]], message: str
) -> None:
    game = wrong(**changes)
    errors = []
    for check in CHECKS:
        for seed in range(5):
            try:
                check.run(game, game.options.model_validate({}), seed)
            except NonconformityError as error:
                errors.append(str(error))
            except ValueError:
                continue  # a code that cannot be read
    assert any(re.search(message, error) for error in errors), errors


@pytest.mark.usefixtures("fresh_registry")
def test_a_new_game_can_be_installed_and_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "seven_up"
    made = CliRunner().invoke(app, ["new-game", str(folder)])
    assert made.exit_code == 0, made.output
    assert "check-game seven_up" in made.output
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "README.md",
        "pyproject.toml",
        "src/seven_up_game/__init__.py",
        "tests/test_contract.py",
    }
    # As `pip install -e` would leave it.
    info = tmp_path / "tourney_seven_up-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tourney-seven-up\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[tourney.games]\nseven_up = seven_up_game:GAME\n")
    assert 'seven_up = "seven_up_game:GAME"' in (folder / "pyproject.toml").read_text()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(folder / "src")
    checked = CliRunner().invoke(app, ["check-game", "seven_up", "--deals", "2"])
    assert checked.exit_code == 0, checked.output
    assert "seven_up is ready for a tournament" in checked.output
    assert registry.game("seven_up").title == "Seven Up"


@pytest.mark.parametrize("name", ["Hearts", "7up", "my-game"])
def test_a_name_that_cannot_be_a_game_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="small letters"):
        create(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_the_speed_of_a_game_is_measured() -> None:
    assert actions_a_second(tricks.GAME, tricks.GAME.options(), least=0.01) > 0
