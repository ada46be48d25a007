"""The messages between the runner and a bot, and their descriptions: JSON objects, one a line.

The runner writes `Hello`, `Deal`, `Move` and `Result`; a bot writes one `Ready` and then one
`games.base.Answer` for each `Move`. Fields may be added within a protocol version. Both sides
ignore fields that they do not know, and bots ignore message types that they do not know.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import inspect as types

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "VERSION",
    "Deal",
    "Hello",
    "Limits",
    "Move",
    "MoveTime",
    "Ready",
    "Result",
    "field_docs",
    "structs_in",
]


VERSION = 1


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """The limits of a bot. Times are in milliseconds."""

    start: int
    """The time from the start of the process to ``ready``."""
    move: int
    """The time for one answer."""
    bank: int
    """Extra time for a whole deal, used by moves that take longer than `move`."""
    output: int
    """Bytes of stdout for one move."""
    deal_output: int
    """Bytes of stdout for all moves of a deal."""
    memory: int | None = None
    """Bytes of memory for the process and its children; left out if there is no limit."""


class Hello(msgspec.Struct, frozen=True, tag_field="type", tag="hello", omit_defaults=True):
    """The first message to a process, to be answered by a `Ready`."""

    protocol: int
    """The version of the protocol, 1; fields may be added without changing it."""
    game: str
    """The name of the game, such as ``tienlen`` or ``speahx``."""
    rules: dict[str, Any]
    """All rules in force, defaults included."""
    limits: Limits
    """The bot's limits."""


class Deal(msgspec.Struct, frozen=True, tag_field="type", tag="deal", omit_defaults=True):
    """A new deal. It needs no answer."""

    seat: int
    """The bot's own seat, from 0. The next seat clockwise is seat + 1."""
    players: int
    """The number of players at the table."""
    hand: tuple[str, ...]
    """The bot's own cards."""
    leader: int | None
    """The seat that acts first; null if the deal is decided before anybody acts."""
    seed: int
    """A seed for the bot's own randomness, below 2**53. It is independent of the cards."""
    names: tuple[str, ...] | None = None
    """The bots' names by seat, only with ``reveal_names``."""


class MoveTime(msgspec.Struct, frozen=True):
    """The clock of one move, in milliseconds."""

    move: int
    """The time for this answer."""
    bank: int
    """The rest of the deal's extra time."""


# No reference leads back to a move or an answer, so the garbage collector need not look at them.
class Move(msgspec.Struct, frozen=True, tag_field="type", tag="move", omit_defaults=True, gc=False):
    """A request for an action, to be answered with the same id."""

    id: int
    """The number of the request, which no other request of the same deal has."""
    view: msgspec.Struct
    """The game's observation: everything needed to answer without memory."""
    events: list[msgspec.Raw]
    """The game's events since this bot's last turn, oldest first."""
    time: MoveTime
    """The clock of this move."""
    legal: list[msgspec.Raw] | None = None
    """The legal answers without their id, if the bot asked for them in `Ready`."""
    legal_complete: bool = True
    """False if legal answers are left out of the list."""
    legal_reason: str | None = None
    """The reason in words; left out if the list is complete."""


class Result(msgspec.Struct, frozen=True, tag_field="type", tag="result", omit_defaults=True):
    """The end of a deal. It needs no answer."""

    places: tuple[int, ...]
    """Places by seat, from 1. Tied seats share the best place."""
    points: tuple[float, ...]
    """Points by seat."""
    events: list[msgspec.Raw]
    """The game's events since this bot's last turn."""


class Ready(msgspec.Struct, frozen=True, tag_field="type", tag="ready", omit_defaults=True):
    """The bot's reply to `Hello`."""

    name: str = ""
    """The bot's name for itself; free text."""
    version: str = ""
    """The bot's version; free text."""
    legal: Literal["none", "canonical", "all"] = "none"
    """The list of legal answers that each `Move` should have."""


def structs_in(message: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """Return a message and all objects inside it, each once, from the outside in."""
    found: dict[type[msgspec.Struct], None] = {}
    queue: list[types.Type] = [types.type_info(message)]
    for info in queue:
        if isinstance(info, types.StructType):
            if info.cls in found:
                continue
            found[info.cls] = None
        queue.extend(_inside(info))
    return list(found)


def _inside(info: types.Type) -> Iterator[types.Type]:
    match info:
        case types.StructType(fields=fields):
            yield from (field.type for field in fields)
        case types.UnionType(types=options):
            yield from options
        case types.ListType(item_type=item) | types.VarTupleType(item_type=item):
            yield item


@cache
def field_docs(message: type[msgspec.Struct]) -> dict[str, str]:
    """Return the docstring of each field that has one, on one line, by the field's encoded name."""
    written = {field.name: field.encode_name for field in msgspec.structs.fields(message)}
    docs: dict[str, str] = {}
    for base in reversed(message.__mro__):
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
            docs |= _docs_of(base)
    return {written[name]: text for name, text in docs.items() if name in written}


def _docs_of(one_class: type[Any]) -> dict[str, str]:
    """Return the text below each annotated name in the body of a class."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one_class))).body
    docs = {}
    for field, below in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                docs[name] = " ".join(text.split())
    return docs
