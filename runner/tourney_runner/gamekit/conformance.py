"""The contract between games and this program, as checks that any game can be put to.

Each check plays random deals of one game and fails with a sentence for the game's author.
"""

from __future__ import annotations

import pickle
import re
import time
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from tourney_runner.games.base import (
    Game,
    IllegalActionError,
    MalformedAnswerError,
    SeatEvents,
    seen_by,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tourney_runner.games.base import GameOptions, Scene, State, Zone

__all__ = ["CHECKS", "Check", "NonconformityError", "actions_a_second"]

_MOST_ACTIONS = 5000
"""A deal that is longer is taken for endless."""
_PLAYING = ("playing", "passed")


class NonconformityError(AssertionError):
    """A part of the contract that a game does not keep; the message is for its author."""


class Check(NamedTuple):
    """One check of the contract."""

    name: str
    """The promise that is kept if it passes."""
    run: Callable[[Game[Any, Any], GameOptions, int], None]
    """Checks a game under some options with the cards of a seed; raises `NonconformityError`."""


def actions_a_second(game: Game[Any, Any], options: GameOptions, least: float = 0.3) -> float:
    """Return how many random actions a game lists, picks and applies in a second of CPU time."""
    random = Random(1)  # noqa: S311 - the same deals every time
    actions, deal, began = 0, 0, time.process_time()
    while time.process_time() - began < least:
        for _ in _play(game.new_state(options, deal, None), random):
            actions += 1
        deal += 1
    return actions / (time.process_time() - began)


def _require(holds: object, message: str) -> None:
    if not holds:
        raise NonconformityError(message)


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - a failure must come again


def _play(
    state: State[Any], random: Random, forfeits: float = 0.0
) -> Iterator[msgspec.Struct | None]:
    """Play at random to the end and yield each event; now and then a player forfeits."""
    for _ in range(_MOST_ACTIONS):
        if state.is_terminal():
            return
        if random.random() < forfeits:
            seats = [view.seat for view in state.scene().seats if view.state in _PLAYING]
            yield state.forfeit(random.choice(seats))
        else:
            yield state.apply_action(random.choice(state.legal_actions("canonical").actions))
    raise NonconformityError(f"a deal did not end after {_MOST_ACTIONS} random actions")


def _read(game: Game[Any, Any], state: State[Any], action: Any) -> Any:
    """Send an action through JSON, as a bot does, and return what the game makes of it."""
    line = msgspec.json.encode({"id": 1, **state.write(action)})
    try:
        return state.read(msgspec.json.decode(line, type=game.answer))
    except (IllegalActionError, MalformedAnswerError, msgspec.ValidationError) as error:
        raise NonconformityError(
            f"read() refuses {line.decode()}, which is listed: {error}"
        ) from None


def _ends(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    state = game.new_state(options, seed, None)
    for _ in _play(state, _random(seed)):
        pass
    places, returns = state.places(), state.returns()
    for what, given in (("places", places), ("returns", returns)):
        _require(
            len(given) == state.players,
            f"{what}() gave {len(given)} numbers for {state.players} players",
        )
    for place in places:
        best = 1 + sum(other < place for other in places)
        _require(place == best, f"places() gave {places}: players who tie share the best place")
    _require(not state.legal_actions().actions, "legal_actions() lists actions of a finished deal")
    following = game.new_state(options, seed + 1, state.next_start())
    _require(
        following.is_terminal() or 0 <= following.current_player < following.players,
        f"a deal with start {state.next_start()}, from next_start(), has no player to move",
    )


def _repeats(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    random = _random(seed)
    state, again = (game.new_state(options, seed, None) for _ in range(2))
    _require(state.scene() == again.scene(), "new_state() deals other cards for the same seed")
    while not state.is_terminal():
        action = random.choice(state.legal_actions("canonical").actions)
        code = game.encode(action)
        _require(
            code and not re.search(r"^[!?=]|\s", code),
            f"encode() gave {code!r}: a code is not empty, has no blanks and does "
            "not begin with ! ? or =",
        )
        _require(game.decode(code) == action, f"decode({code!r}) is not the action encoded")
        same = state.apply_action(action) == again.apply_action(game.decode(code))
        _require(
            same and state.scene() == again.scene(),
            f"the same action {code} led to other events or positions: is there other randomness?",
        )


def _lists(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    random = _random(seed)
    state = game.new_state(options, seed, None)
    while not state.is_terminal():
        all_actions, short = state.legal_actions("all"), state.legal_actions("canonical")
        for listed in (all_actions, short):
            _require(listed.actions, "legal_actions() is empty though the deal is not over")
            _require(
                len({*listed.actions}) == len(listed.actions), "an action is listed more than once"
            )
        if all_actions.complete:
            extra = {*short.actions} - {*all_actions.actions}
            _require(not extra, f"only the canonical list has {[*extra][:3]}")
        for action in random.sample(short.actions, min(10, len(short.actions))):
            _require(
                _read(game, state, action) == action, f"read(write({action!r})) is another one"
            )
        fallback = state.fallback_action()
        _require(_read(game, state, fallback) == fallback, "fallback_action() is read differently")
        state.apply_action(random.choice(short.actions))


def _stubborn_ends(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    """Let all but one player stick to one way of playing."""
    policies = {
        "fallback_action()": lambda state: state.fallback_action(),
        "the first action of the list": lambda state: state.legal_actions("canonical").actions[0],
        "the last action of the list": lambda state: state.legal_actions("canonical").actions[-1],
    }
    what = [*policies][seed % len(policies)]
    random = _random(seed)
    state = game.new_state(options, seed, None)
    for _ in range(_MOST_ACTIONS):
        if state.is_terminal():
            return
        if state.current_player == 0:
            action = random.choice(state.legal_actions("canonical").actions)
        else:
            action = policies[what](state)
        state.apply_action(action)
    raise NonconformityError(
        f"a deal with players who only play {what} did not end after {_MOST_ACTIONS} "
        "actions; a game needs a limit of its own"
    )


def _resampling(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    """Exchange the cards that a seat does not know, if the game can do that."""
    if type(game).resample is Game.resample:
        return
    random = _random(seed)
    state = game.new_state(options, seed, None)
    events: list[msgspec.Struct | None] = []
    for _ in range(random.randrange(30)):
        if state.is_terminal():
            return
        events.append(state.apply_action(random.choice(state.legal_actions("canonical").actions)))
    for seat in range(state.players):
        seen = [seen_by(event, seat) for event in events if event is not None]
        view = state.observation(seat)
        other = game.resample(options, view, seen, random)
        _require(other.observation(seat) == view, f"resample() changes what seat {seat} sees")
        _require(
            other.current_player == state.current_player,
            f"resample() changes the player to move, for seat {seat}",
        )


def _forfeits(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    random = _random(seed)
    state = game.new_state(options, seed, None)
    gone: list[int] = []
    while not state.is_terminal():
        playing = [view.seat for view in state.scene().seats if view.state in _PLAYING]
        if random.random() < 0.1:
            gone.append(random.choice(playing))
            state.forfeit(gone[-1])
        else:
            state.apply_action(random.choice(state.legal_actions("canonical").actions))
    places, returns = state.places(), state.returns()
    expected = [state.players - number for number in range(len(gone))]
    _require(
        [places[seat] for seat in gone] == expected,
        f"seats {gone} forfeited in this order and got the places {[places[it] for it in gone]}; "
        f"expected {expected}: last, the earlier the lower",
    )
    _require(not any(returns[seat] for seat in gone), "a player who forfeited got points")
    for seat in range(state.players):
        try:
            state.forfeit(seat)
        except ValueError:
            continue
        raise NonconformityError("forfeit() of a finished deal is not a ValueError")


def _messages(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    state = game.new_state(options, seed, None)
    for event in _play(state, _random(seed), forfeits=0.02):
        for version in _versions(event):
            back = msgspec.json.decode(msgspec.json.encode(version), type=game.event)
            _require(back == version, f"the event {version} is {back} after a way through JSON")
            _require(state.describe(version), "describe() is empty")
        for seat in range(state.players):
            view = state.observation(seat)
            back = msgspec.json.decode(msgspec.json.encode(view), type=game.observation)
            _require(back == view, "an observation is another one after a way through JSON")


def _privacy(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    state = game.new_state(options, seed, None)
    scene = state.scene()
    cards = {card for zone in scene.zones for card in zone.cards}
    known = [_visible(scene, seat) for seat in range(state.players)]
    for event in _play(state, _random(seed), forfeits=0.01):
        before, scene = scene, state.scene()
        laid = {*(_hidden(before) - _hidden(scene))}
        for seat, seen in enumerate(known):
            shown = set() if event is None else _named(seen_by(event, seat), cards)
            seen |= _visible(scene, seat)  # noqa: PLW2901 - the set grows in place
            _require(
                shown <= seen | laid,
                f"an event shows seat {seat} the hidden cards {sorted(shown - seen - laid)}",
            )
            seen |= shown  # noqa: PLW2901
            view = _named(state.observation(seat), cards)
            _require(
                view <= seen,
                f"observation({seat}) shows the hidden cards {sorted(view - seen)}",
            )


def _rounds(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    """Check the order of simultaneous choices."""
    random = _random(seed)
    state = game.new_state(options, seed, None)
    while not state.is_terminal():
        choosing = state.choosing
        if choosing:
            _require(
                state.current_player == choosing[0],
                f"current_player is {state.current_player} while the seats {choosing} choose; "
                "expected the first of them",
            )
            views = [state.observation(seat) for seat in choosing[1:]]
        event = state.apply_action(random.choice(state.legal_actions("canonical").actions))
        if not choosing[1:]:
            _require(event is not None, "apply_action() gave no event, and no round is going on")
            continue
        _require(
            event is None and state.choosing == choosing[1:],
            f"after seat {choosing[0]} chose, choosing is {state.choosing} and the event {event}; "
            f"expected {choosing[1:]} and no event before the last choice",
        )
        _require(
            views == [state.observation(seat) for seat in choosing[1:]],
            f"the choice of seat {choosing[0]} changes what the others see before they choose",
        )


def _versions(event: msgspec.Struct | None) -> list[msgspec.Struct]:
    if event is None:
        return []
    return [event.public, *event.own.values()] if isinstance(event, SeatEvents) else [event]


def _named(value: Any, cards: set[str]) -> set[str]:
    """Return the cards that are named anywhere in a message."""
    plain = msgspec.to_builtins(value)
    if isinstance(plain, str):
        return {plain} & cards
    if isinstance(plain, dict):
        plain = list(plain.values())
    if isinstance(plain, list | tuple):
        return set().union(*[_named(one, cards) for one in plain])
    return set()


def _count(zones: Iterable[Zone]) -> Counter[str]:
    return Counter(card for zone in zones for card in zone.cards)


def _hidden(scene: Scene) -> Counter[str]:
    return _count([zone for zone in scene.zones if zone.shown_to != "all"])


def _visible(scene: Scene, seat: int) -> set[str]:
    return {
        *_count(
            [
                zone
                for zone in scene.zones
                if zone.shown_to == "all" or (zone.shown_to == "owner" and zone.seat == seat)
            ]
        )
    }


def _copies(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    random = _random(seed)
    state = game.new_state(options, seed, None)
    for _ in range(random.randrange(8)):
        if not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions("canonical").actions))
    before = state.scene()
    ends = [state.clone().play_out(_random(seed))]
    _require(state.scene() == before, "a copy shares parts with the state that it was made of")
    try:
        pickled = pickle.loads(pickle.dumps(state))  # noqa: S301 - just made
    except Exception as error:
        raise NonconformityError(f"a state cannot be pickled: {error}") from error
    ends += [pickled.play_out(_random(seed)), state.play_out(_random(seed))]
    _require(
        len({(end.places(), end.returns()) for end in ends}) == 1,
        "copies of a state end differently with the same choices",
    )


def _rules(game: Game[Any, Any], options: GameOptions, seed: int) -> None:
    del seed
    for name, field in game.options.model_fields.items():
        _require(field.description, f"the option {name} has no docstring")
        _require(not field.is_required(), f"the option {name} has no default")
    in_force = options.in_force()
    _require(
        type(options).model_validate(in_force).in_force() == in_force,
        "in_force() does not give rules that stand for themselves",
    )


CHECKS = (
    Check("deals end with a place and points for each player", _ends),
    Check("the same seed and actions give the same deal", _repeats),
    Check("listed actions are legal, and the fallback action, too", _lists),
    Check("deals end when all but one stick to one way of playing", _stubborn_ends),
    Check("players who forfeit are last, without points", _forfeits),
    Check("a round of simultaneous choices hides them and ends with one event", _rounds),
    Check("messages survive JSON", _messages),
    Check("no message shows a hidden card", _privacy),
    Check("no observation changes when the hidden cards are others", _resampling),
    Check("copies of a state are independent", _copies),
    Check("every option has a default and a docstring", _rules),
)
