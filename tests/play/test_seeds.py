"""All chance comes from the master seed and a place in the schedule, and no seed tells another."""

from __future__ import annotations

from itertools import product

from tourney_runner.play.seeds import BOT_SEED_BITS, bot_seed, deal_seed, match_seed, seed_hash

PLACES = list(product(range(4), range(4), range(4)))


def test_every_deal_of_a_tournament_has_a_seed_of_its_own() -> None:
    assert len({deal_seed("42", *place) for place in PLACES}) == len(PLACES)


def test_every_bot_deal_rotation_and_seat_has_a_seed_of_its_own() -> None:
    seeds = {
        bot_seed("42", bot, place, seat)
        for bot in ("random", "random-2")
        for place in PLACES
        for seat in range(4)
    }
    assert len(seeds) == 2 * 4 * len(PLACES)
    assert all(0 <= seed < 2**BOT_SEED_BITS for seed in seeds)


def test_no_bit_of_a_bot_s_seed_follows_a_bit_of_the_deal_s() -> None:
    # Of 2000 pairs of independent fair bits, 1000 agree, give or take 22; 1150 would be absurd.
    trials = 2000
    pairs = [
        (deal_seed("42", number, 0, 0) >> 76, bot_seed("42", "random", (number, 0, 0), 0))
        for number in range(trials)
    ]
    for deal_bit, bot_bit in product(range(0, 52, 5), range(0, 52, 5)):
        agree = sum(deal >> deal_bit & 1 == bot >> bot_bit & 1 for deal, bot in pairs)
        assert 850 < agree < 1150


def test_another_master_seed_changes_everything() -> None:
    assert deal_seed("1", 0, 0, 0) != deal_seed("2", 0, 0, 0)
    assert match_seed("1", 0, 0) != match_seed("2", 0, 0)
    assert bot_seed("1", "a", (0, 0, 0), 0) != bot_seed("2", "a", (0, 0, 0), 0)
    assert seed_hash("1") != seed_hash("2")


def test_names_and_numbers_cannot_be_mixed_up() -> None:
    assert bot_seed("1", "a", (1, 11, 0), 0) != bot_seed("1", "a", (11, 1, 0), 0)
    assert deal_seed("1", 1, 11, 0) != deal_seed("1", 11, 1, 0)
    assert deal_seed("1", 0, 0, 0) != match_seed("1", 0, 0)
