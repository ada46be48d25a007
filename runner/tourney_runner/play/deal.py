"""Play one deal: ask the player to move, check the answer, apply it, until the deal is over."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Raw

from tourney_runner.errors import RunError, TourneyError
from tourney_runner.games.base import TERMINAL, IllegalActionError, MalformedAnswerError
from tourney_runner.play.faults import EndedBeforeError, Fault
from tourney_runner.play.legal_cache import LegalLists
from tourney_runner.play.seat import Seat
from tourney_runner.protocol.lines import encode, encode_lines, quoted
from tourney_runner.protocol.messages import Deal, Move, MoveTime, Result
from tourney_runner.results.records import DealKey, DealRecord, FaultRecord, Note, SlowMove

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tourney_runner.games.base import Answer, Game, State
    from tourney_runner.play.play_settings import AutoForfeit, PlaySettings
    from tourney_runner.play.player import Player
    from tourney_runner.results.records import FaultKind

__all__ = ["DealInPlay"]

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
        move_limit = settings.move_ms * _MS
        limit, time = (
            move_limit + settings.bank_ms * _MS,
            MoveTime(settings.move_ms, settings.bank_ms),
        )
        # A request's id gives its position in the deal. A late answer from another deal must not
        # look like an answer in this one, so the first id depends on the seed. It is the same each
        # time the deal is played, because a bot may use ids in its play.
        self._seats = [
            Seat(
                number,
                player,
                encode(self._greeting(number, seed)),
                seed % _DEALS_BY_ID * _IDS_PER_DEAL + 1,
                move_limit,
                limit,
                time,
            )
            for number, (player, seed) in enumerate(zip(players, seeds, strict=True))
        ]
        self._events: list[Raw] = []
        self._codes: list[str] = []
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
        try:
            return self._play_whole(start, retired)
        except TourneyError:
            raise
        except Exception as error:
            if blame := _game_failure(self._game, error):
                raise RunError(f"deal {self._key}: {blame}") from error
            raise

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
    def _play_on(self) -> None:  # noqa: C901
        """Ask players and apply their actions until the deal is over."""
        state, seats, codes, events = self._state, self._seats, self._codes, self._events
        observation, read, apply_action = state.observation, state.read, state.apply_action
        encode_action = self._encode_action
        while (turn := state.current_player) != TERMINAL:
            seat = seats[turn]
            player = seat.player
            if not player.running and not self._started(seat):
                continue
            told = len(events)
            request_id = seat.first_id + told
            move = Move(request_id, observation(turn), events[seat.seen :], seat.time)
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
            except MalformedAnswerError as error:
                self._failed(seat, _refused("malformed", error, player, answer), request)
            except IllegalActionError as error:
                self._failed(seat, _refused("illegal", error, player, answer), request)
            else:
                codes.append(encode_action(action))
                events.append(Raw(_encode_event(apply_action(action))))

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
            self._codes.append(f"?{self._encode_action(action)}")
            self._events.append(Raw(_encode_event(self._state.apply_action(action))))

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
        if not self._plays(seat):
            return
        self._codes.append(f"!{seat.number}")
        self._events.append(Raw(_encode_event(self._state.forfeit(seat.number))))

    def _finish(self, start: int | None) -> DealRecord:
        state = self._state
        for seat in self._seats:
            if seat.not_started is not None:  # the deal was over before its turn
                self._note_fault(seat, seat.not_started)
        places, points = _checked_result(self._game, state)
        notes: list[Note] = []
        slow: list[SlowMove] = []
        for seat in self._seats:
            player = seat.player
            if player.running and seat.greeted:
                player.tell(encode(Result(places, points, self._events[seat.seen :])))
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
            moves=" ".join(self._codes),
            places=places,
            points=points,
            times=tuple(seat.times() for seat in self._seats),
            faults=tuple(self._faults),
            debug=tuple(self._debug),
            slow=tuple(sorted(slow)[:_SLOW_KEPT]),
            notes=tuple(notes),
        )


def _refused(kind: FaultKind, error: Exception, player: Player, answer: Answer) -> Fault:
    """Return the fault of a player whose answer was refused by the game, and end its process."""
    return player.fault(kind, str(error), player.line or msgspec.json.encode(answer))


def _checked_result(
    game: Game[Any, Any], state: State[Any]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the places and points of a finished deal.

    Raises:
        RunError: The game does not give one of each for every player.
    """
    places, points = state.places(), state.returns()
    for what, given in (("places", places), ("returns", points)):
        if len(given) != state.players:
            raise RunError(
                f"the game {game.name}: {what}() gave {len(given)} numbers for {state.players} "
                f"players: {list(given)}. This is a bug of the game, not of a bot"
            )
    return places, points


def _game_failure(game: Game[Any, Any], error: Exception) -> str | None:
    """Return a message if an error was raised by the game's own code, otherwise None."""
    package = type(game).__module__.rpartition(".")[0] or type(game).__module__
    frames = [
        frame.f_code.co_name
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if f"{frame.f_globals.get('__name__', '')}.".startswith(f"{package}.")
    ]
    if not frames:
        return None
    return (
        f"the game {game.name} failed in {frames[0]}(): {type(error).__name__}: {error}. "
        "This is a bug of the game, not of a bot"
    )
