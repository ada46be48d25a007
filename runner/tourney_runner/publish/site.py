"""The published site: self-contained pages that work without a server or network."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec

from tourney_runner.atomic_write import write_changed, write_whole
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.publish import charts
from tourney_runner.publish.charts import badge, meetings_map
from tourney_runner.publish.columns import columns
from tourney_runner.publish.events import FEED, write_feed
from tourney_runner.publish.provenance import (
    fact_rows,
    game_title,
    last_day,
    recipe,
    schedule_words,
)
from tourney_runner.publish.publish_options import choose
from tourney_runner.publish.rendering import (
    ASSETS,
    SITE_POLICY,
    asset,
    embedded,
    environment,
)
from tourney_runner.publish.replay_builder import ReplayBuilder, ranked_players
from tourney_runner.publish.result_files import output_format
from tourney_runner.publish.site_document import site_document
from tourney_runner.publish.site_folder import MARKER, claim
from tourney_runner.publish.statistics import gather, rows, troubles
from tourney_runner.publish.summary import groups, result_box, summarise
from tourney_runner.publish.tables import FORMATS, claims, standings_document
from tourney_runner.text import counted, ordinal, utc_now, without_controls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tourney_runner.publish.publish_options import PublishChoices
    from tourney_runner.publish.replay_builder import Replay
    from tourney_runner.publish.statistics import BotResults, Row
    from tourney_runner.results.store import Store

__all__ = ["Site"]

_MENU = (
    ("Standings", "index.html"),
    ("Rounds", "rounds.html"),
    ("Charts", "charts.html"),
    ("Head to head", "meetings.html"),
    ("Replays", "replays.html"),
)


_DOCUMENT = "tournament.json"
"""Everything that the pages show, for programs."""
_ROUNDS = "rounds.html"
"""The page of rounds; only for formats that show them."""


class _Listed(msgspec.Struct, frozen=True):
    """An entry in the list of replays."""

    number: int
    round: int
    match: int
    deal: int
    moves: int
    page: str
    names: tuple[str, ...]
    """The winner first."""
    faults: tuple[str, ...]
    """The kinds of faults that occurred."""
    uncounted: bool
    """Whether a disqualified bot took part."""


class Site:
    """The pages of one tournament.

    Args:
        store: The results.
        choices: The choices for published pages.
    """

    def __init__(self, store: Store, choices: PublishChoices) -> None:
        table, self._gathered = gather(store, choices)
        self.summary = summary = summarise(store, table)
        """The tournament and its table."""
        self._store = store
        self._choices = choices
        self._settings = PlaySettings.of(store.about())
        self._rows = rows(summary, self._gathered.bots)
        self._placed = [row for row in self._rows if not row.is_out]
        self._ranked = sum(row.is_ranked for row in self._rows)
        ranked = [self._gathered.bots[row.number] for row in self._rows]
        self._stored = store.count()
        chosen = choose(self._stored, ranked, choices)
        self._watchable = {number: f"replays/{number:06}.html" for number in chosen}
        pages = list(self._watchable.values())
        neighbours = zip(chosen, ["", *pages], [*pages[1:], ""], strict=False)
        self._beside = {number: (before, after) for number, before, after in neighbours}
        """The pages before and after a deal's page."""
        self._game = game_title(summary.facts.game)
        self._facts = fact_rows(summary)
        self._recipe = recipe(summary)

    def write(self, folder: Path) -> None:
        """Write all pages, and remove those of an earlier, larger site.

        Raises:
            UsageError: The folder holds other files, or cannot be read or written.
            RunError: The disk fails.
        """
        claim(folder, ("assets", "bots", "badges", "replays"))
        for name in ASSETS:
            write_changed(folder / "assets" / name, asset(name))
        written = {file for name, text in self.pages() if (file := _put(folder, name, text))}
        for name in ("bots", "badges", "replays"):
            for old in set((folder / name).glob("[0-9]*.*")) - written:
                old.unlink(missing_ok=True)
        if not self._gathered.rounds:
            (folder / _ROUNDS).unlink(missing_ok=True)
        (folder / "pictures.html").unlink(missing_ok=True)  # the name of charts.html in 0.1.0
        write_feed(folder, self._store, self._title(), self._choices.url)
        marker = {
            "made": utc_now(),
            "deals": self.summary.deals,
            "complete": self.summary.complete,
            "format": output_format(),
            "choices": msgspec.to_builtins(self._choices),
        }
        write_whole(folder / MARKER, json.dumps(marker) + "\n")

    def front(self, base: str) -> str:
        """Return the start page for a folder from which the site is at `base`."""
        plot = self._rating_plot() if self.summary.deals else ""
        return self._page(
            "index.html",
            base=base,
            schedule=schedule_words(self.summary.facts),
            date=last_day(self.summary.facts),
            live=self._choices.live,
            facts=self._facts,
            recipe=self._recipe,
            plot=plot,
            lines=charts.LINES,
            names=self._line_names(),
            columns=[column for column in columns(self.summary) if column.on_site],
            notes=claims(self.summary),
            result=result_box(self.summary),
            groups=groups(self.summary),
            troubles=list(troubles(self._rows, self._gathered.bots)),
            on_fault=self._settings.on_fault,
            voids=[(void, self._store.number(void.key)) for void in self.summary.voids],
            spoilt=self._gathered.spoilt,
            cut_short=self._gathered.cut_short,
            max_moves=self._settings.max_moves,
            tables=[
                *((title, file) for title, file, _ in FORMATS),
                ("everything as JSON", _DOCUMENT),
            ],
        )

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield names and texts of pages, the start page last, so that its links always work."""
        yield from self._tables()
        yield _DOCUMENT, self._document()
        yield from self._bots()
        listed = []
        for film, record_faults in self._films():
            page = self._watchable[film.number]
            uncounted = self._uncounted(film)
            listed.append(_listed(film, page, record_faults, uncounted=bool(uncounted)))
            yield page, self._replay(film, uncounted)
        yield "replays.html", self._page("replays.html", listed=listed, stored=self._stored)
        yield "meetings.html", self._meetings()
        if self._gathered.rounds:
            yield (
                _ROUNDS,
                self._page(
                    _ROUNDS,
                    bracket=self.summary.last_table_decides,
                    rounds=self._gathered.rounds,
                    by_number=self._by_number(),
                ),
            )
        yield "charts.html", self._charts()
        yield "index.html", self.front("")

    def _page(self, template: str, *, base: str = "", here: str = "", **context: Any) -> str:
        return (
            environment()
            .get_template(template)
            .render(
                title=self._title(),
                feed=FEED,
                url=self._choices.url,
                summary=self.summary,
                game=self._game,
                version=self.summary.facts.conditions.version,
                state=self._state(),
                description=self._description(),
                rows=self._rows,
                placed=self._placed,
                ranked=self._ranked,
                rotated=bool(self._settings.match.duplicate),
                base=base,
                menu=[entry for entry in _MENU if entry[1] != _ROUNDS or self._gathered.rounds],
                here=here or template,
                policy=SITE_POLICY,
                inline=None,
                watchable=self._watchable,
                **context,
            )
        )

    def _title(self) -> str:
        return self._choices.title or self.summary.facts.name

    def _description(self) -> str:
        """Return one line for search engines and link previews."""
        head = f"{self._game}, {counted(len(self._placed), 'bot')}{self._state()}"
        first = next((row for row in self._rows if row.is_ranked), None)
        if first is None or not self.summary.deals:
            return head
        return f"{head}. {without_controls(first.standing.name)} leads the ranking."

    def _state(self) -> str:
        so_far = "" if self.summary.complete else " so far"
        return f", {counted(self.summary.deals, 'deal')}{so_far}"

    def _tables(self) -> Iterator[tuple[str, str]]:
        for _, file, write in FORMATS:
            yield file, write(self.summary)

    def _document(self) -> str:
        document = site_document(
            self.summary,
            standings_document(self.summary),
            self._gathered,
            self._title(),
            self._choices.url,
        )
        return msgspec.json.encode(document).decode() + "\n"

    def _bots(self) -> Iterator[tuple[str, str]]:
        title = self._title()
        for row in self._rows:
            results = self._gathered.bots[row.number]
            yield row.badge, badge(title, row, self._ranked)
            yield (
                row.page,
                self._page(
                    "bot.html",
                    base="../",
                    row=row,
                    entrant=self.summary.facts.entrants[row.number],
                    results=results,
                    notable=list(zip_longest(results.best, results.worst, results.slowest)),
                    plot=charts.rating_plot(
                        self._gathered.history, [row.number], [row.standing.name]
                    )
                    if row.standing.deals
                    else "",
                ),
            )

    def _films(self) -> Iterator[tuple[Replay, tuple[str, ...]]]:
        by_number = sorted(self._rows, key=lambda row: row.number)
        camera = ReplayBuilder(
            self._settings,
            [row.standing.name for row in by_number],
            self._choices,
            [row.page for row in by_number],
        )
        left = len(self._watchable)
        for number, record in enumerate(self._store.records(), start=1):
            if number in self._watchable:
                played = (fault for fault in record.faults if not fault.unplayed)
                kinds = tuple(dict.fromkeys(fault.kind for fault in played))
                yield camera.film(number, record), kinds
                left -= 1
            if not left:
                return

    def _uncounted(self, film: Replay) -> list[str]:
        """Return the disqualified players because of whom a deal does not count."""
        out = {row.standing.name for row in self._rows if row.is_out}
        return [player.name for player in film.players if player.name in out]

    def _replay(self, film: Replay, uncounted: list[str]) -> str:
        before, after = self._beside[film.number]
        return self._page(
            "replay.html",
            base="../",
            film=film,
            data=embedded(film),
            result=ranked_players(film),
            uncounted=uncounted,
            before=before,
            after=after,
        )

    def _by_number(self) -> dict[int, Row]:
        return {row.number: row for row in self._rows}

    def _meetings(self) -> str:
        bots = self._gathered.bots
        return self._page("meetings.html", bots=bots, map=meetings_map(self._placed, bots))

    def _charts(self) -> str:
        first = self._placed[: charts.ROWS]
        names = [row.standing.name for row in first]
        bots = self._gathered.bots
        players = self.summary.facts.rules["players"]
        seat_means = [_seat_mean(bots, seat) for seat in range(players)]
        drawn = {
            "rating": self._rating_plot(),
            "places": charts.places_plot(names, [row.standing.places for row in first]),
            "seats": charts.seats_plot(seat_means),
            "time": charts.time_plot(names, [bots[row.number].time for row in first]),
        }
        return self._page(
            "charts.html",
            plots=drawn,
            bots=bots,
            lines=charts.LINES,
            names=self._line_names(),
            ordinals=[ordinal(place + 1) for place in range(players)],
            bars=charts.ROWS,
            marks=self._marks(),
            endings=self._gathered.endings,
            players=players,
            seat_means=seat_means,
        )

    def _rating_plot(self) -> str:
        best = [row.number for row in self._placed[: charts.LINES]]
        return charts.rating_plot(self._gathered.history, best, self._line_names())

    def _line_names(self) -> list[str]:
        return [row.standing.name for row in self._placed[: charts.LINES]]

    def _marks(self) -> list[dict[str, Any]]:
        """Return about a dozen columns of the history."""
        history = self._gathered.history
        step = max(1, (len(history.deals) - 1) // 12)
        kept = sorted({*range(0, len(history.deals), step), len(history.deals) - 1})
        return [
            {"deals": history.deals[at], "mu": [line[at] for line in history.mu]} for at in kept
        ]


def _put(folder: Path, name: str, text: str) -> Path:
    """Write a page unless it is there already."""
    path = folder / name
    write_changed(path, text)
    return path


def _listed(film: Replay, page: str, faults: tuple[str, ...], *, uncounted: bool) -> _Listed:
    return _Listed(
        number=film.number,
        round=film.round,
        match=film.match,
        deal=film.deal,
        moves=len(film.frames) - 1,
        page=page,
        names=tuple(player.name for _, player in ranked_players(film)),
        faults=faults,
        uncounted=uncounted,
    )


def _seat_mean(bots: tuple[BotResults, ...], seat: int) -> float | None:
    """Return the mean place of all bots in a seat."""
    played = [bot.seats[seat] for bot in bots if bot.seats[seat].deals]
    deals = sum(result.deals for result in played)
    return sum((it.mean_place or 0) * it.deals for it in played) / deals if deals else None
