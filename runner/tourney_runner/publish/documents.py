"""The ranking as a JSON document for programs, and the schemas of documents.

The schemas of ``tourney schema`` and the reference in the guides are made from these types.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from tourney_runner.protocol.messages import field_docs, structs_in
from tourney_runner.publish.summary import PublishedSeed
from tourney_runner.ratings.table import Adjacent, Anchor, RankBy, Standing

__all__ = ["TABLE_FORMAT", "StandingsDocument", "StandingsRow", "document_schema"]

TABLE_FORMAT = 1
"""The version of the form of tables and pages, which they carry. It grows when a column or a field
is renamed or removed, or gets another meaning; new ones leave it as it is."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLACE = "#/$defs/"


class StandingsRow(Standing, frozen=True, kw_only=True):
    """One row of ``standings.json``."""

    disqualified: str | UnsetType = UNSET
    """The reason, if it is disqualified. Its rank is the last one then, and its deals do not count.
    """
    withdrawn: str | UnsetType = UNSET
    """The reason, if it is withdrawn."""
    benched: str | UnsetType = UNSET
    """The reason, if it is benched."""


class StandingsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """``standings.json``: the same deals give the same bytes everywhere."""

    format_version: int
    """The version of the form of this document, 1 at present. It grows when a field is renamed or
    removed, or gets another meaning."""
    name: str
    """The tournament's name."""
    game: str
    """The name of the game."""
    seed: int | str | None
    """The seed of all cards; null while it is secret."""
    seed_sha256: str
    """The SHA-256 of the first seed."""
    sealed: bool
    """Whether the seed of the last rounds is secret."""
    later_seeds: tuple[PublishedSeed, ...] | UnsetType = UNSET
    """The seeds of rounds that were added after the tournament had been closed."""
    deals: int
    """The number of deals that count."""
    complete: bool
    """Whether all planned deals are played."""
    last_table: tuple[str, ...] | UnsetType = UNSET
    """For a knockout, whose last table is the result: its bots, the winner first; empty before it
    is played."""
    winners: tuple[str, ...] | UnsetType = UNSET
    """The bots that share the first place of the last table, if there are several."""
    rank_by: RankBy
    """Whether rows are ranked by ``mu`` (estimate) or by ``score``."""
    anchor: Anchor | UnsetType = UNSET
    """The bot whose ``mu`` is fixed, if there is one. ``mu``, ``score`` and ``interval`` are on its
    scale, and the intervals are those of the differences from it."""
    converged: bool
    """Whether the ratings had converged when the fit ended."""
    too_little_data: bool
    """Whether no bot has enough matches for claims."""
    too_close: tuple[Adjacent, ...]
    """Adjacent ranked bots that the deals do not separate."""
    notes: tuple[str, ...]
    """The lines below the table: the result, how certain it is, and the decisions."""
    entrants: tuple[StandingsRow, ...]
    """The rows by status and rank."""


def document_schema(document: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a document, with the docstrings of its fields."""
    classes = structs_in(document)
    references, definitions = msgspec.json.schema_components(
        classes, ref_template=f"{_PLACE}{{name}}"
    )
    for part, reference in zip(classes, references, strict=True):
        properties = definitions[reference["$ref"].removeprefix(_PLACE)]["properties"]
        for field, text in field_docs(part).items():
            properties[field]["description"] = text
    root = definitions.pop(document.__name__)
    return {"$schema": _DIALECT, **root, "$defs": definitions}
