"""Bots that work out legal plays by themselves: right ones in several styles, and wrong ones.

They share no code with the games. A wrong bot has one rule that is named in `wrong`.
"""

from __future__ import annotations

from itertools import combinations, permutations, product
from random import Random
from typing import Any

__all__ = ["STYLES", "SpeahxBot", "TienlenBot"]

STYLES = ("lowest", "longest", "highest", "chance", "counting")
"""Ways to choose a play; the last one remembers earlier turns."""

Answer = dict[str, Any]
RANKS = "3456789TJQKA2"


class _Bot:
    def __init__(self, style: str, wrong: str = "") -> None:
        self.style = style
        self.wrong = wrong
        self.rules: dict[str, Any] = {}
        self.seen: list[str] = []
        self.dealt: list[str] = []

    def tell(self, message: dict[str, Any]) -> Answer | None:
        """Take a message, and give the answer if it wants one."""
        if message["type"] == "hello":
            self.rules = message["rules"]
        elif message["type"] == "deal":
            self.seen = [*message["hand"]]
            self.dealt = [*message["hand"]]
            self.chance = Random(message["seed"])
        elif message["type"] == "move":
            for event in message["events"]:
                self.seen += event.get("play") or ()
            answer = self.choose(message["view"])
            return {"id": message["id"], **answer}
        return None

    def choose(self, view: dict[str, Any]) -> Answer:
        raise NotImplementedError

    def _pick(self, plays: list[Any], strength: Any) -> Any:
        if self.style == "chance":
            return self.chance.choice(plays)
        if self.style == "longest":
            return max(plays, key=lambda play: (len(play), [-it for it in strength(play)]))
        if self.style == "highest":
            return max(plays, key=strength)
        if self.style == "counting":  # whatever most of has been seen
            return max(plays, key=lambda play: sum(card[0] == play[0][0] for card in self.seen))
        return min(plays, key=strength)


