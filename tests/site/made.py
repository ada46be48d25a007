"""Results of tournaments that nobody had to wait for: real deals, played at random."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from tourney_runner.games.registry import game as find_game
from tourney_runner.play.match import dealt
from tourney_runner.play.play_settings import MatchConfig, PlaySettings
from tourney_runner.results.records import DealKey, DealRecord, FaultRecord, SeatTime
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import (
    Conditions,
    EntrantRecord,
    Schedule,
    Seed,
    TournamentRecord,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["HOSTILE", "SEED", "make_results", "play_deal"]

SEED = "a-master-seed-that-nobody-may-see"

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    '" onmouseover="alert(3)',
    "=HYPERLINK(0)|[x](javascript:1)",
    "\u202egnirts\u2066",
    "\\input{x} & $y$ % {{ 7 * 7 }}",
    "\x1b[31mred\x1b[0m",
    "long " * 40,
)


def settings_for(game: str, rules: dict[str, Any], *, duplicate: int = 2) -> PlaySettings:
    options = find_game(game).options.model_validate(rules).in_force()
    return PlaySettings(
        game=game,
        rules=options,
        master_seed=SEED,
        match=MatchConfig(duplicate=duplicate),
        max_faults=1,
    )


def play_deal(
    settings: PlaySettings, key: DealKey, seating: Sequence[int], *, forfeits: int | None = None
) -> DealRecord:
    """A deal that its players play at random; a bot may fail at its first turn."""
    game = find_game(settings.game)
    random = Random(str(key))
    options = game.options.model_validate(settings.rules)
    start = game.first_start(options, lambda: 1, duplicate=True)
    state = dealt(settings, key, start)
    codes: list[str] = []
    moves = [0] * state.players
    faults: list[FaultRecord] = []
    debug: list[tuple[int, int, str]] = []
    while not state.is_terminal():
        seat = state.current_player
        if seat == forfeits and not faults:
            faults.append(
                FaultRecord(seat, seating[seat], "crash", len(codes), "it ended with status 1",
                            answer="half an answ",
                            stderr="Traceback (most recent call last):\n  /home/ada/secret.py\n")
            )  # fmt: skip
            codes.append(f"!{seat}")
            state.forfeit(seat)
            continue
        action = random.choice(state.legal_actions("canonical").actions)
        debug.append((len(codes), seat, f"note <b>{len(codes)}</b>"))
        codes.append(game.encode(action))
        state.apply_action(action)
        moves[seat] += 1
    return DealRecord(
        key=key,
        seating=tuple(seating),
        start=start,
        moves=" ".join(codes),
        places=state.places(),
        points=state.returns(),
        times=tuple(SeatTime(count, count * 3_000_000, 9_000_000) for count in moves),
        faults=tuple(faults),
        debug=tuple(debug),
    )


def make_results(
    folder: Path,
    names: Sequence[str],
    *,
    game: str = "tienlen",
    rules: dict[str, Any] | None = None,
    matches: int = 6,
    complete: bool = True,
    secret: bool = False,
    forfeits: int | None = None,
    publish: dict[str, Any] | None = None,
    language: str = "Python",
) -> Path:
    """A folder of results, as a run leaves it, but for tables and pages."""
    settings = settings_for(game, rules or {"players": 4})
    players = settings.rules["players"]
    record = TournamentRecord(
        name="A made tournament",
        game=game,
        rules=settings.rules,
        differing={},
        play=settings.to_store(),
        limits="move 1 s",
        seed=Seed(SEED, secret),
        schedule=Schedule("round-robin", {}, 1),
        rating={"draw_probability": 0.001},
        entrants=tuple(
            EntrantRecord(
                number=number,
                name=name,
                hash=f"{number:064}",
                language=language,
                author="Ada",
                executable="/opt/hidden/python",
            )
            for number, name in enumerate(names)
        ),
        conditions=Conditions("none", "wall", "0"),
        publish=publish or {},
        began="2026-01-01T10:00:00+00:00",
        ended="2026-01-01T11:00:00+00:00",
        complete=complete,
    )
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder / FILE_NAME, create=True)
    store.begin(record)
    records = []
    for match in range(matches):
        for rotation in range(2):
            seating = [(match + rotation + seat) % len(names) for seat in range(players)]
            key = DealKey(0, match, rotation)
            failing = forfeits if match == 1 and rotation == 0 else None
            records.append(play_deal(settings, key, seating, forfeits=failing))
    store.add(records)
    store.close()
    return folder
