"""Games of OpenSpiel; needs the extra `openspiel`: `tox -e openspiel`."""

from __future__ import annotations

import json
import pickle
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from typer.testing import CliRunner

pyspiel = pytest.importorskip("pyspiel")

from tourney_runner.cli.app import app  # noqa: E402
from tourney_runner.config.models import RunConfig  # noqa: E402
from tourney_runner.gamekit.conformance import CHECKS  # noqa: E402
from tourney_runner.games.base import IllegalActionError  # noqa: E402
from tourney_runner.integrations.openspiel import OpenSpielAnswer, make  # noqa: E402
from tourney_runner.play.bot import Bot  # noqa: E402
from tourney_runner.play.deal import DealInPlay  # noqa: E402
from tourney_runner.play.deal_replay import steps  # noqa: E402
from tourney_runner.play.in_process_players import HousePlayer  # noqa: E402
from tourney_runner.play.match import dealt, player_setup  # noqa: E402
from tourney_runner.play.play_settings import MatchConfig, TimeConfig  # noqa: E402
from tourney_runner.process.fair_clock import make_clock  # noqa: E402
from tourney_runner.process.launcher import PlainLauncher  # noqa: E402
from tourney_runner.ratings.standings import standings  # noqa: E402
from tourney_runner.results.records import DealKey  # noqa: E402
from tourney_runner.run.tournament_setup import make_settings  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tourney_runner.gamekit.conformance import Check
    from tourney_runner.integrations.openspiel import OpenSpielState
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.results.records import DealRecord

GAMES = ["tic_tac_toe", "kuhn_poker", "leduc_poker", "goofspiel", "crazy_eights", "hearts",
         "backgammon", "liars_dice", "matrix_pd", "connect_four", "negotiation"]  # fmt: skip
KINDS = {kind.short_name: kind for kind in pyspiel.registered_games()}
PARAMETERS: dict[str, dict[str, Any]] = {
    "bridge": {"use_double_dummy_result": False},  # which takes seconds a deal
    "pathfinding": {"players": 2, "grid": "A.*..**\n..*B...\nb...*a.\n"},  # by default for one
}
EXCEPTIONS = {"efg_game", "nfg_game"}
"""Games for several players that cannot be played: they have no rules without a file."""


def is_wrapper(kind: Any) -> bool:
    return any(isinstance(value, dict) for value in kind.parameter_specification.values())


COMPETITIVE = sorted(
    name
    for name, kind in KINDS.items()
    if kind.max_num_players >= 2
    and kind.utility != pyspiel.GameType.Utility.IDENTICAL
    and kind.dynamics != pyspiel.GameType.Dynamics.MEAN_FIELD
    and not is_wrapper(kind)
    and name not in EXCEPTIONS
)


def begun(name: str, seed: int = 1, **parameters: Any) -> OpenSpielState:
    game = make(name)
    return game.new_state(game.options(**parameters), seed, None)


def plan(name: str) -> PlaySettings:
    rules = make(name).options(**PARAMETERS.get(name, {})).in_force()
    config = RunConfig(time=TimeConfig(move_ms=10_000))
    return make_settings(f"openspiel/{name}", rules, "sweep", MatchConfig(duplicate=2), config)


def played(settings: PlaySettings, rotation: int) -> DealRecord:
    """One rotation of a deal among random players, through the code that plays all deals."""
    key = DealKey(0, 0, rotation)
    state = dealt(settings, key, 0)
    game = make(settings.game.partition("/")[2])
    setup = player_setup(settings, PlainLauncher(), make_clock("fair"))
    players = [
        HousePlayer(Bot(name=f"bot {number}", number=number), setup, game, Random(number))
        for number in range(state.players)
    ]
    players = players[rotation:] + players[:rotation]
    for player in players:
        player.sit(state)
    deal = DealInPlay(
        game,
        state,
        key,
        players,
        seeds=range(state.players),
        settings=settings,
        faults_so_far=[0] * state.players,
    )
    return deal.play(0)


@pytest.mark.parametrize("name", COMPETITIVE)
def test_every_game_for_several_players_plays_a_tournament(name: str) -> None:
    settings = plan(name)
    records = [played(settings, rotation) for rotation in range(2)]
    for record in records:
        assert not record.faults
        *_, last = steps(settings, record, check=True)
        assert (last.state.places(), last.state.returns()) == (record.places, record.points)
    bots = settings.rules["players"]
    table = standings([f"bot {number}" for number in range(bots)], records)
    assert len(table.entrants) == bots


def test_the_bundled_tournament_of_bots_of_openspiel_is_played(tmp_path: Path) -> None:
    """Through the whole program, with bot processes."""
    out = str(tmp_path / "results")
    for words in (["run", "configs/openspiel.yaml", "--out", out], ["verify", out]):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    ranking = json.loads((tmp_path / "results" / "standings.json").read_text())["entrants"]
    assert ranking[0]["name"] == "openspiel-mcts"
    assert not any(bot["faults"] for bot in ranking)


def test_only_games_without_rules_are_left_out() -> None:
    assert KINDS.keys() >= EXCEPTIONS
    assert len(EXCEPTIONS) <= 5
    assert len(COMPETITIVE) > 80
    for name in EXCEPTIONS:
        with pytest.raises(ValueError, match="from another game or a file"):
            make(name)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("name", GAMES)
def test_games_keep_the_contract(name: str, check: Check) -> None:
    game = make(name)
    check.run(game, game.options.model_validate({}), 3)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_game", "no game of that name"),
        ("blackjack", "for one player"),
        ("mfg_crowd_modelling", "mean-field"),
        ("repeated_game", "made from another game or a file"),
        ("misere", "made from another game or a file"),
        ("tiny_hanabi", "get the same"),
    ],
)
def test_a_game_that_cannot_be_played_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make(name)


