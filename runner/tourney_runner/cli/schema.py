"""``tourney schema``: JSON Schemas of the protocol and the configuration."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = ["schema"]


class What(StrEnum):
    """The subject of a schema."""

    protocol = "protocol"
    config = "config"


def schema(
    what: Annotated[
        What,
        typer.Argument(
            metavar="protocol|config", help="The messages of bots, or the configuration."
        ),
    ],
) -> None:
    """Print a JSON Schema, for authors and editors."""
    import json

    from tourney_runner.cli.terminal import write_exactly

    if what is What.protocol:
        from tourney_runner.protocol.schemas import protocol_schema

        document = protocol_schema()
    else:
        from tourney_runner.config import config_schema

        document = config_schema()
    write_exactly(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
