"""Every broken bot is given advice that names its cause, with the exact lines that passed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from broken_bots import BROKEN, Broken
from tourney_runner.botcheck.advice import advice
from tourney_runner.botcheck.check_settings import make_plan, protection
from tourney_runner.botcheck.rule_check import variants
from tourney_runner.botcheck.trial_table import Table, first_position
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.bot import Bot
from tourney_runner.play.faults import Fault
from tourney_runner.process.fair_clock import make_clock

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """\
import json, os, sys, time

def say(value):
    print(json.dumps(value, ensure_ascii=False), flush=True)

def answer(**fields):
    say(fields)

{first}
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        {ready}
    elif m["type"] == "move":
        lead = m["view"]["hand"][:1]
        {move}
"""


@pytest.fixture(scope="module")
def table() -> Table:
    game = find_game("tienlen")
    options = next(variants(game)).options
    settings = (
        make_plan()
        .settings_for("tienlen", options)
        .with_changes(start_ms=1500, move_ms=400, memory=256 << 20, output=1 << 16)
    )
    return Table(game, options, settings, protection().launcher, make_clock("fair"))


def fault_of(bot: Broken, table: Table, folder: Path) -> tuple[Fault, bytes]:
    """The fault of a broken bot's first start or answer, and the request."""
    folder.chmod(0o755)  # as a staged folder is, for root's bots run as another user
    folder.joinpath("bot.py").write_text(SOURCE.format(**bot._asdict()), encoding="utf-8")
    command = (sys.executable, "-S", "-E", "-X", "utf8", "bot.py")
    player = table.player(Bot(number=0, name="mine", command=command, folder=str(folder)))
    position = first_position(table)
    request = player.hello
    try:
        player.start()
        request = table.request(position, player.ready)
        table.ask(player, position, request)
    except Fault as fault:
        return fault, request
    finally:
        player.stop()
    raise AssertionError("the broken bot answered well")


def test_there_are_sixty_broken_bots() -> None:
    assert len(BROKEN) >= 60


@pytest.mark.parametrize("bot", BROKEN.values(), ids=BROKEN)
def test_the_advice_names_the_cause(bot: Broken, table: Table, tmp_path: Path) -> None:
    fault, _ = fault_of(bot, table, tmp_path)
    given = advice(fault.kind, fault.cause, fault.answer, fault.stderr, "tienlen")
    assert fault.kind == bot.kind, fault.cause
    assert bot.advice in given, (fault.cause, fault.answer, fault.stderr)
    assert "chance" not in given  # Tien Len has no chance cards


def test_an_answer_is_shown_with_the_fields_that_are_not_read(table: Table, tmp_path: Path) -> None:
    for move in ("move={'play': lead}", "play=lead * 2, note='mine'"):
        fault, _ = fault_of(Broken("", "", move=f"answer(id=m['id'], {move})"), table, tmp_path)
        assert set(json.loads(fault.answer)) >= {"id", move.partition("=")[0]}
        assert ("note" in json.loads(fault.answer)) == ("note" in move)
