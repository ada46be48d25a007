"""The JSON Schema of a tournament's file, for editors; it is made from the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from runner.config.written import BotManifest, ConfigFile
from runner.games import registry as games

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["config_schema"]


def config_schema() -> dict[str, Any]:
    """The schema of a tournament's file, with the rules of each game.

    The schema of a ``bot.yaml`` is among its ``$defs``, as ``BotManifest``.

    Raises:
        UsageError: An installed game is broken.
    """
    options = {name: games.game(name).options for name in games.names()}
    models: list[type[BaseModel]] = [ConfigFile, BotManifest, *options.values()]
    references, schema = models_json_schema([(model, "validation") for model in models])
    definitions = schema["$defs"]
    root = definitions.pop("ConfigFile")
    root["properties"]["game"]["enum"] = list(options)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **root,
        "allOf": [
            {
                "if": {"properties": {"game": {"const": name}}, "required": ["game"]},
                "then": {"properties": {"rules": references[model, "validation"]}},
            }
            for name, model in options.items()
        ],
        "$defs": definitions,
    }