def test_an_illegal_number_is_refused_everywhere() -> None:
    state = begun("tic_tac_toe")
    state.apply_action(4)
    with pytest.raises(IllegalActionError, match="not one of the legal actions"):
        state.read(OpenSpielAnswer(id=1, action=4))
    with pytest.raises(ValueError, match="not a legal action"):
        state.apply_action(4)
    with pytest.raises(ValueError, match="not an action number"):
        make("tic_tac_toe").decode("-1")
    record = played(settings := plan("tic_tac_toe"), 0)
    first, *rest = record.moves.split()
    twice = msgspec.structs.replace(record, moves=" ".join([first, first, *rest]))
    for check in (False, True):
        with pytest.raises(ValueError, match=r"not a legal action|not one of the legal"):
            list(steps(settings, twice, check=check))


def test_an_event_shows_no_action_that_may_be_hidden() -> None:
    event = begun("tic_tac_toe").apply_action(4)
    assert (event.action, event.text) == (4, "x(1,1)")
    for hidden in ("goofspiel", "kuhn_poker", "matrix_pd"):
        state = begun(hidden)
        event = state.apply_action(state.legal_actions().actions[0])
        assert (event.action, event.text) == (None, None)
        assert state.describe(event) == "seat 0 moved"


@pytest.mark.parametrize("name", ["goofspiel", "oshi_zumo", "blotto", "laser_tag", "snake"])
def test_no_player_sees_an_action_before_all_have_acted(name: str) -> None:
    seen = set()
    for action in begun(name).legal_actions().actions[:4]:
        state = begun(name)
        state.apply_action(action)
        assert state.current_player == 1
        seen.add(state.observation(1))
    assert len(seen) == 1


def test_a_player_sees_only_its_own_card() -> None:
    state = begun("kuhn_poker")
    own = [state.observation(seat).state for seat in range(2)]
    assert own[0] != own[1]
    assert state.observation(0).history is None
    zones = state.scene().zones
    assert [(zone.seat, zone.shown_to, zone.note) for zone in zones] == [
        (seat, "owner", own[seat]) for seat in range(2)
    ]


def test_chance_follows_from_the_seed_whatever_the_players_do() -> None:
    """The k-th chance node takes the k-th random number; outcomes are sorted."""
    state, chance = begun("backgammon", seed=7), Random(7)
    game = pyspiel.load_game("backgammon")
    mirror, picks = game.new_initial_state(), Random(1)
    for _ in range(60):
        while mirror.is_chance_node():
            draw, total = chance.random(), 0.0
            for action, probability in sorted(mirror.chance_outcomes()):
                total += probability
                if draw < total:
                    mirror.apply_action(action)
                    break
        assert list(state.observation(0).history or ()) == mirror.history()
        action = picks.choice(mirror.legal_actions())
        mirror.apply_action(action)
        state.apply_action(action)


def test_cards_do_not_depend_on_a_player_who_left() -> None:
    """Leduc poker: the card on the table is drawn after the first round of bets."""
    cards = set()
    for leaver in (None, 0, 1, 2):
        state = begun("leduc_poker", seed=5, players=3)
        if leaver is not None:
            state.forfeit(leaver)
        while not state.is_terminal() and "Public: -10000" in str(state._state):
            state.apply_action(1)  # call
        found = str(state._state).partition("Public: ")[2][:2]
        cards.add(found)
    assert len(cards) == 1


def test_a_player_who_forfeits_is_last_and_the_others_play_on() -> None:
    state = begun("hearts", seed=3)
    state.forfeit(2)
    random = Random(4)
    while not state.is_terminal():
        assert state.current_player != 2
        state.apply_action(random.choice(state.legal_actions().actions))
    assert state.places()[2] == 4
    assert state.returns()[2] == 0
    state = begun("tic_tac_toe")
    state.forfeit(0)
    assert state.is_terminal()
    assert (state.places(), state.returns()) == ((2, 1), (0.0, 1.0))


def test_equal_returns_share_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    state = begun("matrix_pd")
    monkeypatch.setattr(state, "_values", lambda: [0.1 + 0.2, 0.3])
    assert state.places() == (1, 1)
    monkeypatch.setattr(state, "_values", lambda: [0.3 + 1e-6, 0.3])
    assert state.places() == (1, 2)


def test_a_game_with_random_numbers_of_its_own_repeats() -> None:
    """`negotiation` draws its items itself, from a seed that it is given."""
    texts = [str(begun("negotiation", seed)._state) for seed in (1, 1, 2)]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    state = begun("negotiation")
    state.apply_action(state.legal_actions().actions[0])
    for copied in (state.clone(), pickle.loads(pickle.dumps(state))):  # noqa: S301 - just made
        assert str(copied._state) == str(state._state)


def test_parameters_are_options_and_the_version_is_in_the_rules() -> None:
    options = make("kuhn_poker").options
    in_force = options.model_validate({"players": 3}).in_force()
    assert in_force["players"] == 3
    assert in_force["open_spiel"]
    with pytest.raises(ValueError, match="less than or equal to 10"):
        options.model_validate({"players": 11})


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("go", {"board_size": 100}, "refuses these parameters: .*up to 19"),
        ("mnk", {"m": -1}, "refuses these parameters"),
        ("tiny_bridge_4p", {"players": 3}, "greater than or equal to 4|expected players: 4"),
        ("kuhn_poker", {"players": True}, "valid integer"),
        ("kuhn_poker", {"open_spiel": "0.1"}, "Input should be"),
    ],
)
def test_parameters_that_cannot_be_dealt_are_refused(
    name: str, parameters: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        make(name).options.model_validate(parameters)
