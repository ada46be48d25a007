"""The replay viewer, driven as a spectator drives it."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.publish.publish_options import kept_choices
from tourney_runner.publish.replay_builder import replay_page
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page
    from tourney_runner.games.base import Scene
    from tourney_runner.results.records import DealRecord

    Look = Callable[..., Page]


def stored(results: Path, number: int) -> tuple[DealRecord, list[Scene]]:
    """A deal, and the position after each of its moves."""
    with closing(Store(results / FILE_NAME)) as store:
        settings = PlaySettings.of(store.about())
        record = store.record(number)
    return record, [step.state.scene() for step in steps(settings, record)]


def shown_places(page: Page) -> list[int]:
    tags = page.locator(".seat h2").all_inner_texts()
    return [int(match[1]) if (match := re.search(r"place (\d+)", tag)) else 0 for tag in tags]


def shown_hand(page: Page, seat: int) -> list[str]:
    """The cards of a player's hand, as card strings."""
    cards = page.locator(".seat").nth(seat).get_by_label(re.compile("^hand")).locator("li.card")
    return [card_string(text) for text in cards.all_inner_texts()]


def card_string(text: str) -> str:
    rank, _, suit = text.replace("\ufe0e", "").partition("\n")
    if suit == "JK":
        return "JK"
    return {"10": "T"}.get(rank, rank) + dict(zip("♠♣♦♥", "SCDH", strict=True))[suit]


def hands(scene: Scene) -> list[list[str]]:
    zones = {zone.seat: list(zone.cards) for zone in scene.zones if zone.name == "hand"}
    return [zones.get(seat.seat, []) for seat in scene.seats]


@pytest.mark.parametrize("number", [1, 3, 12])
def test_stepping_ends_in_the_position_that_the_results_hold(
    look: Look, site: Path, results: Path, number: int
) -> None:
    record, scenes = stored(results, number)
    page = look(site / "replays" / f"{number:06}.html")
    for move, scene in enumerate(scenes, start=1):
        page.keyboard.press("ArrowRight")
        assert page.locator("#move").input_value() == str(move)
        assert page.locator(".seat.turn").count() == (scene.to_move is not None)
    assert [shown_hand(page, seat) for seat in range(4)] == hands(scenes[-1])
    assert shown_places(page) == list(record.places)
    page.keyboard.press("ArrowRight")
    assert page.locator("#move").input_value() == str(len(scenes))


def test_all_fourteen_hands_are_those_of_the_game(
    look: Look, big_site: Path, big_results: Path
) -> None:
    record, scenes = stored(big_results, 1)
    page = look(big_site / "replays" / "000001.html#move=9".partition("#")[0])
    for move in (1, len(scenes) // 2, len(scenes)):
        page.locator("#move").fill(str(move))
        page.locator("#move").press("Enter")
        assert [shown_hand(page, seat) for seat in range(14)] == hands(scenes[move - 1])
    assert shown_places(page) == list(record.places)


def test_a_link_opens_at_its_move_and_view(look: Look, site: Path, results: Path) -> None:
    _, scenes = stored(results, 1)
    page = look(f"{(site / 'replays' / '000001.html').as_uri()}#move=17&view=2")
    assert page.locator("#move").input_value() == "17"
    assert page.locator("#view").input_value() == "2"
    assert shown_hand(page, 2) == hands(scenes[16])[2]
    assert page.locator(".seat").nth(0).locator(".card:not(.back)").count() == 0
    assert page.locator(".seat").nth(0).locator(".card.back").count() == len(hands(scenes[16])[0])


def test_the_address_follows_the_move(look: Look, site: Path) -> None:
    page = look(site / "replays" / "000001.html")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#move=2")
    page.locator("#view").select_option("1")
    assert page.url.endswith("#move=2&view=1")


def test_nonsense_in_the_address_opens_at_the_start(look: Look, site: Path) -> None:
    page = look(f"{(site / 'replays' / '000001.html').as_uri()}#move=x&view=99")
    assert page.locator("#move").input_value() == "0"
    assert page.locator("#view").input_value() == "all"


def test_keys_jump_to_the_ends_and_back(look: Look, site: Path, results: Path) -> None:
    _, scenes = stored(results, 1)
    page = look(site / "replays" / "000001.html")
    for key, move in (("End", len(scenes)), ("ArrowLeft", len(scenes) - 1), ("Home", 0)):
        page.keyboard.press(key)
        assert page.locator("#move").input_value() == str(move)


def test_space_plays_and_pauses(look: Look, site: Path) -> None:
    page = look(site / "replays" / "000001.html")
    page.locator("#speed").select_option("12")
    page.locator("h1").click()
    page.keyboard.press(" ")
    expect(page.locator("#move")).to_have_value(re.compile("^([3-9]|..)$"))
    assert page.locator("#play").get_attribute("aria-label") == "Pause"
    page.keyboard.press(" ")
    assert page.locator("#play").get_attribute("aria-label") == "Play"


def test_a_click_in_the_list_of_moves_goes_there(look: Look, site: Path) -> None:
    page = look(site / "replays" / "000001.html")
    page.locator("#moves button").nth(5).click()
    assert page.locator("#move").input_value() == "5"
    assert page.locator("#moves [aria-current=step]").inner_text().startswith("5")


def test_players_who_passed_are_marked(look: Look, site: Path, results: Path) -> None:
    _, scenes = stored(results, 1)
    page = look(site / "replays" / "000001.html")
    move = next(
        at for at, scene in enumerate(scenes, 1) if any(it.state == "passed" for it in scene.seats)
    )
    page.locator("#move").fill(str(move))
    page.locator("#move").press("Enter")
    states = [
        "passed" if "passed" in text else "playing"
        for text in page.locator(".seat h2").all_inner_texts()
    ]
    assert states == [
        "passed" if seat.state == "passed" else "playing" for seat in scenes[move - 1].seats
    ]


def test_the_log_names_cards_as_they_are_drawn(look: Look, site: Path, big_site: Path) -> None:
    for folder in (site, big_site):
        page = look(folder / "replays" / "000001.html")
        moves = page.locator("#moves").inner_text()
        assert "10♦" in moves or "10♣" in moves
        assert not re.search(r"\b[2-9TJQKA][SCDH]\b", moves)
        read_out = re.compile(r"\b10 of (spades|hearts|diamonds|clubs)")
        assert page.locator("#moves").get_by_role("button", name=read_out).count() >= 1


def test_a_fault_stands_at_its_move(look: Look, site: Path, results: Path) -> None:
    record, _ = stored(results, 3)
    (fault,) = record.faults
    page = look(f"{(site / 'replays' / '000003.html').as_uri()}#move={fault.move + 1}")
    seat = page.locator(".seat").nth(fault.seat)
    assert "crash" in seat.inner_text()
    assert "it ended with status 1" in seat.inner_text()
    assert "secret.py" not in page.content()


def test_debug_notes_are_shown_where_they_are_published(
    look: Look, big_results: Path, results: Path, tmp_path: Path
) -> None:
    for folder, expected in ((big_results, True), (results, False)):
        with closing(Store(folder / FILE_NAME)) as store:
            text = replay_page(store, 1, kept_choices(store))
        (tmp_path / "one.html").write_text(text, encoding="utf-8")
        page = look(f"{(tmp_path / 'one.html').as_uri()}#move=3")
        assert ("note <b>2</b>" in page.locator("#seats").inner_text()) is expected
