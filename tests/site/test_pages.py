"""The site in a real browser, read from the disk."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from made import HOSTILE, make_results
from msgspec import structs
from site_fixtures import NAMES, write_site
from tourney_runner.publish.charts import rating_plot
from tourney_runner.publish.publish_options import PublishChoices
from tourney_runner.publish.replay_builder import replay_page
from tourney_runner.publish.statistics import History
from tourney_runner.ratings.table import Interval
from tourney_runner.results.records import Decision
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    Look = Callable[..., Page]

PAGES = ("index.html", "charts.html", "meetings.html", "replays.html", "bots/001.html",
         "replays/000001.html")  # fmt: skip


def column(page: Page, number: int) -> list[str]:
    cells = page.locator(f"#standings tbody tr:visible > *:nth-child({number})")
    return [text.strip().partition("\n")[0] for text in cells.all_inner_texts()]


def test_the_ranking_is_in_the_order_of_the_table(look: Look, site: Path) -> None:
    document = json.loads((site / "standings.json").read_text())
    page = look(site / "index.html")
    assert column(page, 2) == [entrant["name"] for entrant in document["entrants"]]


@pytest.mark.parametrize(("heading", "number"), [("points", 10), ("score", 8), ("mean place", 11)])
def test_a_click_on_a_heading_sorts_by_its_numbers(
    look: Look, site: Path, heading: str, number: int
) -> None:
    page = look(site / "index.html")
    button = page.get_by_role("button", name=heading, exact=True)
    orders = []
    for _ in range(2):
        button.click()
        numbers = [text.partition("±")[0].replace(",", "") for text in column(page, number)]
        orders.append([float(text) for text in numbers])
    assert orders[0] == orders[1][::-1] != orders[1]
    assert sorted(orders[0]) in orders
    assert page.locator("th[aria-sort]").count() == 1


def test_names_sort_without_regard_to_case(look: Look, site: Path) -> None:
    page = look(site / "index.html")
    page.get_by_role("button", name="bot", exact=True).click()
    assert column(page, 2) == sorted(NAMES, key=str.casefold)


def test_a_search_leaves_what_matches_and_says_how_many(look: Look, site: Path) -> None:
    page = look(site / "index.html")
    page.get_by_label("Find a bot").fill("RAND")
    assert column(page, 2) == ["random"]
    assert page.locator("#told").inner_text() == f"1 of {len(NAMES)} shown"
    page.get_by_label("Find a bot").fill("")
    assert len(column(page, 2)) == len(NAMES)


@pytest.mark.parametrize("plot", ["rating", "places", "seats", "time"])
def test_every_chart_is_there_with_its_numbers(look: Look, site: Path, plot: str) -> None:
    page = look(site / "charts.html")
    figure = page.locator(f"figure[data-plot={plot}]")
    assert figure.get_by_role("img").get_attribute("aria-label")
    shapes = figure.locator("svg .series rect, svg .series path")
    assert shapes.count() >= 1
    assert shapes.first.bounding_box()["height"] > 0
    numbers = figure.locator("xpath=following-sibling::details[1]")
    numbers.locator("summary").click()
    assert numbers.locator("tbody tr").count() >= len(NAMES)


def test_a_band_of_intervals_follows_each_rating(look: Look, tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES[:4], matches=24, publish={"replays": 0})
    site = write_site(results, tmp_path / "s")
    history = json.loads((site / "tournament.json").read_text())["history"]
    for name, lines in (("bots/002.html", 1), ("charts.html", 4)):
        page = look(site / name, bypass_csp=True)
        figure = page.locator("figure[data-plot=rating]")
        assert figure.locator(".series .line").count() == lines
        assert figure.locator(".series .band").count() == lines
        assert figure.locator(".series text").count() == lines  # the names at the ends
        line, band = (
            figure.locator(f".series .{it}").first.bounding_box() for it in ("line", "band")
        )
        assert line
        assert band
        assert band["y"] < line["y"]
        assert band["y"] + band["height"] > line["y"] + line["height"]
        assert abs(band["x"] - line["x"]) < 10
        found = Axe().run(page, options=AXE)
        assert found.violations_count == 0, found.generate_report()
    known = [at for at, interval in enumerate(history["interval"][1]) if interval is not None]
    assert len(known) > 2
    for at in known:
        low, high = history["interval"][1][at]
        assert low < history["mu"][1][at] < high


@pytest.mark.parametrize("known", [0, 1, 2, 3])
def test_a_short_history_has_a_line_with_a_name(known: int) -> None:
    intervals = (*(None,) * (4 - known), *(Interval(24.0, 28.0 + at) for at in range(known)))
    history = History((0, 40, 80, 90), ((25.0, 26.0, 27.0, 26.5),), (intervals,))
    image = rating_plot(history, [0], ["ada"])
    assert image.count('class="band"') == (known > 1)
    assert image.count(">ada</text>") == 1


def check_square(page: Page, bots: int) -> None:
    rows = [row.locator("td").all_text_contents() for row in page.locator("tbody tr").all()]
    assert [len(row) for row in rows] == [bots] * bots
    for one, row in enumerate(rows):
        for other, text in enumerate(row):
            if found := re.match(r"\d+", text):
                back = re.match(r"\d+", rows[other][one])
                assert back is not None
                assert 99 <= int(found[0]) + int(back[0]) <= 101


def test_who_beat_whom_is_a_square_of_shares(look: Look, site: Path) -> None:
    check_square(look(site / "meetings.html"), len(NAMES))


def test_a_large_field_is_a_map_that_names_the_pair(look: Look, tmp_path: Path) -> None:
    names = [f"bot {number}" for number in range(1, 27)]
    results = make_results(tmp_path / "r", names, matches=26, publish={"replays": 0})
    page = look(write_site(results, tmp_path / "s") / "meetings.html", bypass_csp=True)
    assert page.locator("#map path").count() <= 11
    cells = json.loads(page.locator("#meetings").text_content() or "")["cells"]
    ranked = page.locator("#row option").all_text_contents()
    assert sorted(ranked) == sorted(names)
    deals, percent, error = next(cell for cell in cells[0] if cell)
    other = next(at for at, cell in enumerate(cells[0]) if cell)
    page.get_by_label("against").select_option(ranked[other])
    assert page.locator("#meeting").inner_text() == (
        f"{ranked[0]} finished ahead of {ranked[other]} in {percent} % (± {error})"
        f" of {deals} {'deal' if deals == 1 else 'deals'}."
    )
    assert cells[other][0][1] in {99 - percent, 100 - percent, 101 - percent}
    found = Axe().run(page, options=AXE)
    assert found.violations_count == 0, found.generate_report()


def test_a_bots_page_leads_to_its_best_deal(look: Look, site: Path) -> None:
    page = look(site / "index.html")
    page.get_by_role("link", name="planner").click()
    assert page.locator("h1").inner_text() == "planner"
    page.locator("tbody tr:first-child td:first-child a").first.click()
    assert page.locator("h1").inner_text().startswith("Deal ")
    row = page.locator("#result tbody tr", has_text="planner")
    assert row.locator("td").first.inner_text() == "1"


# Loaded again, the sheets would not come from where the pages may have them.
AXE = {"preload": False, "resultTypes": ["violations"]}
COLOURS = {"light": AXE, "dark": {**AXE, "runOnly": ["color-contrast"]}}
"""Properties to compare: a dark page differs from a light one in nothing else."""


@pytest.mark.parametrize("scheme", COLOURS)
@pytest.mark.parametrize("name", PAGES)
def test_a_screen_reader_finds_its_way(look: Look, site: Path, name: str, scheme: str) -> None:
    page = look(site / name, color_scheme=scheme, bypass_csp=True)
    for summary in page.locator("summary").all():
        summary.click()
    found = Axe().run(page, options=COLOURS[scheme])
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_in_one_direction_only(
    look: Look, site: Path, big_site: Path, name: str
) -> None:
    for folder in (site, big_site):
        page = look(folder / name, viewport={"width": 360, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", COLOURS)
def test_a_wide_table_shows_on_which_side_there_is_more(
    look: Look, site: Path, scheme: str
) -> None:
    page = look(
        site / "meetings.html", viewport={"width": 390, "height": 844}, color_scheme=scheme,
        java_script_enabled=False,
    )  # fmt: skip
    box = page.locator(".wide").first
    place = box.bounding_box()
    assert place

    def colour(away: float) -> bytes:
        """A picture of a spot above the heading's words, so far from the left edge."""
        return page.screenshot(
            clip={"x": place["x"] + away, "y": place["y"] + 5, "width": 2, "height": 2}
        )

    left, right = 3, place["width"] - 5
    plain = colour(left)
    assert colour(right) != plain
    box.evaluate("box => box.scrollLeft = box.scrollWidth")
    assert colour(left) != plain
    assert colour(right) == plain


