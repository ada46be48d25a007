"""Numbers of actions and arrays of observations, for programs that learn."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tourney_runner.games.registry import game as find_game
from tourney_runner.games.speahx.canonical import Removal
from tourney_runner.games.speahx.cards import LAID_NAMES, NUMBERS
from tourney_runner.integrations import encoders
from tourney_runner.integrations.encoders import ENCODERS, encoder

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES: list[tuple[str, dict[str, Any]]] = [
    ("tienlen", {}),
    ("tienlen", {"players": 2, "equal_rank_sets": "tie", "bomb_hierarchy": "southern"}),
    ("speahx", {}),
    ("speahx", {"players": 3, "jokers": True, "table_cards": 5, "quad_scope": "anywhere"}),
    ("speahx", {"players": 5, "quad_scope": "single_play", "chance_commits": False}),
    ("speahx", {"players": 2, "lead_chain": "previous_suit_or_rank", "quad_scope": "off"}),
]


def moves(game: str, rules: dict[str, Any], deals: int = 3) -> Iterator[tuple[Any, Any, Any]]:
    """Rules, view and canonical answers of moves, as a bot gets them, with forfeits in between."""
    found = find_game(game)
    options = found.options.model_validate(rules)
    random = Random(1)
    for deal in range(deals):
        state = found.new_state(options, deal, None)
        while not state.is_terminal():
            actions = state.legal_actions("canonical").actions
            seat = state.current_player
            message = options.in_force(), state.observation(seat), [*map(state.write, actions)]
            yield tuple(msgspec.json.decode(msgspec.json.encode(part)) for part in message)
            if random.random() < 0.02:
                state.forfeit(seat)
            else:
                state.apply_action(random.choice(actions))


def test_the_number_of_actions_depends_on_nothing() -> None:
    assert {name: kind.actions for name, kind in ENCODERS.items()} == {
        "tienlen": 453,
        "speahx": 1042,
    }


@pytest.mark.parametrize(("game", "rules"), RULES)
def test_every_listed_action_has_a_number_of_its_own(game: str, rules: dict[str, Any]) -> None:
    for in_force, view, legal in moves(game, rules):
        coder = encoder(game, in_force)
        numbers = [coder.number(view, answer) for answer in legal]
        assert 0 <= min(numbers) <= max(numbers) < coder.actions
        short = [answer for answer in legal if len(answer.get("play", ())) < 8]
        assert len({coder.number(view, answer) for answer in short}) == len(short)
        numbered = coder.numbered(view, legal)
        assert [*numbered] == sorted({*numbers})
        assert all(coder.number(view, answer) == number for number, answer in numbered.items())


@pytest.mark.parametrize(("game", "rules"), RULES)
def test_observations_are_arrays_of_one_length_between_0_and_1(
    game: str, rules: dict[str, Any]
) -> None:
    sizes, seen = set(), set()
    for in_force, view, _ in moves(game, rules):
        coder = encoder(game, in_force)
        observed = coder.observe(view)
        sizes |= {len(observed), coder.size}
        assert all(0 <= value <= 1 for value in observed)
        seen.add(tuple(observed))
    assert len(sizes) == 1
    assert len(seen) > 20


def test_a_play_has_the_same_number_whatever_else_is_held() -> None:
    coder = encoder("tienlen", {"players": 4})
    assert coder.number({}, {"pass": True}) == 0
    high = coder.number({}, {"play": ["4S", "5S", "6H"]})
    assert high == coder.number({}, {"play": ["6H", "4C", "5D"]})
    assert high != coder.number({}, {"play": ["4S", "5S", "6D"]})
    assert coder.number({}, {"play": ["3S"]}) == 1


@pytest.mark.parametrize(("game", "rules"), RULES[2:])
def test_fours_of_a_kind_are_those_of_the_rules(game: str, rules: dict[str, Any]) -> None:
    for in_force, view, legal in moves(game, rules):
        scope = in_force["quad_scope"]
        coder = encoder(game, in_force)
        removal = Removal([LAID_NAMES[card] for card in view["pile"]], scope)
        for answer in legal:
            if "play" in answer:
                cards = tuple(NUMBERS[card] for card in answer["play"])
                assert coder.number(view, answer) % 2 == removal.completes(cards)


def test_a_copy_of_the_file_runs_without_any_package(tmp_path: Path) -> None:
    copied = tmp_path / "encoders.py"
    copied.write_text(Path(encoders.__file__).read_text("utf-8"), "utf-8")
    in_force, view, legal = next(moves("speahx", {}))
    code = (
        "import json, sys; from encoders import encoder; rules, view, legal = json.load(sys.stdin);"
        "coder = encoder('speahx', rules);"
        "print([coder.observe(view), [*coder.numbered(view, legal)]])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        input=json.dumps([in_force, view, legal]),
        capture_output=True,
        text=True,
        check=True,
    )
    coder = encoder("speahx", in_force)
    assert json.loads(done.stdout) == [coder.observe(view), [*coder.numbered(view, legal)]]


def test_other_games_have_no_encoder() -> None:
    with pytest.raises(ValueError, match="no encoder for 'chess', expected one of speahx, tienlen"):
        encoder("chess", {})
