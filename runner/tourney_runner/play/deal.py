"""Play one deal: ask the player to move, check the answer, apply it, until the deal is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Raw

from tourney_runner.games.base import (
    TERMINAL,
    IllegalActionError,
    MalformedAnswerError,
    SeatEvents,
    State,
)
from tourney_runner.play.faults import EndedBeforeError, Fault
from tourney_runner.play.game_errors import (
    GameErrors,
    checked_codes,
    checked_event,
    checked_result,
    game_bug,
)
from tourney_runner.play.legal_cache import LegalLists
from tourney_runner.play.match_plan import shared_places
from tourney_runner.protocol.lines import encode, encode_lines, quoted
from tourney_runner.protocol.messages import Deal, Move, MoveTime, Result
from tourney_runner.results.records import (
    CUT_SHORT,
    DealKey,
    DealRecord,
    FaultRecord,
    Note,
    SeatTime,
    SlowMove,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tourney_runner.games.base import Answer, Game
    from tourney_runner.play.match_plan import AutoForfeit
    from tourney_runner.play.play_settings import PlaySettings
    from tourney_runner.play.player import Player
    from tourney_runner.results.records import FaultKind

__all__ = ["DealInPlay", "Seat"]


_DEBUG_CAP = 4096
"""Bytes of a bot's `debug` text that are kept per deal."""