class TienlenBot(_Bot):
    def choose(self, view: dict[str, Any]) -> Answer:
        plays = self._plays(view)
        if not plays or (self.wrong == "passes with high cards" and all(
            card[0] in "KA2" for card in view["hand"]
        )):  # fmt: skip
            return {"pass": True}
        if self.wrong == "passes when it leads" and self.chance.random() < 0.2:
            return {"pass": True}
        return {"play": list(self._pick(plays, lambda play: sorted(map(self._value, play))))}

    def _value(self, card: str) -> int:
        suits = "SDCH" if self.wrong == "suits in another order" else "SCDH"
        ranks = "23456789TJQKA" if self.wrong == "2s are the lowest cards" else RANKS
        if self.wrong == "suits before ranks":
            return ranks.index(card[0]) + 13 * suits.index(card[1])
        return 4 * ranks.index(card[0]) + suits.index(card[1])

    def _plays(self, view: dict[str, Any]) -> list[tuple[str, ...]]:
        table, must = view["table"], view["must_play"]
        if self.wrong == "no lowest card first":
            must = None
        hand = self.dealt if self.wrong == "plays what it has laid" else view["hand"]
        found = [play for play in self._combinations(hand) if not must or must in play]
        if table is None:
            bombs_lead = self.rules["bombs_may_lead"] or self.wrong == "bombs always lead"
            return [play for play in found if bombs_lead or not _is_bomb(self._kind(play))]
        return [play for play in found if self._beats(play, table["cards"])]

    def _combinations(self, hand: list[str]) -> list[tuple[str, ...]]:
        held = [[card for card in hand if card[0] == rank] for rank in RANKS]
        found = [
            play for cards in held for size in range(1, 5) for play in combinations(cards, size)
        ]
        ranks = 13 if self.wrong in ("2s in sequences", "2s in double sequences") else 12
        for each, least in ((1, 3), (2, 2 if self.wrong == "two pairs" else 3)):
            last = 12 if each == 1 and self.wrong == "2s in double sequences" else ranks
            last = 12 if each == 2 and self.wrong == "2s in sequences" else last
            for low, high in combinations(range(last + 1), 2):
                run = held[low:high]
                if high - low >= least and all(len(cards) >= each for cards in run):
                    below = sum((tuple(cards[:each]) for cards in run[:-1]), ())
                    found += [below + top for top in combinations(run[-1], each)]
        if self.wrong == "round the corner" and all(map(len, (held[12], held[0], held[1]))):
            found.append((held[0][0], held[1][0], held[12][0]))
        found += self._other_games(held)
        if self.wrong == "full houses":
            found += [
                (*three[:3], *two[:2])
                for three, two in product(held, held)
                if len(three) >= 3 and len(two) >= 2 and three is not two
            ]
        return found

    def _other_games(self, held: list[list[str]]) -> list[tuple[str, ...]]:
        """The part of the interface that this game lacks."""
        found: list[tuple[str, ...]] = []
        for low in range(10):
            three = held[low : low + 3]
            if self.wrong == "gaps in sequences" and low < 9 and held[low] and held[low + 1]:
                found += [(held[low][0], held[low + 1][0], top) for top in held[low + 3]]
            if self.wrong == "a rank twice in a sequence" and all(three) and len(three[1]) > 1:
                found.append((three[0][0], *three[1][:2], three[2][0]))
            if self.wrong == "triple sequences" and all(len(cards) >= 3 for cards in three[:2]):
                found.append((*three[0][:3], *three[1][:3]))
        for four, other in product(held, held):
            if self.wrong == "four of a kind with a single" and len(four) == 4 and four != other:
                found += [(*four, card) for card in other]
        for suit in "SCDH" if self.wrong == "flushes" else "":
            found += combinations([card for cards in held for card in cards if card[1] == suit], 5)
        return found

    def _kind(self, play: Any) -> tuple[str, int]:
        ranks = {card[0] for card in play}
        if len(ranks) == 1:
            return "set", len(play)
        if len(ranks) == len(play):
            return "seq", len(play)
        return ("dseq", len(ranks)) if len(play) == 2 * len(ranks) else ("full", 5)

    # One line for each wrong rule:
    def _beats(self, play: Any, laid: list[str]) -> bool:  # noqa: PLR0911
        ours, theirs = self._kind(play), self._kind(laid)
        if self.wrong == "compares the lowest cards" and ours == theirs:
            return min(map(self._value, play)) > min(map(self._value, laid))
        if self.wrong == "more of a kind" and ours[0] == theirs[0] == "set":
            return len(play) >= len(laid) and play[0][0] != "2" and self._value(play[0]) > max(
                map(self._value, laid)
            )  # fmt: skip
        top, bar = max(map(self._value, play)), max(map(self._value, laid))
        if self.wrong == "equal ranks beat each other" and play[-1][0] == laid[-1][0]:
            bar = top - 1
        higher = top > bar
        ties = self.rules["equal_rank_sets"] == "tie" and self.wrong != "overlooks ties"
        if ties and ours[0] == "set" and 2 <= len(play) <= 4:
            higher = top >> 2 > bar >> 2
        if ours == theirs and higher:
            return True
        if self.wrong == "longer sequences beat shorter" and ours[0] == theirs[0] == "seq":
            return higher and len(play) >= len(laid)
        if self.wrong == "shorter sequences beat longer" and ours[0] == theirs[0] == "seq":
            return higher and len(play) <= len(laid)
        if self.wrong == "a 2 beats everything" and len(play) == 1 and play[0][0] == "2":
            return laid[0][0] != "2"
        if not _is_bomb(ours) or (self.wrong == "two pairs" and ours == ("dseq", 2)):
            return False
        return self._bomb_beats(ours, theirs, twos=len(laid) if laid[0][0] == "2" else 0)

    def _bomb_beats(self, ours: tuple[str, int], theirs: tuple[str, int], *, twos: int) -> bool:
        pairs = ours[1] if ours[0] == "dseq" else 0
        if twos:
            quad = (1, 2) if self.rules["quad_beats_pair_of_twos"] else (1,)
            if self.wrong == "four of a kind on two 2s":
                quad = (1, 2)
            need = {1: 3, 2: 4, 3: 5, 4: 99}[twos]
            if self.wrong == "three pairs on two 2s" and twos == 2:
                need = 3
            if self.wrong == "four pairs on three 2s" and twos == 3:
                need = 4
            return pairs >= need or (not pairs and twos in quad)
        if self.wrong == "bombs on everything":
            return True
        if not _is_bomb(theirs):
            return False
        if self.wrong == "four of a kind beats three pairs" and theirs == ("dseq", 3):
            return ours == ("set", 4)
        below = theirs[1] if theirs[0] == "dseq" else 0
        if self.rules["bomb_hierarchy"] == "southern" or self.wrong == "southern bombs":
            rank = {("dseq", 3): 0, ("set", 4): 1}
            return rank.get(ours, pairs) > rank.get(theirs, below)
        longer = self.rules["double_sequence_answer"] == "longer_wins"
        longer = longer or self.wrong == "longer double sequences"
        return bool(longer and below and pairs > below)


def _is_bomb(kind: tuple[str, int]) -> bool:
    return kind[0] == "dseq" or kind == ("set", 4)


