"""Fills the examples into the rule books: ``python docs/build_rules.py``.

The examples are rule cases, which the tests put before the games, so they cannot be wrong; the
tables of options come from the games' own models. What stands between a line ``<!-- cases: .. -->``
or ``<!-- options: .. -->`` and the next ``<!-- end -->`` is replaced, all else is left alone.
"""  # noqa: INP001 - a script beside what it writes

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from tourney_runner.games.registry import game as find_game
from tourney_runner.replay.terminal_view import SUITS

__all__ = ["PAGES", "build", "main"]

_HERE = Path(__file__).resolve().parent
_CASES = _HERE.parent / "tests" / "data"
PAGES = (_HERE / "rules-tienlen.md", _HERE / "rules-speahx.md")
_MADE = re.compile(
    r"(?<=^<!-- )(cases|options): ([^>]*?)( -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL
)

Case = dict[str, Any]


def build(page: str) -> str:
    """A rule book with its examples and tables filled in."""
    cases = _cases()

    def fill(found: re.Match[str]) -> str:
        what, names, rest = found.groups()
        body = _options(names) if what == "options" else _table([cases[it] for it in names.split()])
        return f"{what}: {names}{rest}\n{body}\n\n"

    return _MADE.sub(fill, page)


def _cases() -> dict[str, Case]:
    files = sorted(_CASES.glob("cases_*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return {case["id"]: case for case in map(json.loads, lines)}


def _table(cases: list[Case]) -> str:
    lies = "on the table" if cases[0]["id"].startswith("TL") else "pile, the top card last"
    rows = [f"| {lies} | you hold | you do | | because |", "| --- | --- | --- | --- | --- |"]
    rows += [
        f"| {_lies(case['state'])} | {_cards(case['hand'])} | {_deed(case)} "
        f"| {'yes' if case['legal'] else '**no**'} | {case['what']}{_then(case)}{_with(case)} |"
        for case in cases
    ]
    return "\n".join(rows)


def _lies(state: Case) -> str:
    table = state.get("table")
    cards = state.get("pile") if table is None else table["cards"]
    drawn = state.get("drawn")
    words = _cards(cards) if cards else "nothing"
    if drawn:
        words += f"; you have drawn {_cards(drawn)}"
    if state.get("reserve") == [] and "pile" in state:
        words += "; the reserve is empty"
    return words


def _deed(case: Case) -> str:
    action = case["action"]
    if "play" not in action:
        word = "pass" if action.get("pass") else "draw a chance card"
        return "take the pile" if word == "pass" and "pile" in case["state"] else word
    suit = f", calling {SUITS[action['suit']]}" if "suit" in action else ""
    return f"{_cards(action['play'])}{suit}"


def _then(case: Case) -> str:
    """The consequences, where the case states them."""
    expect = case["expect"] or {}
    facts = []
    if "pile" in expect:
        facts.append(f"the pile is {_cards(expect['pile']) or 'empty'} then")
    if expect.get("removed"):
        facts.append(f"{expect['removed']} cards leave the game")
    if "next" in expect and expect["next"] == case["action"].get("seat"):
        facts.append("you are to move again")
    return f"; {', '.join(facts)}" if facts else ""


def _with(case: Case) -> str:
    config = case["config"]
    if case["state"].get("decks", 1) > 1:
        config = {"decks": case["state"]["decks"], **config}
    rules = ", ".join(f"{key}: {json.dumps(value)}" for key, value in config.items())
    return f" (with `{rules}`)" if rules else ""


def _cards(cards: list[str]) -> str:
    return " ".join(map(_card, cards))


def _card(card: str) -> str:
    """``2H>S`` is a two of hearts that calls spades."""
    name, _, call = card.partition(">")
    if name == "JK":
        return "joker"
    rank = "10" if name[0] == "T" else name[0]
    return f"{rank}{SUITS[name[1]]}" + (f" ({SUITS[call]} called)" if call else "")


def _options(name: str) -> str:
    rows = ["| option | default | meaning |", "| --- | --- | --- |"]
    for key, field in find_game(name).options.model_fields.items():
        default = json.dumps(field.get_default(call_default_factory=True))
        meaning = " ".join((field.description or "").split()).replace("|", "\\|")
        rows.append(f"| `{key}` | `{default}` | {meaning} |")
    return "\n".join(rows)


def main() -> None:
    """Write the pages; with ``--check``, only say whether they would change."""
    for path in PAGES:
        before = path.read_text(encoding="utf-8")
        after = build(before)
        if "--check" in sys.argv[1:] and after != before:
            sys.exit(f"{path.name} is out of date: python docs/build_rules.py")
        path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
