"""Types of fields with their own notation: names, seeds, commands, addresses."""

from __future__ import annotations

import re
import shlex
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from tourney_runner.errors import UsageError
from tourney_runner.text import nearest, shown, unprintable

__all__ = [
    "Command",
    "Commands",
    "Environment",
    "Line",
    "Name",
    "OptionalLine",
    "OptionalName",
    "Seed",
    "WebAddress",
    "checked_name",
    "checked_seed",
    "folded",
]

_LONGEST_NAME = 64
_LONGEST_LINE = 200


def _one_line(text: str, longest: int) -> str:
    """Return a text in composed Unicode, without outer, doubled or unusual spaces."""
    composed = unicodedata.normalize("NFC", text).strip()
    hidden = unprintable(composed)
    if hidden:
        raise ValueError(
            f"found {shown(text)} with the hidden character U+{ord(hidden):04X}, expected one "
            "line of visible characters"
        )
    if not composed:
        raise ValueError(f"found {shown(text)}, expected at least one visible character")
    if len(composed) > longest:
        raise ValueError(
            f"found {shown(text)} of {len(composed)} characters, expected at most {longest}"
        )
    return " ".join(composed.split())


_LINE_SCHEMA = WithJsonSchema({"type": "string", "pattern": r"\S"})
"""The schema cannot bound the length, which is that of the composed and stripped text."""
Name = Annotated[str, AfterValidator(lambda text: _one_line(text, _LONGEST_NAME)), _LINE_SCHEMA]
"""A bot's name."""


Line = Annotated[str, AfterValidator(lambda text: _one_line(text, _LONGEST_LINE)), _LINE_SCHEMA]
"""One line of free text."""


def _web_address(text: str) -> str:
    """Return the address of a folder on the web, with a slash at its end."""
    address = _one_line(text, _LONGEST_LINE)
    if not re.fullmatch(r"https?://[^\s/\"'<>?#]+(?:/[^\s\"'<>?#]*)?", address):
        raise ValueError(
            f"found {shown(text)}, expected an address such as https://example.org/cup/"
        )
    return f"{address.rstrip('/')}/"


WebAddress = Annotated[
    str,
    AfterValidator(_web_address),
    WithJsonSchema({"type": "string", "pattern": "^https?://"}),
]
"""The address of a folder on the web."""


def _not_null(value: Any) -> Any:
    if value is None:
        raise ValueError(
            "found nothing, expected a name: leave the key out for the usual one, or put null in"
            " quotes if that is the name"
        )
    return value


OptionalName = Annotated[Name | None, BeforeValidator(_not_null)]
"""A bot's name that may be left out, but not written as ``null``."""
OptionalLine = Annotated[Line | None, BeforeValidator(_not_null)]
"""The same for a tournament's name."""


def checked_name(name: str, about: str) -> str:
    """Check a bot's or a person's name that is not from a file, by the rules of `Name`.

    Args:
        name: As given.
        about: The start of the error message, such as the name of the option.

    Raises:
        UsageError: The name is not allowed.
    """
    try:
        return _one_line(name, _LONGEST_NAME)
    except ValueError as error:
        raise UsageError(f"{about}: {error}") from error


Seed = int | Literal["secret"]
"""The source of all cards. Other text is refused: a slip such as ``secert`` must not become a
seed that is public."""


def checked_seed(text: str, about: str) -> Seed:
    """Return a seed that was given on the command line.

    Args:
        text: As given.
        about: The option, for the message.

    Raises:
        UsageError: It is neither a whole number nor ``secret``.
    """
    if re.fullmatch(r"-?[0-9]{1,100}", text):
        return int(text)
    if text == "secret":
        return "secret"
    raise UsageError(
        f"{about}: found {shown(text)}, expected a whole number or secret"
        f"{nearest(text, ['secret'])}"
    )


def folded(name: str) -> str:
    """Return a name without differences of case and of Unicode normalisation."""
    return unicodedata.normalize("NFC", name.casefold())


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        reason = str(error).lower()
        raise ValueError(f"found {shown(line)}, which a shell could not split: {reason}") from None


def _words(value: Any) -> Any:
    """Return the words of one command; YAML reads ``{python}`` without quotes as a mapping."""
    if isinstance(value, str):
        value = _split(value)
    if not isinstance(value, list | tuple):
        raise ValueError(f"found {shown(value)}, expected a list of words, or one line of text")  # noqa: TRY004 - pydantic gathers only ValueError
    if not value or value[0] == "":
        raise ValueError("the command is empty, expected a program and its arguments")
    return tuple("{python}" if word == {"python": None} else word for word in value)


def _lines(value: Any) -> Any:
    """Return commands that are written in any of the forms that `Commands` lists."""
    if isinstance(value, str):
        return tuple(line for line in value.splitlines() if line.strip())
    if isinstance(value, list) and not any(isinstance(item, list) for item in value):
        spaced = [isinstance(item, str) and " " in item.strip() for item in value]
        if any(spaced) and not all(spaced):
            raise ValueError(
                "it is not clear whether this is one command or several: write each command as "
                "a list of words, [[make, clean], [make]], or each on one line of a text"
            )
        return tuple(value) if all(spaced) else (value,)
    if not isinstance(value, list):
        raise ValueError(f"found {shown(value)}, expected commands, or a line for each")  # noqa: TRY004 - pydantic gathers only ValueError
    return tuple(value)


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"found {shown(text)}, which no program can be given: it holds U+0000")
    return text


_WORDS_SCHEMA = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
    ]
}
_Word = Annotated[str, AfterValidator(_no_nul)]
_Words = Annotated[tuple[_Word, ...], BeforeValidator(_words)]
Command = Annotated[_Words, WithJsonSchema(_WORDS_SCHEMA)]
"""A program and its arguments: a list of words, or one line that is split like in a shell."""
Commands = Annotated[
    tuple[_Words, ...],
    BeforeValidator(_lines),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": _WORDS_SCHEMA}]}),
]
"""Several commands: a text with one on each line, a list of lists of words, a list of lines (all
with spaces), or one list of words, which is one command."""


_VARIABLE = "[A-Za-z_][A-Za-z0-9_]{0,199}"


def _variables(value: dict[str, str]) -> dict[str, str]:
    for name in value:
        if not re.fullmatch(_VARIABLE, name):
            raise ValueError(f"found {shown(name)}, expected the name of a variable such as LEVEL")
    return value


Environment = Annotated[
    dict[str, _Word],
    AfterValidator(_variables),
    WithJsonSchema(
        {
            "type": "object",
            "propertyNames": {"pattern": f"^{_VARIABLE}$"},
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        }
    ),
]
"""Environment variables; a number or a truth value is taken as text."""
