"""The rules that an organiser may choose (R2-R4, R9-R12 and the options of S1-S38)."""

from __future__ import annotations

from math import ceil
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from tourney_runner.games.base import GameOptions

__all__ = ["HAND", "PRESETS", "SpeahxOptions"]

HAND = 5
"""Cards dealt to a player, and to which he draws (R14, R20)."""

PRESETS: dict[str, dict[str, Any]] = {
    "letter": {"follow_multi": "identical", "chance_scope": "game"},
    "author": {
        "lead_chain": "same_rank",
        "follow_multi": "same_rank",
        "refill": "each_turn",
        "table_cards": 5,
    },
}
"""Readings of the rules as a whole: each sets the defaults of a few options."""

_TURNS_PER_PLAYER = 250


def _is_number(value: Any) -> bool:
    # The comparison also keeps out nan and infinities.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


class SpeahxOptions(GameOptions):
    """The rules of Speahx; the defaults follow its text, and where that is unclear, its source."""

    model_config = ConfigDict(strict=True)

    preset: Literal["letter", "author"] | None = None
    """Other defaults: `letter` keeps to the letter of the text (several cards must be twins of
    the top card, three chance cards a game); `author` is the inventor's own game (chains of one
    rank, drawing up to five after every play, five table cards). Options that are given as well
    stand."""

    players: int = Field(default=4, ge=2, le=14)
    """Players at one table, 2 to 14 (R4)."""

    jokers: bool = False
    """Whether two jokers are added to each deck (R12)."""

    table_cards: Literal[0, 5] = 0
    """Face-down cards of each player, turned one by one when hand and reserve are empty (S38)."""

    decks: Literal["auto", 1, 2, 3] = "auto"
    """Decks of 52 cards; `auto`: 1 for 2-4 players, 2 for 5-9, 3 for 10-14 (R9-R11)."""

    lead_chain: Literal["first_suit_or_rank", "same_rank", "previous_suit_or_rank", "single"] = (
        "first_suit_or_rank"
    )
    """The property that each further card of a lead must share: suit or rank with the first card
    (R18), the rank, suit or rank with the card before it, or `single` for no further card (S6)."""

    follow_multi: Literal["same_rank", "identical", "first_suit_or_rank", "single"] = "same_rank"
    """The property that several cards laid on the pile must share: one rank; twins of the top card
    (the letter of R19); suit or rank with the first of them; or `single` for one card only (S9)."""

    refill: Literal["when_empty", "each_turn"] = "when_empty"
    """Whether a player draws up to five cards when the hand is empty (R20) or after each own
    play (S14)."""

    chance_max: int = Field(default=3, ge=0)
    """The number of chance cards that a player may draw (R23)."""

    chance_scope: Literal["turn", "game"] = "turn"
    """Whether `chance_max` counts for a turn or for a whole deal (S18)."""

    chance_commits: bool = True
    """Whether a player who drew a chance card must lay one or take the pile; if not, the drawn
    cards join the hand, and any of it may be played (S19)."""

    two_wild: bool = False
    """Whether a two goes on any card (S22)."""

    ten_wild: bool = False
    """Whether a ten goes on any card (S23)."""

    jack_wild: bool = True
    """Whether a jack goes on any card, as the joker whose place it takes; without effect when
    jokers are in the game (S29)."""

    quad_scope: Literal["top_run", "single_play", "anywhere", "off"] = "top_run"
    """The condition on which four cards of one rank are removed (R28): they lie on top of each
    other, are laid in one play, are anywhere in the pile, or never (S25)."""

    max_turns: int | None = Field(default=None, ge=1)
    """Plays and passes after which a deal is over and those still in are placed by the number of
    their cards; null: 250 for each player (S36)."""

    points: Literal["linear", "winner"] | tuple[float, ...] = "linear"
    """Points by place: `linear` (players minus place), `winner` (1 for the first, else 0), or a
    list with one number for each player, the first place first, such as `[5, 2, 1, 0]` (S37)."""

    @model_validator(mode="before")
    @classmethod
    def _spread_preset(cls, data: Any) -> Any:
        if isinstance(data, dict):
            preset = data.get("preset")
            if isinstance(preset, str) and preset in PRESETS:
                return {**PRESETS[preset], **data}
        return data

    @field_validator("table_cards", "decks", mode="before")
    @classmethod
    def _refuse_booleans(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError(f"expected a number, found {str(value).lower()}")  # noqa: TRY004 - pydantic collects ValueErrors
        return value

    @field_validator("decks")
    @classmethod
    def _check_decks(cls, value: Any, others: ValidationInfo) -> Any:
        given = others.data
        if value == "auto" or not {"players", "jokers", "table_cards"} <= given.keys():
            return value
        size = 54 if given["jokers"] else 52
        cards = HAND + given["table_cards"]
        least = ceil(cards * given["players"] / size)
        if value < least:
            raise ValueError(
                f"{value} of {size} cards cannot deal {cards} cards to each of "
                f"{given['players']} players; expected auto or at least {least}"
            )
        return value

    def points_chosen(self) -> tuple[float, ...]:
        """See `GameOptions.points_chosen`."""
        return () if isinstance(self.points, str) else self.points

    @field_validator("points", mode="before")
    @classmethod
    def _read_points(cls, value: Any, others: ValidationInfo) -> Any:
        if value in ("linear", "winner"):
            return value
        if not isinstance(value, list | tuple) or not all(map(_is_number, value)):
            raise ValueError("expected linear, winner, or a list of numbers, one for each player")
        players = others.data.get("players", len(value))
        if len(value) != players:
            raise ValueError(
                f"{len(value)} numbers for {players} players; expected one for each place, "
                "the first place first"
            )
        return tuple(map(float, value))

    def deck_count(self) -> int:
        """Return the number of decks in play (S1)."""
        if self.decks != "auto":
            return self.decks
        return 1 if self.players < 5 else 2 if self.players < 10 else 3

    def turn_cap(self) -> int:
        """Return the number of turns after which the deal is over (S36)."""
        return self.max_turns or _TURNS_PER_PLAYER * self.players

    def points_by_place(self) -> tuple[float, ...]:
        """Return the points by place, from first to last (S37)."""
        match self.points:
            case "linear":
                return tuple(float(self.players - place) for place in range(1, self.players + 1))
            case "winner":
                return (1.0, *(self.players - 1) * [0.0])
            case points:
                return points

    def in_force(self) -> dict[str, Any]:
        """Return all rules, with `auto`, null, names of point tables and the preset resolved."""
        return {
            **self.model_dump(exclude={"preset"}),
            "decks": self.deck_count(),
            "max_turns": self.turn_cap(),
            "points": list(self.points_by_place()),
        }
