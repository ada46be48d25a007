"""``tourney schema``: JSON Schemas of the protocol, the configuration and ``bot.yaml``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = ["schema"]


class What(StrEnum):
    """The subject of a schema."""

    protocol = "protocol"
    config = "config"
    bot = "bot"


def schema(
    what: Annotated[
        What,
        typer.Argument(
            metavar="protocol|config|bot",
            help="The messages of bots, the configuration of a tournament, or bot.yaml.",
        ),
    ],
) -> None:
    """Print a JSON Schema, for authors and editors."""
    import json

    from tourney_runner.cli.terminal import write_exactly

    if what is What.protocol:
        from tourney_runner.protocol.schemas import protocol_schema

        document = protocol_schema()
    elif what is What.bot:
        from tourney_runner.config.schema import bot_schema

        document = bot_schema()
    else:
        from tourney_runner.config import config_schema

        document = config_schema()
    write_exactly(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