def test_everything_but_replays_is_there_without_scripts(look: Look, site: Path) -> None:
    page = look(site / "index.html", java_script_enabled=False)
    assert len(column(page, 2)) == len(NAMES)
    page = look(site / "replays" / "000001.html", java_script_enabled=False)
    assert page.locator("#result tbody tr").count() == 4


def test_hostile_names_are_only_text(look: Look, tmp_path: Path) -> None:
    names = (*HOSTILE, "W" * 10_000, "long words " * 1000)
    title = {"title": "<b>Cup</b> " + "x" * 10_000, "logs": "all", "debug": True}
    results = make_results(tmp_path / "r", names, matches=10, forfeits=0, publish=title)
    site = write_site(results, tmp_path / "s")
    page = look(site / "index.html", viewport={"width": 360, "height": 640})
    for name in (*PAGES, *(f"bots/{number:03}.html" for number in range(1, len(names) + 1))):
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
        assert page.evaluate("document.documentElement.scrollHeight") < 20_000, name
        assert page.locator("img[src=x]").count() == 0
        assert "alert(2)" not in "".join(
            script.inner_text() for script in page.locator("script:not([type])").all()
        )
    page.goto((site / "index.html").as_uri())
    shown = page.locator("#standings tbody bdi").all_text_contents()
    # A page cannot hold a control character other than as a replacement of it.
    assert {" ".join(name.split()) for name in HOSTILE} <= {" ".join(it.split()) for it in shown}
    for number in (1, 17):  # those with the longest names sit at the second
        page.goto((site / "replays" / f"{number:06}.html").as_uri())
        page.keyboard.press("End")
        page.get_by_label("cards").select_option("2")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_what_the_organiser_decided_can_be_read(look: Look, tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES, forfeits=2)
    with closing(Store(results / FILE_NAME)) as store:
        deal = store.record(3)
        at = "2026-01-02T10:00:00+00:00"
        store.exchange([deal.key], [deal], reason="the lights <b>went</b> out", at=at)
        again = structs.replace(store.record(7), voids=("the host had no memory left",))
        store.exchange([again.key], [again], reason="a second reason", at=at)
        entrant = NAMES.index("random")
        store.decide(Decision(0, at, "disqualified", entrant, "it looked into others' cards"))
    page = look(write_site(results, tmp_path / "s") / "index.html")
    assert column(page, 2)[-1].split() == ["random", "disqualified"]
    assert column(page, 1)[-1] == "\N{EN DASH}"
    assert "it looked into others' cards" in page.locator("#decisions + ul").inner_text()
    assert "deal 3" in page.locator("#voids + ul").inner_text()
    assert "the lights <b>went</b> out" in page.locator("#voids + ul").inner_text()
    assert "deal 7: the host had no memory left" in page.locator("#voids ~ ul").nth(1).inner_text()
    page.get_by_role("link", name="random", exact=True).first.click()
    assert "it looked into others' cards" in page.locator(".notice").inner_text()
    page.get_by_role("link", name="Replays").click()
    assert "12 of 12 deals" in page.locator(".lead").inner_text()
    page.locator("tr", has_text="does not count").get_by_role("link").first.click()
    assert "counts for no bot" in page.locator(".notice").inner_text()


