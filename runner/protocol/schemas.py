"""JSON Schemas of all messages, made from the types that read and write them."""

from __future__ import annotations

from typing import Any

import msgspec

from runner.games import registry
from runner.protocol.messages import VERSION, Deal, Hello, Move, Ready, Result

__all__ = ["protocol_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def protocol_schema() -> dict[str, Any]:
    """The schemas of the protocol.

    Returns:
        One document: ``to_bot`` and ``from_bot`` hold the names of the messages either side
        sends, ``games`` the names of each game's own parts (the `view` of a move, an element of
        its `events`, the answer); all are looked up in ``$defs``.
    """
    games = {name: registry.game(name) for name in registry.names()}
    own = [part for game in games.values() for part in (game.observation, game.event, game.answer)]
    _, definitions = msgspec.json.schema_components(
        [Hello, Deal, Move, Result, Ready, *own], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": _DIALECT,
        "title": "The protocol between tourney and a bot, one JSON object a line",
        "version": VERSION,
        "to_bot": ["Hello", "Deal", "Move", "Result"],
        "from_bot": ["Ready", *(game.answer.__name__ for game in games.values())],
        "games": {
            name: {
                "view": game.observation.__name__,
                "event": game.event.__name__,
                "answer": game.answer.__name__,
            }
            for name, game in games.items()
        },
        "$defs": definitions,
    }
