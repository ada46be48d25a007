"""The rules that an organiser may choose."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    PlainValidator,
    StrictInt,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError

from tourney_runner.games.base import GameOptions
from tourney_runner.games.tienlen.cards import InstantWinKind  # noqa: TC001 - pydantic evaluates it

__all__ = ["TienlenOptions"]

_MOST_POINTS = 1_000_000


def _number(value: Any) -> float:
    """Keep whole numbers whole, where a float field would turn 3 into 3.0."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not abs(value) <= _MOST_POINTS  # so put, it refuses NaN too
    ):
        raise PydanticCustomError(
            "points",
            "the points of a place are a number such as 3 or 0.5, at most {most}",
            {"most": _MOST_POINTS},
        )
    return value


Points = Annotated[float, PlainValidator(_number), WithJsonSchema({"type": "number"})]


class TienlenOptions(GameOptions):
    """The options of Tien Len; the defaults are the rules as the source texts have them."""

    players: StrictInt = Field(default=4, json_schema_extra={"minimum": 2, "maximum": 4})
    """Players at one table, 2 to 4. Each is dealt 13 cards; what is left lies face down (T40)."""

    decks: Literal["auto", 1] = "auto"
    """Packs of cards. Tien Len has one."""

    equal_rank_sets: Literal["suit", "tie"] = "suit"
    """A pair on a pair of the same rank: `suit` lets the higher suit win, `tie` lets neither beat
    the other (T9)."""

    double_sequence_answer: Literal["same_length", "longer_wins"] = "same_length"
    """`longer_wins`: a double sequence also beats any shorter one (T12)."""

    bomb_hierarchy: Literal["none", "southern"] = "none"
    """`southern`: 3 pairs < four of a kind < 4 pairs < 5 pairs and so on, whatever the ranks
    (T13). What beats 2s stays as it is."""

    quad_beats_pair_of_twos: bool = Field(default=False, strict=True)
    """Whether four of a kind may be laid on a pair of 2s (T14)."""

    bombs_may_lead: bool = Field(default=True, strict=True)
    """Whether four of a kind and double sequences may be laid on an empty table (T11)."""

    instant_wins: tuple[InstantWinKind, ...] = ("four_twos", "run_3_to_A")
    """The hands that win as soon as they are dealt: any of `four_twos`, `run_3_to_A`,
    `five_pair_run`, `three_triple_run`, `six_pairs` (T34, T34a)."""

    instant_win_others: Literal["zero", "play_on"] = "zero"
    """After an instant win: `zero` ends the deal and the others share the last places without
    points, `play_on` lets them play for the other places (T38)."""

    points: tuple[Points, ...] | None = None
    """Points by place, the first place first: a list with one number for each player, such as
    `[5, 2, 1, 0]`. The default is 3, 2, 1, 0 for four players, 3, 2, 0 for three and 3, 0 for two
    (T41)."""

    @field_validator("players")
    @classmethod
    def _seats(cls, players: int) -> int:
        if not 2 <= players <= 4:
            raise PydanticCustomError(
                "players", "Tien Len is for 2, 3 or 4 players, not {players}", {"players": players}
            )
        return players

    @field_validator("instant_wins")
    @classmethod
    def _each_once(cls, wins: tuple[str, ...]) -> tuple[str, ...]:
        for win in wins:
            if wins.count(win) > 1:
                raise PydanticCustomError("instant_wins", "{win} is named twice", {"win": win})
        return wins

    @field_validator("points")
    @classmethod
    def _points_for_all(
        cls, points: tuple[float, ...] | None, info: ValidationInfo
    ) -> tuple[float, ...] | None:
        players = info.data.get("players")  # absent when it was refused itself
        if points is not None and players is not None and len(points) != players:
            raise PydanticCustomError(
                "points",
                "points has {given} numbers, but there are {players} places to give them for",
                {"players": players, "given": len(points)},
            )
        return points

    def points_chosen(self) -> tuple[float, ...]:
        """See `GameOptions.points_chosen`."""
        return self.points or ()

    def points_by_place(self) -> tuple[float, ...]:
        """Return the points by place, from first to last, with the default resolved (T41)."""
        if self.points is not None:
            return self.points
        return (*(3, 2, 1)[: self.players - 1], 0)

    def in_force(self) -> dict[str, Any]:
        """Return all rules, with `decks` and `points` resolved."""
        return {
            **self.model_dump(mode="json"),
            "decks": 1,
            "points": list(self.points_by_place()),
        }
