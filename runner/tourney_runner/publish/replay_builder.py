"""Replays: stored deals as frames for the viewer, one after each move, and as a single page.

The program plays the deal again and records each scene; the viewer only draws. Consecutive frames
share nearly everything, so zones and seats are listed once and frames refer to them by number.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from markupsafe import Markup

from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match import dealt
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.publish.provenance import game_title, published
from tourney_runner.publish.publish_options import fault_text
from tourney_runner.publish.rendering import asset, embedded, environment, single_file_policy
from tourney_runner.results.rulings import disqualified

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tourney_runner.games.base import Scene, SeatView, Zone
    from tourney_runner.publish.publish_options import PublishChoices
    from tourney_runner.results.records import DealRecord
    from tourney_runner.results.store import Store

__all__ = ["Caption", "Frame", "Player", "Replay", "ReplayBuilder", "ranked_players", "replay_page"]


class Player(msgspec.Struct, frozen=True):
    """A player of a replay, with its result."""

    name: str
    link: str
    """The bot's page relative to the replay's; empty if there is none."""
    place: int
    points: float
    moves: int
    milliseconds: float
    """All the time that the bot used."""


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """A frame of a replay."""

    log: str
    """A description of the last event; players are named ``seat 2``."""
    actor: int | None
    """The seat that acted."""
    to_move: int | None
    zones: tuple[int, ...]
    """Indices into `Replay.zones`, in drawing order."""
    seats: tuple[int, ...]
    """Indices into `Replay.seats`, by seat."""
    gone: str
    """Cards that have just left the deal."""
    fallback: bool
    """Whether the move was played for a bot that had failed."""


class Caption(msgspec.Struct, frozen=True):
    """A debug note or a fault that belongs to a move."""

    frame: int
    """The frame after the move."""
    seat: int
    kind: str
    """``debug``, or the kind of a fault."""
    text: str


class Replay(msgspec.Struct, frozen=True):
    """A deal, prepared for the viewer."""

    number: int
    """In schedule order, from 1."""
    round: int
    match: int
    deal: int
    """The round, the match and the deal all count from 1."""
    players: tuple[Player, ...]
    zones: tuple[tuple[str, str, int | None, str, str, str], ...]
    """All distinct zones: name, cards separated by spaces, seat, shown_to, layout, note."""
    seats: tuple[tuple[int, str, int | None, str], ...]
    """All distinct seats: cards, state, place, note."""
    frames: tuple[Frame, ...]
    """The first shows the cards as they were dealt, followed by one for each move or forfeit."""
    notes: tuple[Caption, ...]


@dataclass(frozen=True)
class ReplayBuilder:
    """A builder of replays from the stored deals of one tournament."""

    settings: PlaySettings
    names: Sequence[str]
    """The entrants' names, by number."""
    choices: PublishChoices
    """The parts of faults and debug notes that may be shown."""
    links: Sequence[str] = ()
    """The entrants' pages, by number; empty for a replay in a single file."""

    def film(self, number: int, record: DealRecord) -> Replay:
        """Return the replay of a deal, by its number in schedule order, from 1.

        Raises:
            ValueError: The record is not a deal of these rules.
        """
        reel = _Reel()
        for shot in _shots(self.settings, record):
            reel.add(shot)
        return Replay(
            number=number,
            round=record.key.round + 1,
            match=record.key.match + 1,
            deal=record.key.deal + 1,
            players=tuple(self._players(record)),
            zones=tuple(reel.zones),
            seats=tuple(reel.seats),
            frames=tuple(reel.frames),
            notes=tuple(sorted(_captions(record, self.choices), key=lambda it: it.frame)),
        )

    def _players(self, record: DealRecord) -> Iterator[Player]:
        for seat, entrant in enumerate(record.seating):
            yield Player(
                name=self.names[entrant],
                link=self.links[entrant] if self.links else "",
                place=record.places[seat],
                points=record.points[seat],
                moves=record.times[seat].moves,
                milliseconds=record.times[seat].total / 1e6,
            )


def ranked_players(film: Replay) -> list[tuple[int, Player]]:
    """Return seats and players by place."""
    return sorted(enumerate(film.players), key=lambda pair: (pair[1].place, pair[0]))


class _Shot(NamedTuple):
    log: str
    actor: int | None
    fallback: bool
    scene: Scene


def _shots(settings: PlaySettings, record: DealRecord) -> Iterator[_Shot]:
    start = dealt(settings, record.key, record.start)
    yield _Shot(start.opening(), None, fallback=False, scene=start.scene())
    for step in steps(settings, record):
        log = step.log()
        yield _Shot(log, step.seat, step.fallback, step.state.scene())


class _Reel:
    """A collection of frames with their zones and seats, each stored once."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.zones: dict[tuple[str, str, int | None, str, str, str], int] = {}
        self.seats: dict[tuple[int, str, int | None, str], int] = {}
        self._cards: Counter[str] = Counter()

    def add(self, shot: _Shot) -> None:
        """Append a frame."""
        scene = shot.scene
        cards = Counter(chain.from_iterable(zone.cards for zone in scene.zones))
        gone = self._cards - cards
        self._cards = cards
        self.frames.append(
            Frame(
                log=shot.log,
                actor=shot.actor,
                to_move=scene.to_move,
                zones=tuple(self._zone(zone) for zone in scene.zones),
                seats=tuple(self._seat(seat) for seat in scene.seats),
                gone=" ".join(gone.elements()),
                fallback=shot.fallback,
            )
        )

    def _zone(self, zone: Zone) -> int:
        cards = " ".join(zone.cards)
        shown = (zone.name, cards, zone.seat, zone.shown_to, zone.layout, zone.note)
        return self.zones.setdefault(shown, len(self.zones))

    def _seat(self, seat: SeatView) -> int:
        shown = (seat.cards, seat.state, seat.place, seat.note)
        return self.seats.setdefault(shown, len(self.seats))


def _captions(record: DealRecord, choices: PublishChoices) -> Iterator[Caption]:
    # A forfeit that is not part of a move is shown with the last one.
    last = len(record.moves.split())
    for fault in record.faults:
        frame = min(fault.move + 1, last)
        yield Caption(frame, fault.seat, fault.kind, fault_text(fault, choices.logs))
    if choices.debug:
        for move, seat, text in record.debug:
            yield Caption(min(move + 1, last), seat, "debug", published(text))


def replay_page(store: Store, number: int, choices: PublishChoices) -> str:
    """Return a page that contains its style, its script and its deal.

    Args:
        store: The results.
        number: The number of the deal in schedule order, from 1.
        choices: The choices for published pages.

    Raises:
        UsageError: There is no such deal.
    """
    about = store.about()
    settings = PlaySettings.of(store.about())
    names = [entrant.name for entrant in about.entrants]
    record = store.record(number)
    film = ReplayBuilder(settings, names, choices).film(number, record)
    out = disqualified(store)
    script = asset("viewer.js")
    return (
        environment()
        .get_template("replay.html")
        .render(
            title=choices.title or about.name,
            game=game_title(about.game),
            version=about.conditions.version,
            state="",
            description=f"{game_title(about.game)}: deal {number}, move by move",
            base="",
            here="",
            url=None,
            policy=single_file_policy([script]),
            inline={"style": Markup(asset("style.css")), "script": Markup(script)},  # noqa: S704
            film=film,
            data=embedded(film),
            result=ranked_players(film),
            rotated=bool(settings.match.duplicate),
            uncounted=[names[entrant] for entrant in record.seating if entrant in out],
            before="",
            after="",
        )
    )
