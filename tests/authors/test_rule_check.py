"""The constructed deals of `tourney check` against bots with right and with wrong rules."""

from __future__ import annotations

import json
from functools import cache
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from own_rules import STYLES, SpeahxBot, TienlenBot
from tourney_runner.botcheck.check_settings import make_plan
from tourney_runner.botcheck.recording_player import Exchange
from tourney_runner.botcheck.rule_check import RuleCoverage, play_series, rule_series, variants
from tourney_runner.botcheck.trial_table import Table
from tourney_runner.games.base import IllegalActionError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.bot import Bot
from tourney_runner.play.in_process_players import LocalPlayer
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher

if TYPE_CHECKING:
    from tourney_runner.botcheck.rule_check import RuleSeries

WRONG = {
    "tienlen": (
        "2s in sequences", "2s in double sequences", "round the corner", "full houses",
        "two pairs", "suits in another order", "equal ranks beat each other",
        "no lowest card first", "passes with high cards", "longer sequences beat shorter",
        "a 2 beats everything", "four of a kind on two 2s", "three pairs on two 2s",
        "four pairs on three 2s", "bombs on everything", "four of a kind beats three pairs",
        "bombs always lead", "gaps in sequences", "a rank twice in a sequence",
        "triple sequences", "four of a kind with a single", "flushes", "suits before ranks",
        "2s are the lowest cards", "compares the lowest cards", "more of a kind",
        "shorter sequences beat longer", "southern bombs", "longer double sequences",
        "overlooks ties", "passes when it leads", "plays what it has laid",
    ),
    "speahx": (
        "calls no suit", "calls a suit with jacks", "the printed suit of a 2", "several of a suit",
        "leads by the card before", "takes an empty pile", "hand cards after drawing",
        "two cards after drawing", "draws a fourth card", "draws although it fits",
        "goes on after a ten", "tens are wild", "2s are wild", "more after a free card",
        "jacks wild beside jokers", "jokers anywhere", "7s fit on 8s", "fits by colour",
        "the bottom of the pile", "lays what does not fit once drawn", "two free cards",
        "a free card after a ten", "leads whatever it likes", "turns table cards early",
        "both suits of a 2", "calls a suit with jokers", "overlooks the chances of a deal",
        "draws from an empty reserve",
        "overlooks the rules for several cards", "plays what it has laid",
    ),
}  # fmt: skip
BOTS = {"tienlen": TienlenBot, "speahx": SpeahxBot}


class InProcess(LocalPlayer):
    """A bot of `own_rules` that gets real messages, without a process."""

    def __init__(self, bot: Any, table: Table) -> None:
        super().__init__(Bot(name="mine", number=0), table.setup(), table.game)
        self._mine = bot
        self.exchanges: list[Exchange] = []
        bot.tell({"type": "hello", "rules": table.settings.rules})

    def tell(self, message: bytes) -> None:
        self._mine.tell(json.loads(message))

    def choose(self, request: bytes) -> dict[str, Any]:
        answer = self._mine.tell(json.loads(request))
        self.exchanges.append(Exchange(request, json.dumps(answer).encode(), monotonic_ns()))
        return {key: value for key, value in answer.items() if key != "id"}


@cache
def series_of(name: str) -> list[RuleSeries]:
    game = find_game(name)
    return list(rule_series(game.rule_probes(), game, [*variants(game)], listed=False))


def broken(name: str, style: str, wrong: str = "") -> tuple[list[str], RuleCoverage]:
    """The rules that a bot breaks, at most one, and what it met until then."""
    game, coverage = find_game(name), RuleCoverage()
    for series in series_of(name):
        options = series.variant.options
        settings = make_plan().settings_for(game.name, options)
        table = Table(game, options, settings, PlainLauncher(), WallClock())
        bot: Any = InProcess(BOTS[name](style, wrong), table)
        for _, record in play_series(series, table, bot, game.rule_probes(), coverage):
            causes = [fault.cause for fault in record.faults if fault.entrant == 0]
            if causes:
                return causes, coverage
    return [], coverage


LONG = (
    "two cards after drawing", "jacks wild beside jokers", "jokers anywhere",
    "calls a suit with jokers", "7s fit on 8s",
)  # fmt: skip
"""The wrong rules that are found late. Each has another of its kind that is found early."""


def some(style: str) -> Any:
    """A parameter; one stateful style is enough, and the others are for long test runs."""
    return pytest.param(style, marks=() if style == "counting" else pytest.mark.slow)


@pytest.mark.parametrize("style", [some(style) for style in STYLES])
@pytest.mark.parametrize("name", BOTS)
def test_right_bots_pass_whatever_their_style(name: str, style: str) -> None:
    causes, coverage = broken(name, style)
    assert causes == []
    assert len(coverage.reached) >= 0.9 * len(coverage.points)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        pytest.param(name, wrong, marks=[pytest.mark.slow] if wrong in LONG else [])
        for name, rules in WRONG.items()
        for wrong in rules
    ],
)
def test_a_wrong_rule_is_found(name: str, wrong: str) -> None:
    causes, _ = broken(name, "chance", wrong)
    assert len(causes) == 1


def test_play_that_is_too_narrow_is_told_apart_from_wrong_play() -> None:
    causes, coverage = broken("speahx", "lowest")  # it never lays more than one card
    assert (causes, coverage.never_used()) == ([], ["laying several cards"])


@pytest.mark.parametrize("name", BOTS)
def test_a_probe_tempts_with_what_the_rules_refuse(name: str) -> None:
    game = find_game(name)
    for series in series_of(name):
        for probe in series.probes[:40]:
            state = probe.deal.reach()
            assert state.current_player == probe.deal.seat
            answer = msgspec.convert({"id": 1, **probe.wrong}, game.answer)
            with pytest.raises(IllegalActionError) as refused:
                state.read(answer)
            assert probe.point.startswith(f"{refused.value.rule}: ")
