"""Replay of a stored deal through the code that played it, to recover the messages to one bot.

The players repeat the stored answers, so every message is the same as then, except for the clock.
The player in the seat of interest records the messages, or passes them to another bot, whose
answers are compared and dropped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from tourney_runner.botcheck.recording_player import RecordingPlayer
from tourney_runner.games.base import IllegalActionError, MalformedAnswerError
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.bot import Bot
from tourney_runner.play.deal import DealInPlay
from tourney_runner.play.faults import Fault
from tourney_runner.play.in_process_players import LocalPlayer
from tourney_runner.play.match import dealt, player_setup
from tourney_runner.play.seeds import bot_seed
from tourney_runner.process.fair_clock import make_clock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.protocol.lines import quoted
from tourney_runner.results.tournament_record import OwnTime
from tourney_runner.text import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tourney_runner.games.base import Answer, Game, State
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.play.player import Player, PlayerSetup
    from tourney_runner.process.launcher import Launcher
    from tourney_runner.results.records import DealRecord

__all__ = [
    "Asked",
    "Compared",
    "Differences",
    "LegalMode",
    "Stored",
    "compare",
    "lines_of_seat",
    "listen",
    "summary_line",
]


LegalMode = Literal["none", "canonical", "all"]

_NEVER = 10**9
"""A number of faults that decides, under any settings, how the next fault is treated."""


class Stored(NamedTuple):
    """A deal of a results file."""

    settings: PlaySettings
    record: DealRecord
    names: tuple[str, ...]
    """The players by seat."""


class Asked(NamedTuple):
    """Messages to a bot up to one request."""

    move: int
    """The number of moves before; for the end of the deal, all of them."""
    messages: tuple[bytes, ...]
    """Lines; the last one is the request, unless the deal is over."""
    stored: dict[str, Any] | None
    """The stored answer; None if the bot failed."""


class Compared(NamedTuple):
    """The comparison for one request that was sent to another bot."""

    move: int
    request: bytes
    stored: dict[str, Any] | None
    """The stored answer; None if the bot of that deal failed."""
    failed: str
    """The stored cause of that failure; empty if it did not fail."""
    given: dict[str, Any] | None
    """The answer of this bot, if it was an action."""
    fault: str
    """The cause of its fault; empty if it gave an action."""
    received: str = ""
    """Its stdout after a fault."""
    stderr: str = ""
    """Its stderr after a fault."""

    @property
    def same(self) -> bool:
        """True if both answers mean the same."""
        return self.stored is not None and self.stored == self.given


class _Tape:
    """The stored moves of a deal, with the position of the replay."""

    def __init__(self, stored: Stored) -> None:
        self.game: Game[Any, Any] = find_game(stored.settings.game)
        self.state: State[Any] = dealt(stored.settings, stored.record.key, stored.record.start)
        self.faults = [0] * self.state.players
        self._codes = stored.record.moves.split()
        # A fault without a request: the bot could not be started, or was left out of the deal.
        self._absent = {fault.seat for fault in stored.record.faults if not fault.request}
        self._causes = {
            (fault.seat, fault.move): f"{fault.kind}: {fault.cause}"
            for fault in stored.record.faults
        }
        self.at = 0

    def fails_first(self, seat: int) -> bool:
        """Return whether this seat leaves the deal next, before it is asked."""
        follows = self._codes[self.at : self.at + 1]
        return seat in self._absent and follows == [f"!{seat}"]

    def cause(self, seat: int, move: int) -> str:
        """Return the cause of a seat's fault after `move` moves."""
        return self._causes[seat, move]

    def action(self) -> Any:
        """Return the stored action of the player to move.

        Raises:
            Fault: The stored player failed there.
        """
        code = self._codes[self.at]
        self.at += 1
        if code[0] in "!?":
            seat = int(code[1:]) if code[0] == "!" else self.state.current_player
            self.fail(seat, forfeits=code[0] == "!")
        return self.game.decode(code)

    def fail(self, seat: int, *, forfeits: bool) -> None:
        """Raise a fault that the deal treats as it did then.

        Raises:
            Fault: Always.
        """
        self.faults[seat] = _NEVER if forfeits else -_NEVER
        raise Fault("crash", "as stored")


