"""The cost of a site: writing it, opening it, watching it.

The bars: a site of 200 bots and 100,000 deals in under 60 s and 60 MB, its standings in at most
200 KB and 8,000 elements, painted first within twice the time of a bare table of the same rows, and
a step of the viewer in under 100 ms. The last three need a chromium and the extra `test`.
Figures with ``_ratio`` are multiples of a JSON round trip of a request in the same run.

The deals are made up, but for those that the site shows, which are played out: nobody waits for
100,000 real ones here. Their results favour the bots with low numbers, as strength would.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from contextlib import closing
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING

import msgspec
from figures import show, yardstick
from tourney_runner.games.registry import game as find_game
from tourney_runner.play.match import dealt
from tourney_runner.play.play_settings import MatchConfig, PlaySettings
from tourney_runner.publish.publish_options import PublishChoices, choose
from tourney_runner.publish.site import Site
from tourney_runner.results.records import DealKey, DealRecord, SeatTime
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.results.tournament_record import (
    Conditions,
    EntrantRecord,
    Schedule,
    Seed,
    TournamentRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CHOICES = PublishChoices(choice="spread")
GAME, PLAYERS = "speahx", 4
CHUNK = 2000


def main() -> None:
    """Make results, write their site, look at it."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--deals", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="leave results and site in this new folder")
    parser.add_argument("--json", action="store_true", help="to compare two versions")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        make_results(folder, arguments.bots, arguments.deals)
        figures = {**written(folder), **drawn(folder / "site")}
    finally:
        if not arguments.keep:
            shutil.rmtree(folder)
    show(figures, as_json=arguments.json)


def written(folder: Path) -> dict[str, float]:
    """Write the site; return the cost of that, and the size."""
    unit = yardstick()
    began, began_cpu = time.perf_counter(), time.process_time()
    with closing(Store(folder / FILE_NAME)) as store:
        deals = store.count()
        Site(store, CHOICES).write(folder / "site")
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    sizes = [path.stat().st_size for path in (folder / "site").rglob("*") if path.is_file()]
    pages = ("index.html", "charts.html", "meetings.html", "bots/001.html")
    return {
        "writing_s": seconds,
        "writing_cpu_s": cpu,
        "writing_a_deal_ratio": cpu * 1e6 / deals / unit,
        "site_mb": sum(sizes) / 1e6,
        "files": len(sizes),
        **{f"{page}_kb": (folder / "site" / page).stat().st_size / 1e3 for page in pages},
    }


