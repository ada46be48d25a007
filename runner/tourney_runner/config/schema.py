"""JSON Schemas of a tournament's file and of ``bot.yaml``, generated from the models."""

from __future__ import annotations

from re import escape
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from tourney_runner.config.models import BotManifest, ConfigFile
from tourney_runner.games import registry as games
from tourney_runner.schedule import registry as formats

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["bot_schema", "config_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLACE = "#/$defs/"


def bot_schema() -> dict[str, Any]:
    """Return the schema of a ``bot.yaml``."""
    return {"$schema": _DIALECT, **BotManifest.model_json_schema(mode="validation")}


def config_schema() -> dict[str, Any]:
    """Return the schema of a tournament's file, with the rules of all games and all formats.

    The schema of a ``bot.yaml`` is among its ``$defs``, as ``BotManifest``.

    Raises:
        UsageError: An installed game is broken.
    """
    rules = {name: game.options for name, game in games.loaded().games.items()}
    options = {name: formats.format_class(name).options for name in formats.names()}
    models: list[type[BaseModel]] = [ConfigFile, BotManifest, *rules.values(), *options.values()]
    references, schema = models_json_schema(
        [(model, "validation") for model in models], ref_template=f"{_PLACE}{{model}}"
    )
    definitions = schema["$defs"]
    root = definitions.pop("ConfigFile")
    root["properties"]["game"]["anyOf"] = [
        {"enum": list(rules)},
        *({"pattern": f"^{escape(family)}/."} for family in games.families()),
    ]
    schedules = {name: references[model, "validation"] for name, model in options.items()}
    for name, reference in schedules.items():
        definition = definitions[reference["$ref"].removeprefix(_PLACE)]
        definition["properties"] = {"format": {"const": name}, **definition["properties"]}
    root["properties"]["schedule"] |= _schedule(schedules)
    return {
        "$schema": _DIALECT,
        **root,
        "allOf": [
            _if("game", name, {"properties": {"rules": references[model, "validation"]}})
            for name, model in rules.items()
        ],
        "$defs": definitions,
    }


def _schedule(options: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of ``schedule:``.

    Args:
        options: By format, a reference to the schema of its options, the format's name included.
    """
    return {
        "properties": {
            "format": {
                "default": formats.DEFAULT,
                "description": "Who meets whom.",
                "enum": list(options),
            }
        },
        "allOf": [
            _if("format", name, reference, default=name == formats.DEFAULT)
            for name, reference in options.items()
        ],
    }


def _if(key: str, value: str, then: dict[str, Any], *, default: bool = False) -> dict[str, Any]:
    """Return a conditional schema for a value of a key.

    With it an editor reports the one problem; with a union it would report every alternative.

    Args:
        key: The key.
        value: Its value.
        then: The schema that applies then.
        default: Whether the value is the default of the key.
    """
    required = {} if default else {"required": [key]}
    return {"if": {"properties": {key: {"const": value}}, **required}, "then": then}
