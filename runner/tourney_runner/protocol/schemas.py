"""JSON Schemas of all messages, made from the types that read and write them."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.games import registry
from tourney_runner.protocol.messages import (
    VERSION,
    Deal,
    Hello,
    Move,
    Ready,
    Result,
    field_docs,
    structs_in,
)

if TYPE_CHECKING:
    from tourney_runner.games.base import Game

__all__ = ["protocol_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLACE = "#/$defs/"


def protocol_schema() -> dict[str, Any]:
    """Return the schemas of the protocol.

    Returns:
        One document that every line of the protocol is valid against. Its ``games`` hold for each
        game the names of the messages that either side sends (``to_bot``, ``from_bot``) and of
        the game's own parts (the ``view`` of a move, an ``event``, the ``answer``), all to be
        looked up in ``$defs``.
    """
    games = registry.loaded().games
    outer: list[type[msgspec.Struct]] = [Hello, Deal, Move, Result, Ready]
    outer += [part for game in games.values() for part in _parts(game)]
    names, definitions = _definitions(outer)
    move, result = (definitions.pop(names[message]) for message in (Move, Result))
    definitions.pop(names[msgspec.Struct])  # the view in general; each game has its own
    described = {}
    for name, game in games.items():
        view, event, answer = (names[part] for part in _parts(game))
        prefix = name.title()
        definitions[f"{prefix}Move"] = _with_parts(f"{prefix}Move", move, event, view)
        definitions[f"{prefix}Result"] = _with_parts(f"{prefix}Result", result, event)
        described[name] = {
            "to_bot": ["Hello", "Deal", f"{prefix}Move", f"{prefix}Result"],
            "from_bot": ["Ready", answer],
            "view": view,
            "event": event,
            "answer": answer,
        }
    lines = {line for one in described.values() for line in [*one["to_bot"], *one["from_bot"]]}
    return {
        "$schema": _DIALECT,
        "title": "The protocol between tourney and a bot, one JSON object a line",
        "version": VERSION,
        "anyOf": [_ref(line) for line in sorted(lines)],
        "games": described,
        "$defs": dict(sorted(definitions.items())),
    }


def _parts(game: Game[Any, Any]) -> tuple[type[msgspec.Struct], ...]:
    return game.observation, game.event, game.answer


def _definitions(
    outer: list[type[msgspec.Struct]],
) -> tuple[dict[type[msgspec.Struct], str], dict[str, Any]]:
    """Return the names and the schemas of all classes, including those inside others."""
    classes = list(dict.fromkeys(part for message in outer for part in structs_in(message)))
    references, definitions = msgspec.json.schema_components(
        classes, ref_template=f"{_PLACE}{{name}}"
    )
    names = {
        part: reference["$ref"].removeprefix(_PLACE)
        for part, reference in zip(classes, references, strict=True)
    }
    for part, name in names.items():
        if part is not msgspec.Struct:
            for field, text in field_docs(part).items():
                definitions[name]["properties"][field]["description"] = text
    return names, definitions


def _with_parts(
    title: str, general: dict[str, Any], event: str, view: str | None = None
) -> dict[str, Any]:
    """Return the schema of a message as one game sends it."""
    message = deepcopy(general)
    message["title"] = title
    message["properties"]["events"]["items"] = _ref(event)
    if view is not None:
        message["properties"]["legal"]["anyOf"][0]["items"] = {"type": "object"}
        message["properties"]["view"] |= _ref(view)
    return message


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"{_PLACE}{name}"}
