"""One deal: whose turn it is, what he may see, what he answers, until the cards are out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from runner.games.base import TERMINAL, IllegalActionError, MalformedAnswerError
from runner.play.faults import Fault
from runner.protocol.lines import encode, quoted
from runner.protocol.messages import Deal, Move, MoveTime, Result
from runner.results.records import DealKey, DealRecord, FaultRecord, SeatTime, SlowMove

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.games.base import Game, State
    from runner.play.player import Player
    from runner.play.settings import PlaySettings, Retired

__all__ = ["DealInPlay"]

_DEBUG_CAP = 4096
"""Bytes of a bot's `debug` text that are kept of a deal."""

_REQUEST_KEPT = 20_000
_STDERR_KEPT = 4000
"""Characters; more is kept only for a fault."""

_SLOW_KEPT = 20

_IDS_PER_DEAL = 10_000
_DEALS_BY_ID = 200_000

_encode_event = msgspec.json.Encoder().encode


class DealInPlay:
    """Plays one deal with the players at the table.

    Args:
        game: The game.
        state: The freshly dealt cards.
        key: The deal's place in the schedule.
        players: By seat.
        seeds: What each bot is told for its own randomness, by seat.
        settings: How to play.
        faults_so_far: Faults by seat in the match; changed here.
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
        self._state = state
        self._key = key
        self._players = players
        self._settings = settings
        self._faults_so_far = faults_so_far
        self._encode_action = game.encode
        self._greetings = [encode(self._greeting(seat, seed)) for seat, seed in enumerate(seeds)]
        self._greeted: set[int] = set()
        self._not_started: dict[int, Fault] = {}
        seats = range(len(players))
        # A late answer to another deal must not look like one to this: ids start anywhere, but
        # always at the same place for the same deal, since a bot may draw on them.
        self._next_id = [seed % _DEALS_BY_ID * _IDS_PER_DEAL + 1 for seed in seeds]
        self._move_limit = settings.move_ms * 1_000_000
        self._bank = [settings.bank_ms * 1_000_000 for _ in seats]
        self._time = [MoveTime(settings.move_ms, settings.bank_ms) for _ in seats]
        self._events: list[msgspec.Raw] = []
        self._seen = [0 for _ in seats]
        self._codes: list[str] = []
        self._moves = [0 for _ in seats]
        self._total = [0 for _ in seats]
        self._longest = [0 for _ in seats]
        self._faults: list[FaultRecord] = []
        self._slow: list[SlowMove] = []
        self._debug: list[tuple[int, int, str]] = []
        self._debug_left = [_DEBUG_CAP for _ in seats]
        self._request = b""

    def play(self, start: int | None, retired: Sequence[Retired] = ()) -> DealRecord:
        """Play to the end; a deal that the cards alone decide asks nobody (T36a).

        Args:
            start: What the state was dealt with, kept in the record.
            retired: Entrants that forfeit this deal unplayed.
        """
        state = self._state
        gone = {absent.entrant: absent for absent in retired}
        if state.is_terminal():
            for seat, player in enumerate(self._players):
                if player.running and player.bot.number not in gone:
                    self._greet(seat)
        else:
            self._begin(gone)
            while (seat := state.current_player()) != TERMINAL:
                self._turn(seat)
        return self._finish(start)

    def _greeting(self, seat: int, seed: int) -> Deal:
        state = self._state
        leader = state.current_player()
        names = tuple(player.bot.name for player in self._players)
        return Deal(
            seat=seat,
            players=len(self._players),
            hand=tuple(state.hand(seat)),
            leader=None if leader == TERMINAL else leader,
            seed=seed,
            names=names if self._settings.reveal_names else None,
        )

    def _begin(self, gone: Mapping[int, Retired]) -> None:
        """Have all who play ready before the first move, so that no start falls into a move."""
        for seat, player in enumerate(self._players):
            if absent := gone.get(player.bot.number):
                self._forfeit_unplayed(seat, absent)
            elif player.running:
                self._greet(seat)
            elif self._plays(seat):
                try:
                    self._start(seat)
                except Fault as fault:
                    if self._settings.on_fault == "substitute":
                        self._not_started[seat] = fault  # it is noted when its turn comes
                    else:
                        self._note_fault(seat, fault)

    def _plays(self, seat: int) -> bool:
        """Whether a player is still in the deal, from which the cards may release him at once."""
        scene = self._state.scene()
        return scene.to_move is not None and scene.seats[seat].state in {"playing", "passed"}

    def _start(self, seat: int) -> None:
        self._players[seat].start()
        self._greet(seat)

    def _greet(self, seat: int) -> None:
        self._players[seat].new_deal(self._greetings[seat])
        self._greeted.add(seat)

    def _turn(self, seat: int) -> None:
        self._request = b""
        try:
            action = self._ask(seat)
        except Fault as fault:
            if fault.spent:
                self._count_time(seat, fault.spent)
            if not self._note_fault(seat, fault):
                return
            action = self._state.fallback_action()
            self._codes.append(f"?{self._encode_action(action)}")
        else:
            self._codes.append(self._encode_action(action))
        self._events.append(msgspec.Raw(_encode_event(self._state.apply_action(action))))

    def _ask(self, seat: int) -> Any:
        """The action of the player to move; raises Fault."""
        state = self._state
        player = self._players[seat]
        if not player.running:
            if seat in self._not_started:
                raise self._not_started.pop(seat)
            self._start(seat)
        legal, complete = None, True
        if player.ready.legal != "none":
            listed = state.legal_actions(player.ready.legal)
            legal, complete = [state.write(action) for action in listed.actions], listed.complete
        request_id = self._next_id[seat]
        self._next_id[seat] = request_id + 1
        self._request = request = encode(
            Move(
                request_id,
                state.observation(seat),
                self._events[self._seen[seat] :],
                self._time[seat],
                legal,
                complete,
            )
        )
        answer, charged = player.ask(request, request_id, self._move_limit + self._bank[seat])
        self._seen[seat] = len(self._events)
        self._count_time(seat, charged)
        if player.slow is not None and len(self._slow) < _SLOW_KEPT:
            wall, cpu, waiting = player.slow.wall, player.slow.cpu, player.slow.waiting
            self._slow.append(SlowMove(len(self._codes), seat, wall, cpu, waiting))
        if answer.debug is not None:
            self._keep_debug(seat, answer.debug)
        try:
            return state.read(answer)
        except MalformedAnswerError as error:
            raise player.fault("malformed", str(error), msgspec.json.encode(answer)) from error
        except IllegalActionError as error:
            raise player.fault("illegal", str(error), msgspec.json.encode(answer)) from error

    def _count_time(self, seat: int, charged: int) -> None:
        self._moves[seat] += 1
        self._total[seat] += charged
        if charged > self._longest[seat]:  # noqa: PLR1730 - max() takes twice the time
            self._longest[seat] = charged
        if charged > self._move_limit:
            left = max(0, self._bank[seat] + self._move_limit - charged)
            self._bank[seat] = left
            self._time[seat] = MoveTime(self._settings.move_ms, left // 1_000_000)

    def _keep_debug(self, seat: int, text: str) -> None:
        kept = text.encode(errors="replace")[: self._debug_left[seat]]
        self._debug_left[seat] -= len(kept)
        if kept:
            self._debug.append((len(self._codes), seat, kept.decode(errors="ignore")))

    def _note_fault(self, seat: int, fault: Fault) -> bool:
        """Keep a fault; the bot forfeits unless ``on_fault`` has its moves played for it.

        Returns:
            Whether the fallback action is to be played.
        """
        self._faults_so_far[seat] += 1
        settings = self._settings
        substituted = (
            settings.on_fault == "substitute" and self._faults_so_far[seat] <= settings.max_faults
        )
        self._faults.append(
            FaultRecord(
                seat=seat,
                entrant=self._players[seat].bot.number,
                kind=fault.kind,
                move=len(self._codes),
                cause=fault.cause,
                request=quoted(self._request, _REQUEST_KEPT),
                answer=fault.answer,
                stderr=fault.stderr,
                substituted=substituted,
            )
        )
        if not substituted:
            self._forfeit(seat)
        return substituted

    def _forfeit_unplayed(self, seat: int, absent: Retired) -> None:
        cause = f"forfeited unplayed: it failed in every deal of round {absent.round + 1}"
        self._faults.append(FaultRecord(seat, absent.entrant, absent.kind, len(self._codes), cause))
        self._forfeit(seat)

    def _forfeit(self, seat: int) -> None:
        if not self._plays(seat):
            return
        self._codes.append(f"!{seat}")
        self._events.append(msgspec.Raw(_encode_event(self._state.forfeit(seat))))

    def _finish(self, start: int | None) -> DealRecord:
        state = self._state
        for seat, fault in self._not_started.items():  # the deal was over before its turn
            self._note_fault(seat, fault)
        places, points = state.places(), state.returns()
        notes: list[tuple[int, str]] = []
        for seat, player in enumerate(self._players):
            if player.running and seat in self._greeted:
                player.tell(encode(Result(places, points, self._events[self._seen[seat] :])))
                if stderr := player.take_stderr():
                    player.notes.append(f"stderr: {stderr[-_STDERR_KEPT:]}")
            notes += [(seat, note) for note in player.notes]
            player.notes.clear()
        return DealRecord(
            key=self._key,
            seating=tuple(player.bot.number for player in self._players),
            start=start,
            moves=" ".join(self._codes),
            places=places,
            points=points,
            times=tuple(map(SeatTime, self._moves, self._total, self._longest)),
            faults=tuple(self._faults),
            debug=tuple(self._debug),
            slow=tuple(self._slow),
            notes=tuple(notes),
        )
