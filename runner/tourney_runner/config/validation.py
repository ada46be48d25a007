"""Validation of a part of a document with a model, and error messages in the user's terms.

Values go through pydantic's strict JSON mode: no text becomes a number, no ``true`` becomes 1.
Some values are corrected first, because YAML cannot tell them apart: a field of text that got a
number or a truth value is given what was written, a field of a truth value takes ``yes``,
``no``, ``on`` and ``off``, and a section with nothing in it is an empty mapping.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from tourney_runner.text import escaped, listed, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic_core import ErrorDetails

    from tourney_runner.config.yaml_document import Document

__all__ = ["NOWHERE", "Mark", "Path", "Problem", "Problems", "dotted", "read"]


ModelT = TypeVar("ModelT", bound=BaseModel)

_LONGEST_MESSAGE = 500
_SWITCHES = {"yes": True, "on": True, "no": False, "off": False}
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping (key: value)",
    "enum": "{expected}",
    "finite_number": "a finite number",
    "float_type": "a number",
    "frozen_set_type": "a list",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": "a mapping (key: value)",
    "none_required": "nothing",
    "set_type": "a list",
    "string_pattern_mismatch": "text like {pattern}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "string_type": "text",
    "too_long": "at most {max_length} items",
    "too_short": "at least {min_length} items",
    "tuple_type": "a list",
}
"""The expectation behind each kind of pydantic error; others have a validator's own message."""


def read(  # noqa: PLR0913 - the value, its model, and likely mistakes
    model: type[ModelT],
    document: Document,
    path: Path,
    *,
    skip: frozenset[str] = frozenset(),
    known: Iterable[str] = (),
    hints: Mapping[str, str] | None = None,
) -> ModelT | None:
    """Return the value at a path as a model, or None after reporting its problems.

    Args:
        model: The expected model.
        document: Gets the problems; corrected scalars are changed in it.
        path: The place; a missing or empty value counts as an empty mapping.
        skip: Keys that are read elsewhere.
        known: Keys to offer beside the model's own when an unknown one is found.
        hints: Messages for particular unknown keys.
    """
    while True:
        data = document.get(path)
        if data is None:
            data = {}
        elif isinstance(data, dict):
            data = {key: value for key, value in data.items() if key not in skip}
        try:
            return model.model_validate_json(
                json.dumps(data), strict=True, by_alias=True, by_name=False
            )
        except ValidationError as error:
            details = error.errors(include_url=False)
        corrected = [_correct(document, path, detail) for detail in details]
        if not any(corrected):
            break
    _note_keys(model, document, path, details, known=known, hints=hints or {})
    for group in _by_field(model, document, path, details).values():
        _add(document, group)
    return None


def _note_keys(  # noqa: PLR0913 - the arguments of `read`
    model: type[BaseModel],
    document: Document,
    path: Path,
    details: list[ErrorDetails],
    *,
    known: Iterable[str],
    hints: Mapping[str, str],
) -> None:
    """Report unknown and missing keys."""
    for detail in details:
        loc = detail["loc"]
        if detail["type"] == "extra_forbidden":
            owner = _model_at(model, loc[:-1])
            names = [*(known if owner is model else ()), *_names(owner)]
            message = hints.get(str(loc[-1])) or _unknown(str(loc[-1]), names)
            document.add((*path, *loc), message, key=True)
        elif detail["type"] == "missing":
            at = (*_located(document, path, loc[:-1]), loc[-1])
            document.add(at, "this key is missing")


def _correct(document: Document, path: Path, detail: ErrorDetails) -> bool:
    """Replace a scalar that YAML read as another type; return whether one was replaced."""
    at = _located(document, path, detail["loc"])
    text = document.texts.get(at)
    value = document.get(at)
    if value is None and detail["type"] in ("model_type", "dict_type"):
        document.put(at, {})
        return True
    if text is None or value is None:
        return False
    if detail["type"] == "string_type" and not isinstance(value, str):
        document.put(at, text)
        return True
    if detail["type"] == "bool_type" and text.lower() in _SWITCHES and isinstance(value, str):
        document.put(at, _SWITCHES[text.lower()])
        return True
    return False


def _located(document: Document, path: Path, loc: tuple[int | str, ...]) -> Path:
    """Return the document path of an error, whose location may also name union members."""
    value = document.get(path)
    for part in loc:
        inside = (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        )
        if inside:
            path = (*path, part)
            value = value[part]
    return path