@dataclass(slots=True)
class Seat:
    """A player's seat in one deal. Times are in nanoseconds."""

    number: int
    player: Player
    greeting: bytes
    """The `Deal` message for this player, encoded."""
    first_id: int
    """The id of a request before any move. Later ids add the number of moves so far."""
    move_limit: int
    """The limit of an answer without the bank."""
    limit: int
    """The limit of the next answer, including the rest of the bank."""
    time: MoveTime
    """The limits as they are sent to the bot."""
    greeted: bool = False
    seen: int = 0
    """The number of events that were sent to the player."""
    own: dict[int, Raw] = field(default_factory=dict)
    """This seat's versions of events, by number of the event."""
    charged: list[int] = field(default_factory=list)
    """The time charged for each answer."""
    not_started: Fault | None = None
    """The reason why no process started, until it is noted in the player's turn."""
    debug_left: int = _DEBUG_CAP

    def draw(self, charged: int) -> None:
        """Deduct from the bank the time by which an answer exceeded `move_limit`."""
        if charged > self.move_limit:
            bank = max(0, self.limit - charged)
            self.limit = self.move_limit + bank
            self.time = MoveTime(self.move_limit // _MS, bank // _MS)

    def times(self) -> SeatTime:
        """Return the stored summary of the player's times."""
        charged = self.charged
        return SeatTime(len(charged), sum(charged), max(charged) if charged else 0)

    def keep_debug(self, text: str) -> str:
        """Return as much of a bot's debug text as may still be kept."""
        kept = text.encode(errors="replace")[: self.debug_left]
        self.debug_left -= len(kept)
        return kept.decode(errors="ignore")


_REQUEST_KEPT = 20_000
_STDERR_KEPT = 4000
"""Maximum number of characters in a note. A fault keeps more."""

_SLOW_KEPT = 20

_IDS_PER_DEAL = 10_000
_DEALS_BY_ID = 200_000
"""Limits that keep all ids below 2**31, the largest usual integer of many languages."""

_MS = 1_000_000

_PLAYING = {"playing", "passed"}

_encode_event = msgspec.json.Encoder().encode


class DealInPlay:
    """A deal that is being played by the players at a table.

    Args:
        game: The game.
        state: The freshly dealt cards.
        key: The position of the deal in the schedule.
        players: The players by seat.
        seeds: The random seed sent to each bot, by seat.
        settings: The settings of the match.
        faults_so_far: The number of faults in the match by seat. Updated in place.
    """

    def __init__(  # noqa: PLR0913 - a deal has this many parts
        self,
        game: Game[Any, Any],
        state: State[Any],
        key: DealKey,
        players: Sequence[Player],
        *,
        seeds: Sequence[int],
        settings: PlaySettings,
        faults_so_far: list[int],
    ) -> None:
        self._game = game
        self._state = state
        self._key = key
        self._players = players
        self._settings = settings
        self._faults_so_far = faults_so_far
        self._encode_action = game.encode
        self._legal = LegalLists.of(game)
        revealed = settings.reveal_names
        self._names = tuple(player.bot.name for player in players) if revealed else None
        # A request's id gives its position in the deal. A late answer from another deal must not
        # look like an answer in this one, so the first id depends on the seed. It is the same each
        # time the deal is played, because a bot may use ids in its play.
        self._seats = [
            Seat(
                number,
                player,
                encode(self._greeting(number, seed)),
                seed % _DEALS_BY_ID * _IDS_PER_DEAL + 1,
                time.move_ms * _MS,
                (time.move_ms + time.bank_ms) * _MS,
                MoveTime(time.move_ms, time.bank_ms),
            )
            for number, (player, seed) in enumerate(zip(players, seeds, strict=True))
            for time in [settings.time_of(key.round, player.bot.number)]
        ]
        self._event_type = game.event
        self._events: list[Raw] = []
        self._round: dict[int, msgspec.Struct] = {}
        """The views of the seats that still have to choose in a simultaneous round, as they were
        when the round began. Nothing of the round may reach a seat before all have chosen."""
        self._before_round = 0
        """The number of events when the round began."""
        self._codes: list[str] = []
        self._cut_short = False
        self._forfeited: list[int] = []
        self._faults: list[FaultRecord] = []
        self._debug: list[tuple[int, int, str]] = []

    def play(self, start: int | None, retired: Sequence[AutoForfeit] = ()) -> DealRecord:
        """Play the deal to its end. If the cards alone decide it, no player is asked (T36a).

        Args:
            start: The start value the state was dealt with. Kept in the record.
            retired: Entrants that forfeit this deal without playing.

        Raises:
            RunError: The code of the game failed.
        """
        with GameErrors(self._game, self._key):
            return self._play_whole(start, retired)

    def _play_whole(self, start: int | None, retired: Sequence[AutoForfeit]) -> DealRecord:
        state = self._state
        gone = {absent.entrant: absent for absent in retired}
        if state.is_terminal():
            for seat in self._seats:
                if seat.player.running and seat.player.bot.number not in gone:
                    self._greet(seat)
        else:
            self._begin(gone)
            self._play_on()
        return self._finish(start)

    def _greeting(self, seat: int, seed: int) -> Deal:
        state = self._state
        leader = state.current_player
        return Deal(
            seat=seat,
            players=len(self._players),
            hand=tuple(state.hand(seat)),
            leader=None if leader == TERMINAL else leader,
            seed=seed,
            names=self._names,
        )

    def _begin(self, gone: Mapping[int, AutoForfeit]) -> None:
        """Start and greet all players before the first move, so no start counts as move time."""
        for seat in self._seats:
            if absent := gone.get(seat.player.bot.number):
                self._forfeit_unplayed(seat, absent)
            elif seat.player.running:
                self._greet(seat)
            elif self._plays(seat):
                try:
                    self._start(seat)
                except Fault as fault:
                    if self._settings.on_fault == "substitute":
                        seat.not_started = fault  # noted when its turn comes
                    else:
                        self._note_fault(seat, fault)

    def _plays(self, seat: Seat) -> bool:
        """Return whether a player is still in the deal. The cards alone may have taken it out."""
        scene = self._state.scene()
        return scene.to_move is not None and scene.seats[seat.number].state in _PLAYING

    def _start(self, seat: Seat) -> None:
        if seat.not_started is not None:
            fault, seat.not_started = seat.not_started, None
            raise fault
        seat.player.start()
        self._greet(seat)

    def _greet(self, seat: Seat) -> None:
        seat.player.new_deal(seat.greeting)
        seat.greeted = True
        seat.seen = 0  # a process started during a deal is sent all events

    # This runs for every move, so rare cases are handled in other methods.
    def _play_on(self) -> None:  # noqa: C901, PLR0912
        """Ask players and apply their actions until the deal is over."""
        state, codes, events, event_type = self._state, self._codes, self._events, self._event_type
        observation, read, apply_action = state.observation, state.read, state.apply_action
        encode_action, most = self._encode_action, self._settings.max_moves
        in_turn = type(state).choosing is State.choosing  # true of most games
        seats = dict(enumerate(self._seats))
        while (turn := state.current_player) != TERMINAL and (moves := len(codes)) < most:
            if (seat := seats.get(turn)) is None:
                raise game_bug(self._game, f": current_player is {turn!r:.40}, not a seat")
            player = seat.player
            if not player.running and not self._started(seat):
                continue
            if in_turn and not seat.own:
                told = len(events)
                view, news = observation(turn), events[seat.seen :]
            else:
                view, told = self._view(turn)
                news = self._news(seat, told)
            request_id = seat.first_id + moves
            move = Move(request_id, view, news, seat.time)
            if player.lists is not None:
                move = self._with_lists(move, player.lists)
            request = encode_lines((move,))
            try:
                answer, charged = player.ask(request, request_id, seat.limit)
                seat.seen = told
                seat.charged.append(charged)
                if charged > seat.move_limit:
                    seat.draw(charged)
                if answer.debug is not None:
                    self._keep_debug(seat, answer.debug)
                action = read(answer)
            except EndedBeforeError:
                continue  # it is no longer running, so the loop starts it first
            except Fault as fault:
                self._failed(seat, fault, request)
            except (MalformedAnswerError, IllegalActionError) as error:
                self._failed(seat, _refused(error, player, answer), request)
            else:
                code = encode_action(action)
                event = apply_action(action)
                if in_turn and type(event) is event_type:
                    codes.append(code)
                    events.append(Raw(_encode_event(event)))
                else:
                    self._happened(turn, code, event)
        if turn != TERMINAL:
            self._cut_short = True
            codes.append(CUT_SHORT)

    def _happened(self, seat: int, code: str, event: msgspec.Struct | None) -> None:
        """Keep the code of an action or a forfeit, and its event for the seats."""
        self._codes.append(code)
        self._round.pop(seat, None)
        if type(event) is not self._event_type:
            event = checked_event(self._game, event, len(self._seats))
            if event is None:
                return
            if isinstance(event, SeatEvents):
                for number, own in event.own.items():
                    self._seats[number].own[len(self._events)] = Raw(_encode_event(own))
                event = event.public
        self._events.append(Raw(_encode_event(event)))

    def _news(self, seat: Seat, told: int) -> list[Raw]:
        """Return the events that a seat has not seen yet, the last of them before number `told`."""
        if not seat.own:
            return self._events[seat.seen : told]
        own, events = seat.own, self._events
        return [own.get(number, events[number]) for number in range(seat.seen, told)]

    def _view(self, turn: int) -> tuple[msgspec.Struct, int]:
        """Return the view of the seat to act, and the number of events that it may know."""
        choosing = self._state.choosing
        if not choosing:
            return self._state.observation(turn), len(self._events)
        if turn not in self._round:
            if turn not in choosing:
                raise game_bug(self._game, f": choosing is {choosing}, without current_player")
            self._round = {seat: self._state.observation(seat) for seat in choosing}
            self._before_round = len(self._events)
        return self._round[turn], self._before_round

    def _started(self, seat: Seat) -> bool:
        """Start the player to move and return whether it worked."""
        try:
            self._start(seat)
        except Fault as fault:
            self._failed(seat, fault)
            return False
        return True

    def _failed(self, seat: Seat, fault: Fault, request: bytes = b"") -> None:
        """Note the fault of the player to move, and play the fallback action if required."""
        if fault.spent:
            seat.charged.append(fault.spent)
            seat.draw(fault.spent)
        if self._note_fault(seat, fault, request):
            action = self._state.fallback_action()
            code = f"?{self._encode_action(action)}"
            self._happened(seat.number, code, self._state.apply_action(action))

    def _with_lists(self, move: Move, mode: Literal["canonical", "all"]) -> Move:
        legal, left_out = self._legal.list(self._state, mode)
        if not left_out:
            return msgspec.structs.replace(move, legal=legal)
        return msgspec.structs.replace(
            move, legal=legal, legal_complete=False, legal_reason=left_out
        )

    def _keep_debug(self, seat: Seat, text: str) -> None:
        if kept := seat.keep_debug(text):
            self._debug.append((len(self._codes), seat.number, kept))

    def _note_fault(self, seat: Seat, fault: Fault, request: bytes = b"") -> bool:
        """Record a fault. The bot forfeits unless ``on_fault`` says to play its moves.

        Returns:
            Whether the fallback action has to be played.
        """
        self._faults_so_far[seat.number] += 1
        settings = self._settings
        substituted = (
            settings.on_fault == "substitute"
            and self._faults_so_far[seat.number] <= settings.max_faults
            and not self._cut_short
            and not self._state.is_terminal()
        )
        self._faults.append(
            FaultRecord(
                seat=seat.number,
                entrant=seat.player.bot.number,
                kind=fault.kind,
                move=len(self._codes),
                cause=fault.cause,
                request=quoted(request, _REQUEST_KEPT),
                answer=fault.answer,
                stderr=fault.stderr,
                substituted=substituted,
            )
        )
        if not substituted:
            self._forfeit(seat)
        return substituted

    def _forfeit_unplayed(self, seat: Seat, absent: AutoForfeit) -> None:
        self._faults.append(
            FaultRecord(seat.number, absent.entrant, absent.kind, len(self._codes), absent.cause)
        )
        self._forfeit(seat)

    def _forfeit(self, seat: Seat) -> None:
        if self._cut_short or not self._plays(seat):
            return
        self._forfeited.append(seat.number)
        self._happened(seat.number, f"!{seat.number}", self._state.forfeit(seat.number))

    def _finish(self, start: int | None) -> DealRecord:
        for seat in self._seats:
            if seat.not_started is not None:  # the deal was over before its turn
                self._note_fault(seat, seat.not_started)
        places, points = self._result()
        notes: list[Note] = []
        slow: list[SlowMove] = []
        for seat in self._seats:
            player = seat.player
            if player.running and seat.greeted:
                player.tell(encode(Result(places, points, self._news(seat, len(self._events)))))
                if stderr := player.take_stderr():
                    player.notes.append(("stderr", stderr[-_STDERR_KEPT:]))
            if player.notes:
                notes += [Note(seat.number, kind, text) for kind, text in player.notes]
                player.notes.clear()
            if player.slow:
                slow += [
                    SlowMove(request - seat.first_id, seat.number, one.wall, one.cpu, one.waiting)
                    for request, one in player.slow
                ]
                player.slow.clear()
        return DealRecord(
            key=self._key,
            seating=tuple(player.bot.number for player in self._players),
            start=start,
            moves=self._moves(),
            places=places,
            points=points,
            times=tuple(seat.times() for seat in self._seats),
            faults=tuple(self._faults),
            debug=tuple(self._debug),
            slow=tuple(sorted(slow)[:_SLOW_KEPT]),
            notes=tuple(notes),
        )

    def _result(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the places and points; shared places and no points after `max_moves`."""
        if self._cut_short:
            scene = self._state.scene()
            return shared_places(scene, self._forfeited), (0.0,) * len(self._seats)
        return checked_result(self._game, self._state)

    def _moves(self) -> str:
        substituted = sum(fault.substituted for fault in self._faults)
        extra = substituted + len(self._forfeited) + self._cut_short
        return checked_codes(self._game, self._codes, extra)


def _refused(error: Exception, player: Player, answer: Answer) -> Fault:
    """Return the fault of a player whose answer was refused by the game, and end its process."""
    kind: FaultKind = "illegal" if isinstance(error, IllegalActionError) else "malformed"
    return player.fault(kind, str(error), player.line or msgspec.json.encode(answer))
