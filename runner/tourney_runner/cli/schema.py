"""``tourney schema``: JSON Schemas of the protocol, the files and the results."""

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
    standings = "standings"
    site = "site"


def schema(
    what: Annotated[
        What,
        typer.Argument(
            metavar="protocol|config|bot|standings|site",
            help="The messages of bots, the configuration of a tournament, bot.yaml, the ranking"
            " (standings.json) or all that a site shows (tournament.json).",
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
    elif what is What.config:
        from tourney_runner.config import config_schema

        document = config_schema()
    else:
        from tourney_runner.publish.documents import StandingsDocument, document_schema
        from tourney_runner.publish.site_document import SiteDocument

        kind = StandingsDocument if what is What.standings else SiteDocument
        document = document_schema(kind)
    write_exactly(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