def drawn(site: Path) -> dict[str, float]:
    """Draw pages and step through the longest replay in a browser, where there is one."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this part needs it

    path = shutil.which("chromium")
    if path is None:
        return {}
    longest = max((site / "replays").iterdir(), key=lambda it: it.stat().st_size)
    figures = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--disable-gpu", "--disable-dev-shm-usage"]
        )
        page = browser.new_page()
        for name in ("index.html", "meetings.html"):
            page.goto((site / name).as_uri())
            figures[f"{name}_drawn_ms"] = page.evaluate(_PAINTED)
            figures[f"{name}_elements"] = page.evaluate("document.querySelectorAll('*').length")
        page.goto((site / "index.html").as_uri())
        bare = site / "bare.html"
        bare.write_text(page.evaluate(_BARE), encoding="utf-8")
        paints: dict[str, list[float]] = {"index.html": [], "bare.html": []}
        for name in [*paints] * _LOADS:
            opened = browser.new_page()
            opened.goto((site / name).as_uri())
            paints[name].append(opened.evaluate(_FIRST_PAINT))
            opened.close()
        bare.unlink()
        figures["first_paint_of_bare"] = median(paints["index.html"]) / median(paints["bare.html"])
        page.goto(longest.as_uri())
        times = page.evaluate(_STEPS)
        browser.close()
    return {**figures, "step_median_ms": median(times), "step_slowest_ms": max(times)}


_PAINTED = """() => new Promise(resolve => requestAnimationFrame(() => setTimeout(() => resolve(
    performance.now()))))"""
_LOADS = 15
_BARE = """() => "<!doctype html><meta charset=utf-8><title>bare</title><table>" +
    [...document.querySelectorAll("#standings tr")].map(row => "<tr>" +
        [...row.cells].map(cell => "<td>" + new Option(cell.innerText).innerHTML).join("")
    ).join("") + "</table>" """
"""The same rows as text, without styles, scripts and bars."""
_FIRST_PAINT = """() => new Promise(resolve => new PerformanceObserver(
    list => resolve(list.getEntries()[0].startTime)
).observe({ type: "paint", buffered: true }))"""
_STEPS = """async () => {
  const times = [];
  for (let step = 0; step < 300; step += 1) {
    const began = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    document.body.getBoundingClientRect();
    times.push(performance.now() - began);
    await new Promise(resolve => setTimeout(resolve));
  }
  return times;
}"""
"""A step is over when the page has been laid out; painting is another millisecond or two."""


def make_results(folder: Path, bots: int, deals: int) -> None:
    """Return a results file with this many bots and deals."""
    rules = find_game(GAME).options.model_validate({"players": PLAYERS}).in_force()
    settings = PlaySettings(
        game=GAME,
        rules=rules,
        master_seed="benchmark",
        match=MatchConfig(duplicate=PLAYERS),
        max_faults=1,
    )
    about = TournamentRecord(
        name="Benchmark",
        game=GAME,
        rules=rules,
        differing={},
        play=settings.to_store(),
        limits="move 1 s",
        seed=Seed("benchmark", secret=False),
        schedule=Schedule("round-robin", {}, 1),
        rating={"draw_probability": 0.001},
        entrants=tuple(
            EntrantRecord(
                number=number,
                name=f"bot {number + 1}",
                hash=f"{number:064}",
                language="Python",
                author="nobody",
                executable="python",
            )
            for number in range(bots)
        ),
        conditions=Conditions("none", "wall", "benchmark"),
        complete=True,
    )
    with closing(Store(folder / FILE_NAME, create=True)) as store:
        store.begin(about)
        chunk: list[DealRecord] = []
        for record in _records(settings, bots, deals):
            chunk.append(record)
            if len(chunk) == CHUNK:
                store.add(chunk)
                chunk.clear()
        store.add(chunk)


def _records(settings: PlaySettings, bots: int, deals: int) -> Iterator[DealRecord]:
    shown = set(choose(deals, [], CHOICES))
    random = Random(1)  # noqa: S311 - it makes up results
    for number in range(deals):
        match, rotation = divmod(number, PLAYERS)
        seats = random.sample(range(bots), PLAYERS)
        key = DealKey(match // 200, match % 200, rotation)
        if number + 1 in shown:
            yield _played(settings, key, tuple(seats), random)
        else:
            yield _made_up(key, tuple(seats), random)


def _made_up(key: DealKey, seating: tuple[int, ...], random: Random) -> DealRecord:
    order = sorted(range(PLAYERS), key=lambda seat: seating[seat] + random.gauss(0, 60))
    places = [0] * PLAYERS
    for place, seat in enumerate(order, start=1):
        places[seat] = place
    return DealRecord(
        key=key,
        seating=seating,
        start=0,
        moves="made up",
        places=tuple(places),
        points=tuple(float(PLAYERS - place) for place in places),
        times=tuple(
            SeatTime(20, random.randrange(10**6, 10**8), random.randrange(10**6, 10**7))
            for _ in places
        ),
    )


def _played(
    settings: PlaySettings, key: DealKey, seating: tuple[int, ...], random: Random
) -> DealRecord:
    game = find_game(settings.game)
    options = game.options.model_validate(settings.rules)
    start = game.first_start(options, random, duplicate=True)
    state = dealt(settings, key, start)
    codes = []
    while not state.is_terminal():
        action = random.choice(state.legal_actions("canonical").actions)
        codes.append(game.encode(action))
        state.apply_action(action)
    made_up = _made_up(key, seating, random)
    return msgspec.structs.replace(
        made_up,
        start=start,
        moves=" ".join(codes),
        places=state.places(),
        points=state.returns(),
    )


if __name__ == "__main__":
    main()