def _by_field(
    model: type[BaseModel], document: Document, path: Path, details: list[ErrorDetails]
) -> dict[Path, list[tuple[Path, ErrorDetails]]]:
    """Return errors with their places, by field; a union gives one error for each member.

    A model's own check can blame a field: its error's type is then the field's name.
    """
    fields: dict[Path, list[tuple[Path, ErrorDetails]]] = {}
    for detail in details:
        if detail["type"] not in ("extra_forbidden", "missing"):
            loc = detail["loc"]
            known = next(
                (
                    length
                    for length in range(len(loc))
                    if len(_located(document, path, loc[: length + 1])) <= len(path) + length
                ),
                len(loc),
            )
            place = _located(document, path, loc)
            if detail["type"] in model.model_fields and place == path:
                place = (*place, detail["type"])
            fields.setdefault((*path, *loc[:known]), []).append((place, detail))
    return fields


def _add(document: Document, group: list[tuple[Path, ErrorDetails]]) -> None:
    """Report the errors of one field, as far as they lie deepest in its value."""
    furthest = max(len(place) for place, _ in group)
    places = dict.fromkeys(place for place, _ in group if len(place) == furthest)
    for place in places:
        details = [detail for at, detail in group if at == place]
        document.add(place, _message(document, place, details))


def _message(document: Document, place: Path, details: list[ErrorDetails]) -> str:
    for detail in details:
        if detail["type"] not in _EXPECTED:
            own = detail.get("ctx", {}).get("error", detail["msg"])
            return escaped(str(own), _LONGEST_MESSAGE)
    value = document.get(place)
    wanted: list[str] = []
    choices: list[str] = []
    for detail in details:
        context = detail.get("ctx", {})
        bounds = {name: _number(value) for name, value in context.items()}
        wanted.append(_EXPECTED[detail["type"]].format(**bounds))
        choices += re.findall(r"'([^']*)'", str(context.get("expected", "")))
    expected = " or ".join(dict.fromkeys(wanted)).replace("'", "")
    hint = nearest(value, choices) if isinstance(value, str) else ""
    if isinstance(value, str) and not hint and any("number" in want for want in wanted):
        hint = _number_hint(value, plain=place in document.texts)
    text = document.texts.get(place)
    plain = text is not None and value is not None and not isinstance(value, str)
    found = escaped(str(text)) if plain else shown(value)
    return f"found {found}, expected {expected}{hint}"


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number_hint(text: str, *, plain: bool) -> str:
    """Return how to write a text that looks like a number but is not one."""
    bare = text.replace("_", "")
    digits = bare.lstrip("+-").lstrip("0") or "0"
    if not re.fullmatch(r"[-+]?[0-9]+", bare):
        return ""
    if not plain:
        return "; take the quotes away"
    return f"; write {'-' if bare.startswith('-') else ''}{digits}"


def _unknown(key: str, names: list[str]) -> str:
    return f"unknown key, expected {listed(names)}{nearest(key, names)}"


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel]:
    """Return the model at the location of an error."""
    for part in loc:
        for name, field in model.model_fields.items():
            if part in (name, field.alias):
                model = next(_models(field.annotation), model)
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType) or get_args(annotation):
        for part in get_args(annotation):
            yield from _models(part)


Path = tuple[str | int, ...]
"""The way to a value: keys of mappings and indices of lists."""


class Mark(NamedTuple):
    """A position in a file, both numbers from 1."""

    line: int
    column: int


NOWHERE = Mark(0, 0)
"""The position of a value that is not from a file."""


@dataclass(frozen=True)
class Problem:
    """One problem and its place."""

    file: str
    """The file, or whatever else the user named."""
    mark: Mark
    path: Path
    message: str

    def __str__(self) -> str:
        """Return the line for the user."""
        file = escaped(self.file, 500)
        if self.mark == NOWHERE:
            return f"{file}: {self.message}"
        place = f"{file}:{self.mark.line}:{self.mark.column}"
        return ": ".join(filter(None, (place, dotted(self.path), self.message)))


class Problems:
    """A collection of problems; duplicates are kept once.

    Args:
        file: The file whose problems come first.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[str, Problem] = {}

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self._found.setdefault(str(problem), problem)

    def extend(self, others: Problems) -> None:
        """Add the problems of another collection."""
        for problem in others._found.values():
            self.add(problem)

    def __len__(self) -> int:
        return len(self._found)

    def lines(self) -> list[str]:
        """Return all problems, by file in order of appearance, then by position."""
        files = [self._file, *dict.fromkeys(problem.file for problem in self._found.values())]
        return sorted(
            self._found,
            key=lambda line: (files.index(self._found[line].file), self._found[line].mark),
        )


def dotted(path: Path) -> str:
    """Return a path as messages write it: ``bots[2].name``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{escaped(part)}" if text else escaped(part)
    return text
