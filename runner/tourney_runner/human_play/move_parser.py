"""Reading and writing a person's choices as words, derived from the game's answer type.

A field that is true or false is a word (``pass``). Lists of texts are cards. Numbers and texts are
typed as they are, and all other values as JSON. Fields can be named (``bid 3``). A value without a
name is read for every field that it fits, and the legal choices decide which one is meant. So games
that an installed package adds can be played as well.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import inspect as types

from tourney_runner.protocol.messages import field_docs
from tourney_runner.replay.terminal_view import SUITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tourney_runner.games.base import Answer

__all__ = ["Part", "Words", "WordsError"]

Kind = Literal["switch", "cards", "numbers", "number", "text", "json"]

_OWN = ("id", "debug")
"""Fields of every answer that are not choices."""
_LETTERS = {sign: letter for letter, sign in SUITS.items()} | dict(
    zip("♤♧♢♡❤", "SCDHH", strict=True)
)
_RANK_AND_SIGN = re.compile(rf"\b(10|[2-9TJQKA])\s+(?=[{''.join(_LETTERS)}])", re.IGNORECASE)
_VARIATION_SELECTORS = dict.fromkeys((0xFE0E, 0xFE0F))
"""Characters that some keyboards add to a sign: show it as text, or as a picture."""
_EXAMPLES: dict[Kind, str] = {
    "switch": "",
    "cards": " 3S 3C",
    "numbers": " 1 2",
    "number": " 3",
    "text": " word",
    "json": ' {"a": 1}',
}


class WordsError(Exception):
    """Words without a meaning here; the message gives the expected ones."""


@dataclass(frozen=True)
class Part:
    """One field of a choice, to be shown."""

    name: str
    cards: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Words:
    """The words of one game."""

    kinds: Mapping[str, Kind]
    """The kind of each field, by name."""
    meanings: Mapping[str, str]
    """The description of each field."""

    @classmethod
    def of(cls, answer: type[Answer]) -> Words:
        """Return the words of a game's answers."""
        kinds = {
            field.encode_name: _kind(types.type_info(field.type))
            for field in msgspec.structs.fields(answer)
            if field.encode_name not in _OWN
        }
        return cls(kinds, field_docs(answer))

    def readings(
        self, line: str, hand: Collection[str], legal: Collection[Mapping[str, Any]] = ()
    ) -> list[dict[str, Any]]:
        """Return the fields that a line may mean, the likeliest first; at least one.

        Args:
            line: A word or its beginning, values, or fields with their values.
            hand: The cards that the player has.
            legal: Legal choices. Readings with the same fields as one of them come first.

        Raises:
            WordsError: The line has no meaning.
        """
        if line.lstrip().startswith("{"):
            return [_object(line)]
        line = _RANK_AND_SIGN.sub(r"\1", line.translate(_VARIATION_SELECTORS))
        tokens = [token for token in re.split(r"[\s,]+", line) if token]
        if len(tokens) == 1 and (word := self._switch(tokens[0])):
            return [{word: True}]
        found = [
            *self._named(tokens),
            *self._cards(tokens, hand),
            *self._values(tokens),
            *self._bare_texts(tokens, hand, legal),
        ]
        if not found:
            raise WordsError(self._expected(tokens, hand))
        fitting = [{*choice} for choice in legal]
        return sorted(found, key=lambda fields: {*fields} not in fitting)

    def takes_numbers(self) -> bool:
        """Return whether a number alone can be an answer."""
        return any(kind in ("number", "numbers") for kind in self.kinds.values())

    def parts(self, fields: Mapping[str, Any]) -> list[Part]:
        """Return the fields of a choice in the order of the answer type."""
        return [
            _part(name, kind, fields[name])
            for name, kind in self.kinds.items()
            if fields.get(name) is not None and fields[name] is not False
        ]

    def usage(self, legal: Collection[Mapping[str, Any]]) -> list[tuple[str, str]]:
        """Return pairs for the help: the input and its effect.

        Args:
            legal: Legal choices. They show which texts can follow cards.
        """
        found = []
        for name, kind in self.kinds.items():
            if kind == "cards" and name == self._first("cards"):
                every = " or ".join(self._all("cards"))
                found.append(("3S 3C", f"{every} these cards (10H or TH is a ten, JK a joker)"))
                found += [
                    ("2H S", f"{name} a card that needs a {text}, with it")
                    for text in self._all("text")
                    if any({*choice} == {name, text} for choice in legal)
                ]
            elif kind == "switch":
                found.append((name, f"{self._meaning(name)} (the beginning of the word is enough)"))
            else:
                found.append((f"{name}{_EXAMPLES[kind]}", self._meaning(name)))
        return found

    def _meaning(self, name: str) -> str:
        meaning = self.meanings.get(name, f"{name}.").rstrip(".").replace("`", "")
        return f"{meaning[:1].lower()}{meaning[1:]}"

    def _all(self, kind: Kind) -> list[str]:
        return [name for name, has in self.kinds.items() if has == kind]

    def _first(self, kind: Kind) -> str | None:
        return next(iter(self._all(kind)), None)

    def _switch(self, token: str) -> str | None:
        found = [name for name in self._all("switch") if name.startswith(token.lower())]
        return found[0] if len(found) == 1 else None

    def _named(self, tokens: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the meaning of a line that begins with the name of a field."""
        if not tokens or tokens[0].lower() not in self.kinds:
            return
        values: dict[str, list[str]] = {}
        name = ""
        for token in tokens:
            if token.lower() in self.kinds:
                name = token.lower()
                values[name] = []
            else:
                values[name].append(token)
        readings = [
            [(field, value) for value in _read(self.kinds[field], words)]
            for field, words in values.items()
        ]
        if all(readings):
            likeliest = dict(one[0] for one in readings)
            for chosen in zip_longest(*readings):
                yield likeliest | dict(one for one in chosen if one is not None)

    def _cards(self, tokens: Sequence[str], hand: Collection[str]) -> Iterator[dict[str, Any]]:
        """Yield the meaning of cards, with a text behind them."""
        text = self._first("text")
        if not tokens:
            return
        cards: list[str] = []
        fields: dict[str, Any] = {}
        for token in tokens:
            card = _card(token)
            if _looks_like_card(card) or card in hand:
                cards.append(card)
            elif cards and token.lower() == text:
                continue
            elif cards and text and text not in fields:
                fields[text] = _LETTERS.get(token, token.upper())
            else:
                return
        for field in self._all("cards"):
            yield {field: cards, **fields}

    def _values(self, tokens: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the meanings of values without the names of their fields."""
        numbers = self._all("number")
        alone = [[name] for name in numbers] if len(tokens) == 1 else []
        for names in [numbers] if len(numbers) == len(tokens) else alone:
            read = [_read("number", [token]) for token in tokens]
            if all(read):
                yield {name: one[0] for name, one in zip(names, read, strict=True)}
        if read := _read("numbers", tokens):
            yield from ({name: read[0]} for name in self._all("numbers"))

    def _bare_texts(
        self, tokens: Sequence[str], hand: Collection[str], legal: Collection[Mapping[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """Yield the meanings of one word as a text.

        In a game with cards, other words must be legal choices, so that slips are named as such.
        """
        if len(tokens) != 1:
            return
        card = _card(tokens[0])
        free = not self._first("cards") or _looks_like_card(card) or card in hand
        for name in self._all("text"):
            for text in _texts(tokens[0]):
                if free or {name: text} in legal:
                    yield {name: text}

    def _expected(self, tokens: Sequence[str], hand: Collection[str]) -> str:
        others = self._all("switch")
        if self._first("cards"):
            known = (_card(token) for token in tokens)
            wrong = next(
                (
                    token
                    for token, card in zip(tokens, known, strict=True)
                    if not _looks_like_card(card) and card not in hand
                ),
                "",
            )
            words = ", ".join([*others, "hint", "help", "quit"])
            return f"{wrong[:20]!r} is not a card; type cards such as 3S 3C, or {words}"
        typed = [f"{name}{_EXAMPLES[kind]}" for name, kind in self.kinds.items()]
        words = ", ".join([*typed, "hint", "help"])
        return f"{' '.join(tokens)[:20]!r} has no meaning here; type {words} or quit"


def _kind(info: types.Type) -> Kind:
    """Return the kind of a field with this type."""
    if isinstance(info, types.UnionType):
        kinds = {_kind(one) for one in info.types if not isinstance(one, types.NoneType)}
        return kinds.pop() if len(kinds) == 1 else "json"
    if isinstance(info, types.BoolType):
        return "switch"
    if isinstance(info, types.IntType | types.FloatType):
        return "number"
    if isinstance(info, types.StrType):
        return "text"
    if isinstance(info, types.LiteralType):
        return "text" if all(isinstance(value, str) for value in info.values) else "number"
    items: set[Kind] = set()
    if isinstance(info, types.TupleType):
        items = {_kind(one) for one in info.item_types}
    elif isinstance(info, types.ListType | types.VarTupleType | types.SetType):
        items = {_kind(info.item_type)}
    return "cards" if items == {"text"} else "numbers" if items == {"number"} else "json"


def _read(kind: Kind, words: Sequence[str]) -> list[Any]:
    """Return the values that words may mean for a field, the likeliest first; none if wrong."""
    if kind == "switch":
        return [] if words else [True]
    if not words:
        return []
    if kind == "cards":
        return [[_card(word) for word in words], [*words]]
    return _texts(" ".join(words)) if kind == "text" else _json_values(kind, words)


def _texts(text: str) -> list[str]:
    """Return the texts that may be meant by one, such as the name of a card."""
    cards = [_card(text)] if _looks_like_card(_card(text)) else []
    return [*dict.fromkeys([*cards, text, _LETTERS.get(text, text.upper())])]


def _json_values(kind: Kind, words: Sequence[str]) -> list[Any]:
    """Return the number, the list of numbers or the JSON value that words mean."""
    try:
        if kind == "json":
            return [json.loads(" ".join(words))]
        numbers = [json.loads(word) for word in words]
    except ValueError:
        return []
    if not all(type(number) in (int, float) for number in numbers):
        return []
    return [numbers] if kind == "numbers" else numbers[:1] if len(numbers) == 1 else []


def _object(line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise WordsError(f"this is not JSON: {error}") from error
    return {name: value for name, value in fields.items() if name not in _OWN}


def _part(name: str, kind: Kind, value: Any) -> Part:
    if kind == "switch":
        return Part(name)
    if kind == "cards":
        return Part(name, tuple(value))
    if isinstance(value, str):
        return Part(name, (value,)) if _looks_like_card(value) else Part(name, text=value)
    if kind == "numbers":
        return Part(name, text=" ".join(map(str, value)))
    return Part(name, text=json.dumps(value))


def _card(token: str) -> str:
    """Return a card as in messages: ``TC`` for ``10♣``, ``10c``, ``♣10`` or ``tc``."""
    text = "".join(_LETTERS.get(sign, sign) for sign in token).upper()
    if text in ("JOKER", "JK"):
        return "JK"
    text = re.sub(r"^([SCDH])(10|[2-9TJQKA])$", r"\2\1", text)
    return re.sub(r"^10(?=.$)", "T", text)


def _looks_like_card(card: str) -> bool:
    return card == "JK" or re.fullmatch(r"[2-9TJQKA][SCDH]", card) is not None
