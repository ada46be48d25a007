"""Real messages of real deals are valid against the published schema, and wrong ones are not."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from tourney_runner.protocol.schemas import protocol_schema

if TYPE_CHECKING:
    from real_table import RealTable

LOGGED = """
import random
chance = random.Random(1)
READY["legal"] = "all"
def on_move(m):
    said = {"id": m["id"], **chance.choice(m["legal"]), "debug": "hm"}
    log({"type": "answer", **said})
    send(said)
"""

CASES: list[tuple[str, dict[str, Any]]] = [
    ("tienlen", {}),
    ("tienlen", {"instant_wins": ["six_pairs", "four_twos"], "instant_win_others": "play_on"}),
    ("speahx", {"max_turns": 50}),
    ("speahx", {"max_turns": 50, "jokers": True, "table_cards": 5, "preset": "author"}),
    ("speahx", {"max_turns": 50, "decks": 3, "chance_commits": False, "preset": "letter"}),
]


@cache
def validator(name: str | None = None) -> Draft202012Validator:
    """Return a validator for any line, or for the objects of one name."""
    schema = protocol_schema()
    Draft202012Validator.check_schema(schema)
    if name is not None:
        schema = {"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}
    return Draft202012Validator(schema)


def name_of(game: str, message: dict[str, Any]) -> str:
    kind = message["type"].title()
    return f"{game.title()}{kind}" if kind in {"Move", "Result", "Answer"} else kind


@pytest.mark.parametrize(("game", "rules"), CASES)
def test_every_message_of_a_match_is_valid(
    table: RealTable, game: str, rules: dict[str, Any]
) -> None:
    for _ in range(3):
        table.seat(LOGGED, logging=True)
    table.seat("def on_move(m): sys.exit(1)")
    table.play(game, rules={"players": 4, **rules}, deals=1, reveal_names=True)
    table.close(politely=True)
    kinds = set()
    for _, message in table.log(0):
        kinds.add(message["type"])
        name = name_of(game, message)
        validator(name).validate(message)
        validator(name).validate({**message, "field of a later version": [1]})
        validator().validate(message)
        if "view" in message:
            games = protocol_schema()["games"][game]
            validator(games["view"]).validate({**message["view"], "new": None})
            for event in message["events"]:
                validator(games["event"]).validate({**event, "new": None})
    assert kinds == {"hello", "deal", "move", "answer", "result"}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Ready", {"type": "ready", "legal": "some"}),
        ("Ready", {"name": "no type"}),
        ("TienlenAnswer", {"pass": True}),
        ("TienlenAnswer", {"id": "17", "pass": True}),
        ("TienlenAnswer", {"id": 17, "play": "3S"}),
        ("SpeahxAnswer", {"id": 17, "suit": 1}),
        ("Deal", {"type": "deal", "seat": 0}),
        ("TienlenMove", {"type": "move", "id": 1, "view": {}, "events": [], "time": {}}),
        ("SpeahxMove", {"type": "result"}),
    ],
)
def test_a_wrong_message_is_not_valid(name: str, wrong: dict[str, Any]) -> None:
    assert not validator(name).is_valid(wrong)


def test_every_field_is_described() -> None:
    for name, definition in protocol_schema()["$defs"].items():
        for field, schema in definition["properties"].items():
            assert field == "type" or schema["description"], f"{name}.{field}"


def test_the_schema_lists_the_messages_of_every_game() -> None:
    schema = protocol_schema()
    for game in schema["games"].values():
        for name in [*game["to_bot"], *game["from_bot"], game["view"], game["event"]]:
            assert name in schema["$defs"]
