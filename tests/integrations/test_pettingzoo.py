"""The games as environments of PettingZoo; needs the extra: `tox -e pettingzoo`."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("pettingzoo")

import numpy as np
from pettingzoo.test import api_test, render_test, seed_test
from tourney_runner.cli.app import app
from tourney_runner.errors import UsageError
from tourney_runner.integrations.pettingzoo import env, raw_env
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.play.seeds import deal_seed
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text("utf-8")
TABLES: list[tuple[str, dict[str, Any]]] = [
    ("tienlen", {}),
    ("tienlen", {"players": 2}),
    ("speahx", {}),
    ("speahx", {"players": 5, "jokers": True, "table_cards": 5}),
]


# PettingZoo warns of every observation that carries a mask of legal actions.
@pytest.mark.filterwarnings("ignore:Observation space for each agent", "ignore:Observation is not")
@pytest.mark.parametrize(("game", "rules"), TABLES)
def test_pettingzoo_finds_nothing_wrong(game: str, rules: dict[str, Any]) -> None:
    api_test(env(game, **rules), num_cycles=300)
    seed_test(lambda: env(game, **rules), num_cycles=60)
    render_test(lambda render_mode=None: env(game, render_mode=render_mode, **rules))


def played(table: Any, seed: int) -> Iterator[tuple[str, float]]:
    """The rewards of an episode of random play, with the agents that get them."""
    table.reset(seed=seed)
    random = Random(seed)
    for agent in table.agent_iter():
        seen, reward, ended, _, _ = table.last()
        if ended:
            yield agent, reward
            table.step(None)
        else:
            table.step(
                random.choice([int(number) for number in np.flatnonzero(seen["action_mask"])])
            )


@pytest.mark.parametrize(("game", "rules"), TABLES)
def test_rewards_follow_from_places_or_are_the_points(game: str, rules: dict[str, Any]) -> None:
    by_place = dict(played(env(game, **rules), 3))
    assert len(by_place) >= 2
    assert sum(by_place.values()) == pytest.approx(0)
    assert max(by_place.values()) == 1
    points = dict(played(env(game, reward="points", **rules), 3))
    assert max(points, key=points.__getitem__) == max(by_place, key=by_place.__getitem__)
    assert min(points.values()) == 0


def test_an_illegal_action_ends_the_episode_or_is_an_error() -> None:
    raw, table = raw_env("tienlen"), env("tienlen")
    for made in (raw, table):
        made.reset(seed=1)
    illegal = int(np.flatnonzero(raw.observe(raw.agent_selection)["action_mask"] == 0)[0])
    with pytest.raises(ValueError, match="not a legal action"):
        raw.step(illegal)
    agent = table.agent_selection
    table.step(illegal)
    assert table.terminations[agent]
    assert table.rewards[agent] == -1


def test_only_the_agent_to_act_has_legal_actions() -> None:
    table = raw_env("speahx")
    table.reset(seed=1)
    for agent in table.agents:
        assert table.observe(agent)["action_mask"].any() == (agent == table.agent_selection)


def test_what_cannot_be_made_is_refused() -> None:
    with pytest.raises(
        UsageError, match="no environment of 'chess'; the games are speahx, tienlen"
    ):
        env("chess")
    with pytest.raises(ValueError, match="2, 3 or 4 players"):
        env("tienlen", players=7)


def block(language: str, sign: str) -> str:
    """The block of the page that holds some text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    [found] = [text for text in blocks if sign in text]
    return found


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page's example, after training."""
    folder = tmp_path_factory.mktemp("trained")
    learner = folder / "learner"
    learner.mkdir()
    (learner / "policy.py").write_text(block("python", "def best("))
    (learner / "bot.py").write_text(block("python", "def choose("))
    (learner / "bot.yaml").write_text(block("yaml", "name: learner"))
    shutil.copy(ROOT / "bots/random/tourney_bot.py", learner)
    (folder / "train.py").write_text(block("python", "EPISODES"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        runpy.run_path("train.py")
    return folder


def test_the_first_example_of_the_page_runs() -> None:
    exec(compile(block("python", "sample("), "example", "exec"), {})  # noqa: S102 - our own page


def test_a_trained_policy_beats_random_play(trained: Path) -> None:
    best = runpy.run_path(str(trained / "learner" / "policy.py"))["best"]
    weights = json.loads((trained / "learner" / "weights.json").read_text())
    table, random, total = raw_env("tienlen", players=2), Random(1), 0.0
    for seed in range(200):
        table.reset(seed=10_000 + seed)
        while not any(table.terminations.values()):
            agent = table.agent_selection
            seen = table.observe(agent)
            legal = [int(number) for number in np.flatnonzero(seen["action_mask"])]
            learned = agent == f"seat_{seed % 2}"
            table.step(
                best(weights, seen["observation"], legal) if learned else random.choice(legal)
            )
        total += table.rewards[f"seat_{seed % 2}"]
    assert total / 200 > 0.2


def test_a_policy_acts_as_a_bot_as_it_does_in_the_environment(trained: Path) -> None:
    """Through the whole program: the same cards and the same actions in both places."""
    config = {
        "game": "tienlen",
        "seed": 5,
        "rules": {"players": 2},
        "bots": [{"bot": "learner"}, {"bot": "learner", "name": "learner-2"}],
        "schedule": {"rounds": 4},
        "time": {"start": "30s", "move": "10s"},
    }
    (trained / "cup.yaml").write_text(json.dumps(config))
    out = trained / "results"
    done = CliRunner().invoke(app, ["run", str(trained / "cup.yaml"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    best = runpy.run_path(str(trained / "learner" / "policy.py"))["best"]
    weights = json.loads((trained / "learner" / "weights.json").read_text())
    compared = 0
    with closing(Store(out / FILE_NAME)) as store:
        settings, records = PlaySettings.of(store.about()), [*store.records()]
    table = raw_env("tienlen", players=2)
    for record in records:
        assert not record.faults
        round_number, match, _ = record.key
        seed = deal_seed(settings.seed_of(round_number), round_number, match, 0)
        table.reset(options={"deal": seed, "start": record.start})
        for step in steps(settings, record):
            agent = table.agent_selection
            seen = table.observe(agent)
            legal = [int(number) for number in np.flatnonzero(seen["action_mask"])]
            chosen = best(weights, seen["observation"].tolist(), legal)
            assert table.action_of(chosen) == step.action
            table.step(chosen)
            compared += 1
        assert all(table.terminations.values())
    assert compared > 60
