"""The clients in C, C++, Rust and Java: what a bot is given, and what is sent of its choice."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml
from bundled_table import BOTS, need_programs

if TYPE_CHECKING:
    from pathlib import Path

C = """\
#include "protocol.h"

static void say(Cards cards)
{
    for (size_t i = 0; i < cards.count; i++) fprintf(stderr, "%s ", cards.at[i].name);
    fprintf(stderr, "| ");
}

static Choice choose(const Turn *turn)
{
    const char *reserve = member(member(turn->line, "view"), "reserve");
    say(turn->hand), say(turn->table);
    fprintf(stderr, "%zu | %ld %ld | %.1s ", turn->legals, turn->time, turn->bank,
            member(turn->deal, "seat"));
    fprintf(stderr, "%.*s\\n", (int)(skip(reserve) - reserve), reserve);
    return turn->legal[turn->legals - 1];
}

int main(void) { return run(choose, "typed", "all"); }
"""

CPP = """\
#include "protocol.hpp"

Choice choose(const Turn &turn)
{
    for (const Card &card : turn.hand) std::cerr << card << ' ';
    std::cerr << "| ";
    for (const Card &card : turn.table) std::cerr << card << ' ';
    std::cerr << "| " << turn.legal.size() << " | " << turn.time << ' ' << turn.bank << " | "
              << member(turn.deal, "seat") << ' ' << member(member(turn.line, "view"), "reserve")
              << std::endl;
    return turn.legal.back();
}

int main() { run(choose, "typed", "all"); }
"""

RUST = """\
mod protocol;

use protocol::{member, run, Choice, Turn};

fn choose(turn: &Turn) -> Choice {
    let said = |cards: &[String]| cards.iter().map(|card| format!("{card} ")).collect::<String>();
    let reserve = member(member(turn.line, "view"), "reserve");
    eprint!("{}| {}| {} | ", said(&turn.hand), said(&turn.table), turn.legal.len());
    eprintln!("{} {} | {} {reserve}", turn.time, turn.bank, member(turn.deal, "seat"));
    turn.legal.last().unwrap().clone()
}

fn main() -> std::io::Result<()> {
    run(choose, "typed", "all")
}
"""

JAVA = """\
public final class Bot {
    static Protocol.Choice choose(Protocol.Turn turn) {
        turn.hand().forEach(card -> System.err.print(card + " "));
        System.err.print("| ");
        turn.table().forEach(card -> System.err.print(card + " "));
        int last = turn.legal().size() - 1;
        String reserve = Protocol.member(Protocol.member(turn.line(), "view"), "reserve");
        System.err.print("| " + (last + 1) + " | " + turn.time() + " " + turn.bank() + " | ");
        System.err.println(Protocol.member(turn.deal(), "seat") + " " + reserve);
        return turn.legal().get(last);
    }

    public static void main(String[] args) throws java.io.IOException {
        Protocol.run(Bot::choose, "typed", "all");
    }
}
"""

SOURCES = {
    "c": ("bot.c", C),
    "cpp": ("bot.cpp", CPP),
    "rust": ("bot.rs", RUST),
    "java": ("Bot.java", JAVA),
}
"""(the bot's file, one that tells on stderr what it is given and plays the last legal answer)."""

TURNS = (
    (
        (
            '"view":{"hand":["3S","TH"],"table":{"by":1,"cards":["9C","9D"],"kind":"pair"}},'
            '"time":{"move":1000,"bank":250},"legal":[{"play":["TH"]},{"pass":true}]'
        ),
        "3S TH | 9C 9D | 2 | 1000 250 | 1 ",
        {"pass": True},
    ),
    (
        (
            '"view":{"table":null,"hand":["3S"]},"time":{"move":1000,"bank":0},'
            '"legal":[{"play":["3S","3C","JK"]}]'
        ),
        "3S | | 1 | 1000 0 | 1 ",
        {"play": ["3S", "3C", "JK"]},
    ),
    (
        (
            '"view":{"pile":["4D","2S>H"],"hand":[],"table_sizes":[1],"reserve":7},'
            '"time":{"move":5,"bank":0},"legal":[{"pass":true},{"chance":true}]'
        ),
        "| 4D 2S>H | 2 | 5 0 | 1 7",
        {"chance": True},
    ),
    (
        (
            '"view":{"pile":[],"hand":["JK","2C"],"reserve":0},'
            '"time":{"move":5,"bank":0},"legal":[{"play":["JK","2C"],"suit":"D","later":"\\"]"}]'
        ),
        "JK 2C | | 1 | 5 0 | 1 0",
        {"play": ["JK", "2C"], "suit": "D"},
    ),
)
"""(the fields of a request, what the bot is to be given, its answer)."""


@pytest.fixture(params=SOURCES)
def command(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """A bot with the client of its language, built as the bundled one is."""
    language = request.param
    need_programs(language)
    shutil.copytree(BOTS / language, tmp_path, dirs_exist_ok=True)
    name, source = SOURCES[language]
    (tmp_path / name).write_text(source)
    manifest = yaml.safe_load((tmp_path / "bot.yaml").read_text())
    subprocess.run(manifest["build"], cwd=tmp_path, check=True)
    command: list[str] = manifest["command"]
    return command


def test_a_client_gives_a_typed_turn_and_sends_the_choice(
    command: list[str], tmp_path: Path
) -> None:
    moves = [f'{{"type":"move","id":{number},{turn[0]}}}' for number, turn in enumerate(TURNS)]
    lines = ['{"type":"hello","game":"tienlen"}', '{"type":"deal","seat":1,"seed":3}', *moves, ""]
    done = subprocess.run(
        command, cwd=tmp_path, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    ready, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready == {"type": "ready", "name": "typed", "legal": "all"}
    assert answers == [{"id": number, **turn[2]} for number, turn in enumerate(TURNS)]
    assert done.stderr.splitlines() == [turn[1] for turn in TURNS]
