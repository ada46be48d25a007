"""The player of a person: it shows the events and the table, and asks for moves."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from tourney_runner.games.base import IllegalActionError, MalformedAnswerError, seen_by
from tourney_runner.human_play.move_parser import Words, WordsError
from tourney_runner.human_play.play_setup import rulebook
from tourney_runner.play.in_process_players import LocalPlayer
from tourney_runner.replay.terminal_view import Artist, cards_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tourney_runner.games.base import Game, GameOptions
    from tourney_runner.play.bot import Bot
    from tourney_runner.play.player import PlayerSetup

__all__ = ["Leaving", "Person", "agreed"]

_HINTS = 60
"""The number of legal plays that are listed."""
_FIELD_AT_END = re.compile(r"^Expected (.*) - at `\$\.(\w+).*`$")
"""A message of msgspec about a field."""


class Leaving(Exception):  # noqa: N818 - a request, not an error
    """The person asked to leave."""


def typed_line(console: Console, prompt: str) -> str:
    """Return the line that a person types at a prompt, without blanks around it.

    Raises:
        Leaving: The input is at its end.
    """
    try:
        return console.input(Text(prompt, style="bold")).strip()
    except EOFError as error:
        console.print()  # the prompt's line is still open
        raise Leaving from error


def agreed(console: Console, prompt: str, *, default: bool = False) -> bool:
    """Ask until the answer is yes or no, and return whether it is yes.

    Args:
        console: The terminal.
        prompt: The question.
        default: Whether an empty line means yes, and q means no.

    Raises:
        Leaving: The input is at its end.
    """
    yes, no = {"y", "yes"}, {"n", "no"}
    if default:
        yes.add("")
        no |= {"q", "quit"}
    while True:
        word = typed_line(console, prompt).lower()
        if word in yes | no:
            return word in yes
        console.print("type y for yes or n for no")


class Person(LocalPlayer):
    """A person at the terminal.

    Args:
        bot: The person's entry as a player.
        setup: The setup that all players at the table share.
        game: The game.
        console: The terminal.
        options: The rules at this table.
        names: The players by seat.
        seat: The person's own seat.
    """

    def __init__(  # noqa: PLR0913 - a place at a table has this many parts
        self,
        bot: Bot,
        setup: PlayerSetup,
        game: Game[Any, Any],
        console: Console,
        *,
        options: GameOptions,
        names: Sequence[str],
        seat: int,
    ) -> None:
        super().__init__(bot, setup, game)
        self._console = console
        self._options = options
        self._names = names
        self._seat = seat
        self._signs = console.encoding.startswith("utf")
        self._artist = Artist(names, seat, signs=self._signs)
        self._words = Words.of(game.answer)
        self._hints: list[dict[str, Any]] = []
        self._legal: list[dict[str, Any]] = []
        self._is_complete = True

    def tell(self, message: bytes) -> None:
        """Show a new deal or the result; see `Player.tell`."""
        said = json.loads(message)
        if said["type"] == "deal":
            self._console.rule(Text("a new deal"))
        elif said["type"] == "result":
            self._happened(said["events"])
            self._result(said["places"], said["points"])

    def choose(self, request: bytes) -> dict[str, Any]:
        """See `LocalPlayer.choose`.

        Raises:
            Leaving: The person gives up the deal.
        """
        self._happened(json.loads(request)["events"])
        self._hints = []
        listed = self.state.legal_actions("canonical")
        self._legal = [*map(self.state.write, listed.actions)]
        self._is_complete = listed.complete
        self._look()
        while True:
            fields = self._typed(self._input("your turn> "))
            if fields is not None and self._confirmed(fields):
                return fields

    # Output

    def _happened(self, events: Sequence[Any]) -> None:
        for event in events:
            line = self.state.describe(msgspec.convert(event, self.game.event))
            self._console.print(Text("  ").append_text(self._artist.line(line)))

    def _look(self) -> None:
        self._console.print()
        self._console.print(self._artist.draw(self.state.scene()))

    def _result(self, places: Sequence[int], points: Sequence[float]) -> None:
        self._console.print(Text("the deal is over", style="bold"))
        for seat in sorted(range(len(places)), key=lambda seat: places[seat]):
            style = "bold" if seat == self._seat else ""
            line = f"  {places[seat]}. {self._names[seat]}, points: {points[seat]:g}"
            self._console.print(Text(line, style=style))

    def _choice_text(self, fields: dict[str, Any]) -> Text:
        parts = self._words.parts(fields)
        if not any(part.cards or part.text for part in parts):
            return Text(f"{parts[0].name}: ").append_text(self._meaning(fields))
        shown = []
        for part in parts:
            text = Text(f"{part.name} ").append_text(cards_text(part.cards, signs=self._signs))
            shown.append(text.append(part.text))
        return Text(", ").join(shown)

    def _meaning(self, fields: dict[str, Any]) -> Text:
        """Return the effect of a choice without cards as the others will see it, from a copy."""
        trial = deepcopy(self.state)
        action = trial.read(msgspec.convert({"id": 0, **fields}, self.game.answer))
        event = trial.apply_action(action)
        own = None if event is None else seen_by(event, self._seat)
        return self._artist.line(trial.log(self._seat, own))

    # Input

    def _input(self, prompt: str) -> str:
        return typed_line(self._console, prompt)

    def _typed(self, line: str) -> dict[str, Any] | None:
        """Return a legal choice, or None after handling another command."""
        word = line.lower()
        if word in ("", "look", "l"):
            self._look()
        elif word in ("help", "?"):
            self._help()
        elif word in ("hint", "h"):
            self._hint()
        elif word == "rules":
            self._console.print(Markdown(rulebook(self.game, self._options)))
        elif word in ("quit", "q"):
            self._leave()
        elif word in ("undo", "u"):
            self._console.print("nothing is chosen yet; what was sent stays")
        else:
            return self._chosen(line)
        return None

    def _chosen(self, line: str) -> dict[str, Any] | None:
        why = ""
        try:
            chosen = self._numbered(line)
            readings = (
                self._words.readings(line, self.state.hand(self._seat), self._legal)
                if chosen is None
                else [chosen]
            )
        except WordsError as error:
            why, readings = str(error), []
        for fields in readings:
            try:
                self.state.read(msgspec.convert({"id": 0, **fields}, self.game.answer))
            except (IllegalActionError, MalformedAnswerError) as error:
                why = why or str(error)
            except msgspec.ValidationError as error:
                why = why or _FIELD_AT_END.sub(r"\2: expected \1", str(error))
            else:
                return fields
        self._console.print(Text("no: ", style="yellow").append_text(self._artist.line(why)))
        return None

    def _numbered(self, line: str) -> dict[str, Any] | None:
        """Return the entry of the list that was chosen, or None if the line is something else."""
        number = line.removeprefix("#")
        if not number.isdecimal() or (number == line and self._words.takes_numbers()):
            return None
        if not 1 <= int(number) <= len(self._hints):
            raise WordsError("type hint first, then the number of one of its plays")
        return self._hints[int(number) - 1]

    def _confirmed(self, fields: dict[str, Any]) -> bool:
        """Ask whether to send a choice; until then it can be taken back."""
        while True:
            self._console.print(Text("you choose: ").append_text(self._choice_text(fields)))
            word = self._input("Enter sends it, u takes it back> ").lower()
            if word in ("", "y", "send"):
                return True
            if word in ("u", "undo", "n"):
                self._console.print("taken back")
                return False
            if word in ("quit", "q"):
                self._leave()
            else:  # help, or a word without a meaning here
                self._console.print("Enter sends it to the table, u lets you choose again")

    def _leave(self) -> None:
        """Ask the person to confirm leaving."""
        if agreed(self._console, "give up this deal, which will not be kept? (y/n)> "):
            raise Leaving

    def _hint(self) -> None:
        self._hints = self._legal[:_HINTS]
        how = "# and its number, or what it says" if self._words.takes_numbers() else (
            "its number, or the cards"
        )  # fmt: skip
        self._console.print(f"you may (type {how}):")
        for number, fields in enumerate(self._hints, 1):
            self._console.print(Text(f"{number:4} ").append_text(self._choice_text(fields)))
        if len(self._legal) > _HINTS or not self._is_complete:
            self._console.print("     and more")

    def _help(self) -> None:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for typed, does in (
            *self._words.usage(self._legal),
            ("hint", "list what you may do"),
            ("#2" if self._words.takes_numbers() else "a number", "choose from that list"),
            ("undo", "take a choice back before it is sent"),
            ("Enter", "look at the table again"),
            ("rules", "the rules of this game, as they are at this table"),
            ("quit", "leave"),
        ):
            table.add_row(Text(typed, style="bold"), Text(does))
        self._console.print(Text(f"{self.game.title}. {self.game.summary}"))
        self._console.print(table)
        suits = ", ".join(
            f"{cards_text([f'3{letter}'], signs=self._signs)} is 3{letter}" for letter in "SCDH"
        )
        self._console.print(Text(f"cards: {suits}"))