class _StoredPlayer(LocalPlayer):
    """A player that repeats the stored answers and records its messages."""

    def __init__(self, bot: Bot, setup: PlayerSetup, tape: _Tape, seat: int) -> None:
        super().__init__(bot, setup, tape.game)
        self.asked: list[Asked] = []
        self._tape = tape
        self._seat = seat
        self.running = False
        self._told: list[bytes] = []

    def start(self) -> None:
        """See `Player.start`."""
        if self._tape.fails_first(self._seat):
            self._tape.at += 1
            self._tape.fail(self._seat, forfeits=True)
        self.running = True

    def tell(self, message: bytes) -> None:
        """See `Player.tell`."""
        self._told.append(message)

    def choose(self, request: bytes) -> dict[str, Any]:
        """See `LocalPlayer.choose`."""
        move = self._tape.at
        messages = (*self._told, request)
        self._told.clear()
        try:
            answer = self._tape.state.write(self._tape.action())
        except Fault:
            self.asked.append(Asked(move, messages, None))
            self.running = False
            raise
        self.asked.append(Asked(move, messages, answer))
        return answer

    def rest(self) -> Asked:
        """Return the messages after the last turn; none if a fault took it out of the deal."""
        return Asked(self._tape.at, tuple(self._told), None)


class _FedPlayer(RecordingPlayer):
    """A player that asks a real bot, and then repeats the stored answer."""

    def __init__(self, bot: Bot, setup: PlayerSetup, tape: _Tape, seat: int) -> None:
        super().__init__(bot, setup)
        self.compared: list[Compared] = []
        self._tape = tape
        self._seat = seat
        self._greeting = b""

    def start(self) -> None:
        """See `Player.start`; the process is already running."""
        self.running = True  # so that the deal calls it, whatever its process does
        if self._tape.fails_first(self._seat):
            self._tape.at += 1
            self._tape.fail(self._seat, forfeits=True)

    def new_deal(self, message: bytes) -> None:
        """See `Player.new_deal`."""
        self._greeting = message
        super().new_deal(message)

    def ask(self, request: bytes, request_id: int, limit: int) -> tuple[Answer, int]:
        """See `Player.ask`."""
        move = self._tape.at
        given, fault = self._put(request, request_id, limit)
        why = "" if fault is None else f"{fault.kind}: {fault.cause}"
        told = ("", "") if fault is None else (fault.answer, fault.stderr)
        self.running = True
        try:
            stored = self._tape.state.write(self._tape.action())
        except Fault:
            failed = self._tape.cause(self._seat, move)
            self.compared.append(Compared(move, request, None, failed, given, why, *told))
            self.running = False
            raise
        self.compared.append(Compared(move, request, stored, "", given, why, *told))
        return msgspec.convert({"id": request_id, **stored}, self._tape.game.answer), 0

    def _put(
        self, request: bytes, request_id: int, limit: int
    ) -> tuple[dict[str, Any] | None, Fault | None]:
        """Return the bot's own answer, or its fault."""
        state = self._tape.state
        try:
            if self._channel is None:  # it failed before and is restarted
                super().start()
                self.new_deal(self._greeting)
            answer, _ = super().ask(request, request_id, limit)
            return state.write(state.read(answer)), None
        except Fault as fault:
            return None, fault
        except MalformedAnswerError as error:
            return None, Fault("malformed", str(error), answer=quoted(self.line))
        except IllegalActionError as error:
            return None, Fault("illegal", str(error), answer=quoted(self.line))


def listen(stored: Stored, seat: int, legal: LegalMode = "none") -> list[Asked]:
    """Return everything that the bot in a seat was sent after `hello`.

    Args:
        stored: The deal.
        seat: The bot's seat.
        legal: The lists of legal plays in the requests. The store does not keep which of them the
            bot had asked for.

    Raises:
        ValueError: The record is not a deal of these rules.
    """
    return _listen(stored, seat, legal, _setup(stored, PlainLauncher(), seat))


def _listen(stored: Stored, seat: int, legal: LegalMode, setup: PlayerSetup) -> list[Asked]:
    tape = _Tape(stored)
    ear = _StoredPlayer(Bot(name=stored.names[seat], number=seat), setup, tape, seat)
    ear.lists = None if legal == "none" else legal
    _play(stored, tape, setup, seat, ear)
    return [*ear.asked, ear.rest()]


def lines_of_seat(stored: Stored, seat: int, legal: LegalMode) -> bytes:
    """Return the input of the bot in a seat, from `hello` to `result`, one message a line.

    Arguments and errors are those of `listen`. The times in the requests are those of a bot that
    answers at once.
    """
    setup = _setup(stored, PlainLauncher(), seat)
    asked = _listen(stored, seat, legal, setup)
    return setup.hello + b"".join(message for one in asked for message in one.messages)