class SpeahxBot(_Bot):
    def choose(self, view: dict[str, Any]) -> Answer:
        pile, drawn = view["pile"], view.get("drawn", ())
        top = pile[-1] if pile else None
        if pile and self.wrong == "the bottom of the pile":
            top = pile[0]
        if self.wrong == "plays what it has laid":
            view = {**view, "hand": [*dict.fromkeys([*view["hand"], *self.dealt])]}
        commits = self.rules["chance_commits"]
        fitting_drawn = [card for card in drawn if self._fits(card, top)]
        if self.wrong == "lays what does not fit once drawn":
            fitting_drawn = [*drawn]
        if drawn and commits and self.wrong != "hand cards after drawing":
            plays = [(card,) for card in fitting_drawn]
            if self.wrong == "two cards after drawing":
                plays += [
                    (card, other)
                    for card, other in product(fitting_drawn, view["hand"])
                    if card[0] == other[0] and card != other
                ]
        else:
            hand = [*view["hand"], *(() if set(drawn) <= set(view["hand"]) else drawn)]
            plays = self._plays(hand, top)
        draws = self._may_draw(view, fitting_drawn)
        if not pile and self.wrong == "takes an empty pile":
            plays = [play for play in plays if play[0][0] not in "AKQ"]
            return self._lay(plays) if plays else {"pass": True}
        if plays and not (self.wrong == "draws although it fits" and drawn and draws):
            return self._lay(plays)
        if draws:
            return {"chance": True}
        return {"pass": True}

    def _may_draw(self, view: dict[str, Any], fitting: list[str]) -> bool:
        drawn = view.get("drawn", ())
        if not view["reserve"]:
            tables = view.get("table_sizes") or [0] * 14
            if self.wrong == "draws from an empty reserve" and not drawn:
                return True
            early = self.wrong == "turns table cards early"
            return bool(tables[view["seat"]] and (early or not view["hand"]) and not drawn)
        if fitting:  # then `chances` is 0
            return self.wrong == "draws although it fits" and len(drawn) < 3
        if self.wrong == "overlooks the chances of a deal":
            return len(drawn) < self.rules["chance_max"]
        if self.wrong == "draws a fourth card":
            return len(drawn) < 4
        return bool(view["chances"])

    def _lay(self, plays: list[tuple[str, ...]]) -> Answer:
        order = "23456789TJQKA"
        play = self._pick(plays, lambda it: [order.find(card[0]) for card in it])
        answer: Answer = {"play": list(play)}
        last = play[-1]
        if last[0] == "2" and self.wrong != "calls no suit":
            answer["suit"] = last[1]
        if self.wrong == "calls a suit with jacks" and last[0] == "J" and last != "JK":
            answer["suit"] = last[1]
        if self.wrong == "calls a suit with jokers" and last == "JK":
            answer["suit"] = "S"
        return answer

    def _wild(self, card: str) -> bool:
        if card == "JK":
            return True
        if card[0] == "J":
            if self.wrong == "jacks wild beside jokers":
                return True
            return bool(self.rules["jack_wild"] and not self.rules["jokers"])
        wrong = self.wrong == {"T": "tens are wild", "2": "2s are wild"}.get(card[0], "-")
        option = {"2": "two_wild", "T": "ten_wild"}.get(card[0])
        return wrong or bool(option and self.rules[option])

    def _brings_free(self, card: str) -> bool:
        return card == "JK" if self.rules["jokers"] else card[0] == "J"

    def _fits(self, card: str, top: str | None) -> bool:  # noqa: PLR0911 - one line a rule
        if top is None or self._wild(card):
            return True
        if top == "JK" or self._brings_free(top):
            return True
        if card == "JK":
            return False
        suit = top[1] if self.wrong == "the printed suit of a 2" else top[-1]
        if self.wrong == "7s fit on 8s" and (card[0], top[0]) == ("7", "8"):
            return True
        if self.wrong == "fits by colour" and (card[1] in "DH") == (suit in "DH"):
            return True
        if self.wrong == "both suits of a 2" and card[1] == top[1]:
            return True
        return card[0] == top[0] or card[1] == suit

    def _plays(self, hand: list[str], top: str | None) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        for length in (1, 2, 3) if len(hand) < 8 else (1,):
            found += [
                play
                for play in dict.fromkeys(permutations(hand, length))
                if self._fits(play[0], top)
                and all(self._may_follow(play[:at], play[at], top) for at in range(1, length))
            ]
        return found

    # One line for each wrong rule:
    def _may_follow(  # noqa: C901, PLR0911
        self, before: tuple[str, ...], card: str, top: str | None
    ) -> bool:
        last = before[-1]
        if self._brings_free(last):
            return True
        if self.wrong == "two free cards" and any(map(self._brings_free, before[-2:])):
            return True
        if self.wrong == "a free card after a ten" and last[0] == "T":
            return True
        if self.wrong == "leads whatever it likes" and top is None:
            return True
        if len(before) > 1 and self._brings_free(before[-2]):
            return self.wrong == "more after a free card" and card[0] == last[0]
        if card == "JK":
            return self.wrong == "jokers anywhere"
        chain = self.rules["lead_chain" if top is None else "follow_multi"]
        if self.wrong == "several of a suit" and top is not None:
            chain = "first_suit_or_rank"
        if self.wrong == "leads by the card before" and top is None:
            chain = "previous_suit_or_rank"
        if self.wrong == "overlooks the rules for several cards":
            chain = "first_suit_or_rank" if top is None else "same_rank"
        first = before[0]
        allowed = {
            "first_suit_or_rank": first[0] == card[0] or first[1] == card[1],
            "previous_suit_or_rank": last[0] == card[0] or last[1] == card[1],
            "same_rank": first[0] == card[0],
            "identical": top is not None and first == top[:2] == card,
            "single": False,
        }[chain]
        if first == "JK" and len(before) == 1:
            return True
        if last[0] in "2T" and self.wrong != "goes on after a ten":
            return allowed and card[0] == last[0]
        return allowed
