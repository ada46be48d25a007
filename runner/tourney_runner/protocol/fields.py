"""Descriptions of messages and their fields, read from the docstrings in the code.

The schemas and the documentation both use them, so that neither can drift from the types.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect as types

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["field_docs", "structs_in"]


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