def compare(
    stored: Stored, seat: int, bot: Bot, launcher: Launcher, tell: Callable[[Compared], None]
) -> list[Compared]:
    """Send the requests of a seat to another bot.

    Args:
        stored: The deal.
        seat: The seat.
        bot: The other bot.
        launcher: The launcher of that bot.
        tell: Called with each answer that differs.

    Raises:
        Fault: The bot cannot start.
        HostFailureError: The deal was void.
        ValueError: The record is not a deal of these rules.
    """
    tape = _Tape(stored)
    setup = _setup(stored, launcher, seat)
    fed = _FedPlayer(msgspec.structs.replace(bot, number=seat), setup, tape, seat)
    try:
        RecordingPlayer.start(fed)
        fed.running = False  # it joins when the deal starts it
        _play(stored, tape, setup, seat, fed)
    finally:
        fed.stop()
    for one in fed.compared:
        if not one.same:
            tell(one)
    return fed.compared


def _setup(stored: Stored, launcher: Launcher, seat: int) -> PlayerSetup:
    """Return the setup of the player in a seat, with the time limits that it had."""
    record, settings = stored.record, stored.settings
    time = settings.time_of(record.key.round, record.seating[seat])
    return player_setup(settings, launcher, make_clock("fair"), time=time)


def _times_by_seat(stored: Stored) -> dict[int, OwnTime]:
    """Return the time limits of all players at the table; players here are numbered by seat."""
    key, settings = stored.record.key, stored.settings
    return {
        seat: OwnTime(**settings.time_of(key.round, entrant).model_dump())
        for seat, entrant in enumerate(stored.record.seating)
    }


def _play(stored: Stored, tape: _Tape, setup: PlayerSetup, seat: int, player: Player) -> DealRecord:
    """Play the deal again with a given player in a seat."""
    record = stored.record
    players: list[Player] = [
        player if other == seat else _StoredPlayer(Bot(name=name, number=other), setup, tape, other)
        for other, name in enumerate(stored.names)
    ]
    deal = DealInPlay(
        tape.game,
        tape.state,
        record.key,
        players,
        seeds=_seeds(stored, stored.names),
        settings=stored.settings.with_changes(
            on_fault="substitute",
            max_faults=1,
            own_times=_times_by_seat(stored),
            time_changes=(),
        ),
        faults_so_far=tape.faults,
    )
    played = deal.play(record.start)
    if played.places != record.places:
        raise ValueError("the stored moves do not give the stored result")
    return played


def _seeds(stored: Stored, names: Sequence[str]) -> list[int]:
    key = stored.record.key
    master = stored.settings.seed_of(key.round)
    return [bot_seed(master, name, key, seat) for seat, name in enumerate(names)]


_LONG = 4000
"""The number of characters of a line that are shown."""


class Differences:
    """Lines about the requests to which a bot answered differently.

    A bot often fails in the same way many times over, so an stderr that was shown is not repeated.
    """

    def __init__(self) -> None:
        self._shown = ""

    def lines(self, one: Compared) -> Iterator[str]:
        """Describe one request, with all output of the bot if its answer was a fault."""
        yield f"move {one.move}:"
        yield f"  request: {escaped(one.request.decode().rstrip(), _LONG)}"
        yield f"  then:    {_answer(one.stored, one.failed)}"
        yield f"  now:     {_answer(one.given, one.fault)}"
        if not one.fault:
            return
        yield f"  stdout:  {escaped(one.received, _LONG) or '(nothing)'}"
        if one.stderr and one.stderr == self._shown:
            yield "  stderr:  (the same as above)"
        elif one.stderr:
            self._shown = one.stderr
            yield "  stderr:"
            yield from (f"    {escaped(line, _LONG)}" for line in one.stderr.splitlines())
        else:
            yield "  stderr:  (nothing)"


def summary_line(compared: Sequence[Compared], name: str) -> str:
    """Count the different answers."""
    if not compared:
        return f"{name} was never asked in this deal"
    differ = sum(not one.same for one in compared)
    if not differ:
        return f"all {len(compared)} answers are the same as those of {name}"
    return f"{differ} of {len(compared)} answers differ from those of {name}"


def _answer(fields: dict[str, Any] | None, fault: str) -> str:
    return escaped(fault, 600) if fields is None else json.dumps(fields)
