"""Fills in what docs/protocol.md takes from the program: ``python docs/build.py``.

The tables of fields come from the types of the messages and the docstrings in them, the
transcripts from deals that are played here. What stands between a line ``<!-- made: WHAT -->`` and
the next ``<!-- end -->`` is replaced, all else is left alone.
"""  # noqa: INP001 - a script beside what it writes

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tourney_runner.config.models import RunConfig
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.bot import Bot
from tourney_runner.play.match import Tables
from tourney_runner.play.match_plan import MatchPlan
from tourney_runner.play.play_settings import MatchConfig, PlaySettings, TimeConfig
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.protocol.schemas import protocol_schema
from tourney_runner.run.tournament_setup import make_settings

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["build", "main"]

_PAGE = Path(__file__).with_name("protocol.md")
_MADE = re.compile(
    r"(?<=^<!-- made: )(\w+) (\w+)( -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL
)

_SHORT_DEALS: dict[str, tuple[str, dict[str, Any]]] = {
    "tienlen": ("642", {"players": 2}),
    "speahx": ("10924", {"players": 2}),
}
"""A master seed, found by trying some, whose first deal is short, and the rules, by game."""

_FROM_BOT = {"Ready", "TienlenAnswer", "SpeahxAnswer"}
_LEFT_OUT = ("*Left out where it is {}.*", "*{} if left out.*")
"""Phrases for a field with a default, in messages to a bot and from one."""

_GAMES_OWN = {
    ("Move", "view"): "the game's view",
    ("Move", "events"): "list of the game's events",
    ("Result", "events"): "list of the game's events",
}
"""The types of fields that differ from game to game."""

_BOT = """\
import json
import sys

log = open(sys.argv[1], "w")


def send(message):
    line = json.dumps(message)
    print("<", line, file=log, flush=True)
    print(line, flush=True)


for line in sys.stdin:
    print(">", line, end="", file=log, flush=True)
    message = json.loads(line)
    if message["type"] == "hello":
        send({"type": "ready", "name": "longest", "version": "1.0", "legal": "canonical"})
    elif message["type"] == "move":
        legal = message["legal"]
        best = max(legal, key=lambda answer: (len(answer.get("play", ())), "chance" in answer))
        send({"id": message["id"], **best, "debug": f"one of {len(legal)}"})
"""
"""Lays as many cards as it can, and writes down what is said."""


def transcript(game: str) -> str:
    """All that is said between the runner and one of two bots in one short deal."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bot.py").write_text(_BOT)
        seed, rules = _SHORT_DEALS[game]
        tables = _tables(_settings(game, rules, seed), folder)
        list(tables.play(MatchPlan(round=0, match=0, seating=(0, 1))))
        tables.pool.renew()
        said = (Path(folder) / "log-0").read_text()
    return f"```text\n{said}```\n"


def _settings(game: str, rules: dict[str, Any], seed: str) -> PlaySettings:
    config = RunConfig(time=TimeConfig(move_ms=10_000), strict=True, ponder=True)
    in_force = find_game(game).options.model_validate(rules).in_force()
    return make_settings(game, in_force, seed, MatchConfig(duplicate=0, deals=1), config)


def _tables(settings: PlaySettings, folder: str) -> Tables:
    command = (sys.executable, "-S", "-E", "bot.py")
    bots = [
        Bot(number=n, name=f"bot {n}", command=(*command, f"log-{n}"), folder=folder)
        for n in range(2)
    ]
    return Tables(settings, bots, PlainLauncher(), WallClock(), most_alive=2)


def fields(name: str) -> str:
    """The fields of a message or of an object in one, as a table."""
    definitions = protocol_schema()["$defs"]
    definition = definitions.get(name) or definitions[f"Tienlen{name}"]
    needed = definition["required"]
    rows = ["| field | type | meaning |", "| --- | --- | --- |"]
    for field, schema in definition["properties"].items():
        if field == "type":
            continue
        meaning = re.sub(r"``(.+?)``", r"`\1`", schema.get("description", "")).replace("|", "\\|")
        if field not in needed and not re.search("left out|absent", meaning):
            default = f"`{json.dumps(schema['default'])}`"
            meaning += f" {_LEFT_OUT[name in _FROM_BOT].format(default)}"
        kind = _GAMES_OWN.get((name, field)) or _type(schema)
        rows.append(f"| `{field}` | {kind} | {meaning.strip()} |")
    return "\n".join(rows) + "\n"


def _type(schema: dict[str, Any]) -> str:
    """The type of a field in words."""
    match schema:
        case {"$ref": reference}:
            return f"[{reference.rpartition('/')[2]}](#{reference.rpartition('/')[2].lower()})"
        case {"anyOf": options}:
            return " or ".join(map(_type, options))
        case {"enum": values}:
            return " or ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": kind}:
            return str(kind)
    return "object"


_MAKERS: dict[str, Callable[[str], str]] = {"fields": fields, "transcript": transcript}


def build(page: str) -> str:
    """Return a page with all its generated parts made again."""
    return _MADE.sub(lambda m: f"{m[1]} {m[2]}{m[3]}{_MAKERS[m[1]](m[2])}", page)


def main() -> None:
    """Bring the page up to date."""
    _PAGE.write_text(build(_PAGE.read_text()))


if __name__ == "__main__":
    main()
