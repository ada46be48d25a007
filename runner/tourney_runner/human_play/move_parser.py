"""Reading and writing a person's choices as words, derived from the game's answer type.

A field that is true or false is a word (``pass``), a list of texts is the cards, and one more text
goes with them (a suit). So games that an installed package adds can be played as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.protocol.fields import field_docs
from tourney_runner.replay.terminal_view import SUITS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tourney_runner.games.base import Answer

__all__ = ["Words", "WordsError"]

_OWN = ("id", "debug")
"""Fields of every answer that are not choices."""
_LETTERS = {sign: letter for letter, sign in SUITS.items()}


class WordsError(Exception):
    """Words without a meaning here; the message gives the expected ones."""


@dataclass(frozen=True)
class Words:
    """The words of one game."""

    cards: str
    """The field that takes cards."""
    switches: tuple[str, ...]
    """Fields that are words."""
    text: str | None
    """The field that takes one more text."""
    meanings: dict[str, str]
    """The description of each field."""

    @classmethod
    def of(cls, answer: type[Answer]) -> Words:
        """Return the words of a game's answers."""
        lists, switches, texts = [], [], []
        for field in msgspec.structs.fields(answer):
            kind = msgspec.inspect.type_info(field.type)
            if field.encode_name in _OWN:
                continue
            if isinstance(kind, msgspec.inspect.BoolType):
                switches.append(field.encode_name)
            elif _is_text(kind):
                texts.append(field.encode_name)
            else:
                lists.append(field.encode_name)
        return cls(lists[0], tuple(switches), texts[0] if texts else None, field_docs(answer))

    def read(self, line: str, hand: Collection[str]) -> dict[str, Any]:
        """Return the fields of an answer.

        Args:
            line: Cards, or a word or its beginning.
            hand: The cards that the player has.

        Raises:
            WordsError: The line is neither.
        """
        tokens = [token for token in re.split(r"[\s,]+", line) if token]
        if len(tokens) == 1 and (word := self._switch(tokens[0])):
            return {word: True}
        cards: list[str] = []
        fields: dict[str, Any] = {}
        for token in tokens:
            card = _card(token)
            if _looks_like_card(card) or card in hand:
                cards.append(card)
            elif cards and token.lower() == self.text:
                continue
            elif cards and self.text and self.text not in fields:
                fields[self.text] = _LETTERS.get(token, token.upper())
            else:
                raise WordsError(self._expected(token))
        return {self.cards: cards, **fields}

    def say(self, fields: dict[str, Any]) -> tuple[str, Sequence[str], str]:
        """Return a choice in parts: the word, the cards, and the text that goes with them."""
        if self.cards not in fields:
            return next(word for word in self.switches if fields.get(word)), (), ""
        extra = f"{self.text} {fields[self.text]}" if self.text and self.text in fields else ""
        return self.cards, fields[self.cards], extra

    def usage(self) -> list[tuple[str, str]]:
        """Return pairs for the help: the input and its effect."""
        found = [("3S 3C", f"{self.cards} these cards (10H or TH is a ten, JK a joker)")]
        if self.text:
            found.append(("2H S", f"{self.cards} a card that needs a {self.text}, with it"))
        return [*found, *((word, self._use(word)) for word in self.switches)]

    def _use(self, word: str) -> str:
        meaning = self.meanings.get(word, f"{word}.").rstrip(".")
        return f"{meaning[:1].lower()}{meaning[1:]} (the beginning of the word is enough)"

    def _switch(self, token: str) -> str | None:
        found = [word for word in self.switches if word.startswith(token.lower())]
        return found[0] if len(found) == 1 else None

    def _expected(self, token: str) -> str:
        words = ", ".join(self.switches)
        return f"{token[:20]!r} is no card; type cards such as 3S 3C, or {words}, hint, help, quit"


def _is_text(kind: Any) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(isinstance(part, msgspec.inspect.StrType) for part in kind.types)
    return isinstance(kind, msgspec.inspect.StrType)


def _card(token: str) -> str:
    text = "".join(_LETTERS.get(sign, sign) for sign in token).upper()
    if text in ("JOKER", "JK"):
        return "JK"
    return re.sub(r"^10(?=.$)", "T", text)


def _looks_like_card(card: str) -> bool:
    return card == "JK" or re.fullmatch(r"[2-9TJQKA][SCDH]", card) is not None