def test_faults_are_told_in_plain_words(look: Look, site: Path) -> None:
    page = look(site / "index.html")
    row = page.locator("#faults ~ .wide").first.locator("tbody tr")
    assert row.count() == 1
    assert "it ended, or closed its output, instead of answering" in row.inner_text()
    assert "it ended with status 1" in row.inner_text()
    row.get_by_role("link", name="deal 3").click()
    assert "it ended with status 1" in page.locator(".seat .debug").inner_text()


def test_a_fact_is_named_once(look: Look, site: Path) -> None:
    page = look(site / "index.html")
    names = page.locator("#how + dl dt").all_inner_texts()
    values = page.locator("#how + dl dd").all_inner_texts()
    assert "clock" in names
    assert not any(value.startswith(f"{name}:") for name, value in zip(names, values, strict=True))


def test_a_bot_without_author_and_language_has_no_line_for_them(look: Look, tmp_path: Path) -> None:
    results = make_results(tmp_path / "r", NAMES, matches=1, language="")
    page = look(write_site(results, tmp_path / "s") / "index.html")
    assert set(page.locator("#standings .author").all_inner_texts()) == {"Ada"}


def test_the_standings_need_no_scroll_on_a_phone(look: Look, site: Path) -> None:
    page = look(site / "index.html", viewport={"width": 390, "height": 844})
    box = page.locator(".wide").first
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_print_on_a4_shows_all_rows_and_columns(look: Look, site: Path, tmp_path: Path) -> None:
    names = [f"a bot with the long name {number}" for number in range(24)]
    results = make_results(tmp_path / "r", names, matches=60, publish={"replays": 0})
    inside = 794 - 2 * 38
    """Pixels between the usual margins of the paper."""
    for folder, bots in ((site, len(NAMES)), (write_site(results, tmp_path / "s"), 24)):
        page = look(folder / "index.html", viewport={"width": inside, "height": 1000})
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= inside
        assert page.locator("#standings tbody tr:visible").count() == bots
        for part in ("thead th", "tbody tr:last-child td"):
            cells = page.locator(f"#standings {part}").all()
            assert len(cells) == 13
            for cell in cells:
                place = cell.bounding_box()
                assert place
                assert 0 < place["x"] + place["width"] <= inside + 1
        for name in ("meetings.html", "charts.html"):
            page.goto((folder / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= inside, name
        page.emulate_media(media="null")


def test_no_file_is_named_by_a_stranger(tmp_path: Path) -> None:
    site = write_site(make_results(tmp_path / "r", HOSTILE), tmp_path / "s")
    for path in site.rglob("*"):
        assert path.name.isascii()
        assert all(part not in path.name for part in ("alert", "script", "long", "red"))


def test_a_single_replay_needs_nothing_beside_it(look: Look, results: Path, tmp_path: Path) -> None:
    with closing(Store(results / FILE_NAME)) as store:
        page_text = replay_page(store, 3, PublishChoices())
    (tmp_path / "alone.html").write_text(page_text, encoding="utf-8")
    page = look(tmp_path / "alone.html")
    page.keyboard.press("ArrowRight")
    assert page.locator("#move").input_value() == "1"
    assert page.locator(".seat").count() == 4
