from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from bundled_table import BOTS, CONFIGS, NEEDS, ROOT, need_programs
from tourney_runner.config import load_config
from tourney_runner.kits import KITS

if TYPE_CHECKING:
    from pathlib import Path

    from bundled_table import Play

PYTHON, YAML = (
    re.findall(
        rf"```{language}\n(.*?)```",
        (ROOT / "docs" / "writing-a-bot.md").read_text() + (ROOT / "README.md").read_text(),
        re.DOTALL,
    )
    for language in ("python", "yaml")
)
"""The programs in the guide and in the README, in this order."""
BOTS_SHOWN = {"with json alone": 0, "with the helper": 1, "in the README": 2}
TOURNAMENTS_SHOWN = {"in the guide": 1, "in the README": 3}
HELPER = (BOTS / "random" / "tourney_bot.py").read_text()


def test_every_copy_of_the_helper_is_the_same() -> None:
    copies = list(BOTS.rglob("tourney_bot.py"))
    assert len(copies) >= 3
    assert {path.read_text() for path in copies} == {HELPER}


@pytest.mark.parametrize("game", ["tienlen", "speahx"])
@pytest.mark.parametrize("number", BOTS_SHOWN.values(), ids=BOTS_SHOWN)
def test_the_guides_bots_play(number: int, game: str, play: Play, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PYTHON[number])
    (tmp_path / "bot.yaml").write_text(YAML[0])
    (tmp_path / "tourney_bot.py").write_text(HELPER)
    records = play([str(tmp_path), "greedy"], {"game": game})
    assert [record.faults for record in records] == [()]


def test_the_guides_first_bot_has_ten_lines() -> None:
    assert len([line for line in PYTHON[0].splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("number", TOURNAMENTS_SHOWN.values(), ids=TOURNAMENTS_SHOWN)
def test_the_tournaments_shown_are_right(number: int, tmp_path: Path) -> None:
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot" / "bot.yaml").write_text(YAML[0])
    (tmp_path / "mybot" / "bot.py").write_text(PYTHON[0])
    config = tmp_path / "tournament.yaml"
    text = re.sub(r"(\.\./)?\bbots/", f"{BOTS}/", YAML[number])
    config.write_text(text.replace("../mybot", "mybot"))
    assert len(load_config(config).entrants) >= 3


@pytest.mark.parametrize("config", sorted(path.name for path in CONFIGS.glob("*.yaml")))
def test_shipped_configurations_are_right_and_trust_the_bundled_bots(config: str) -> None:
    if config == "polyglot.yaml":
        need_programs(*NEEDS)
    if config == "openspiel.yaml":
        pytest.importorskip("pyspiel")
    loaded = load_config(CONFIGS / config)
    assert all(entrant.trusted for entrant in loaded.entrants)


def test_the_polyglot_table_has_every_bundled_language() -> None:
    text = (CONFIGS / "polyglot.yaml").read_text("utf-8").replace("# - {bot", "- {bot")
    named = set(re.findall(r"(?m)^ *- \{bot: \.\./bots/([\w-]+),", text))
    assert named == {kit.folder for kit in KITS.values()} - {"random"} | {"greedy"}


AWKWARD_LINES = (
    '{"type":"unheard-of","id":3,"legal":[{"pass":true}]}',
    "",
    '{"type":"deal","seed":9007199254740985,"names":["Zo\\u00eb \u2028 \\\\","\\"move\\""]}',
    (
        '{"pad":{"legal":[1,[2]],"id":99,"s":"\\\\\\"]}"},"type":"move","id":900719925474,"time":{},'
        '"view":{"hand":[],"n":null,"f":-1.5e3,"t":true},"legal":[{"play":["3S"],"suit":"H"}]}'
    ),
    '{ "type" : "move" , "id" : 5 , "legal" : [ {"pass" : true} ] , "view" : "'
    + 500_000 * "long \\n"
    + '", "time" : { } }\r',
    '{"type":"result","places":[1,2],"points":[3,0],"events":[]}',
)


@pytest.mark.parametrize("bot", ["random", *NEEDS])
def test_bots_read_any_json_that_may_come(bot: str, play: Play) -> None:
    """Unknown messages and fields, escapes, blanks, a line of three megabytes, the end."""
    staged = play.staged(bot)
    hello = {"type": "hello", "protocol": 1, "game": "tienlen", "rules": {"a": '"}'}, "limits": {}}
    text = "\n".join([json.dumps(hello), *AWKWARD_LINES, ""])
    done = subprocess.run(
        staged.command, cwd=staged.folder, input=text.encode(), capture_output=True, check=True
    )
    ready, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready["type"] == "ready"
    assert answers == [
        {"id": 900719925474, "play": ["3S"], "suit": "H"},
        {"id": 5, "pass": True},
    ]
