from __future__ import annotations

import json
import os
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tourney_runner.config import Config, bundled, config_schema, load_config
from tourney_runner.errors import ConfigError, UsageError
from tourney_runner.play.play_settings import SIZE, TIME
from tourney_runner.schedule.round_robin import RoundRobinOptions

BOTS = "bots: [bots/a, bots/b, bots/c, bots/d]\n"


def load(folder: Path, text: str, **options: Any) -> Config:
    (folder / "c.yaml").write_text(text)
    return load_config(Path("c.yaml"), **options)


def test_the_defaults(folder: Path) -> None:
    config = load(folder, f"game: tienlen\n{BOTS}")
    assert (config.name, config.game, config.seed, config.options.players) == (
        "c", "tienlen", None, 4,
    )  # fmt: skip
    assert (config.time.start_ms, config.time.move_ms, config.time.bank_ms) == (10_000, 1000, 0)
    assert (config.limits.memory, config.limits.output, config.limits.stderr) == (
        512 * 1024**2, 1024**2, 64 * 1024,
    )  # fmt: skip
    assert (config.match.duplicate, config.match.deals, config.match.target) == (4, None, None)
    assert (config.on_fault, config.max_faults, config.restart) == ("forfeit", 3, "fault")
    assert (config.rating.mu, config.rating.tau, config.rating.draw_probability) == (25, 0, None)
    assert config.schedule.format == "round-robin"
    assert config.schedule.options == RoundRobinOptions(rounds=10, complete=False)
    assert [(entrant.number, entrant.name) for entrant in config.entrants] == [
        (0, "a"), (1, "b"), (2, "c"), (3, "d"),
    ]  # fmt: skip
    assert config.entrants[0].folder == folder / "bots" / "a"
    assert not config.entrants[0].trusted


def test_sections_with_nothing_in_them_are_the_defaults(folder: Path) -> None:
    empty = "".join(f"{key}:\n" for key in ("rules", "schedule", "match", "time", "limits"))
    assert load(folder, f"game: tienlen\n{BOTS}{empty}") == load(folder, f"game: tienlen\n{BOTS}")


@pytest.mark.parametrize(
    ("written", "duplicate", "deals", "target"),
    [
        ("{}", 4, None, None),
        ("{duplicate: true}", 4, None, None),
        ("{duplicate: yes}", 4, None, None),
        ("{duplicate: 1}", 1, None, None),
        ("{duplicate: 3}", 3, None, None),
        ("{duplicate: 0}", 0, 1, None),
        ("{duplicate: off}", 0, 1, None),
        ("{duplicate: false, deals: 5}", 0, 5, None),
        ("{duplicate: false, target: 10}", 0, None, 10),
        ("{duplicate: false, target: 2.5, deals: 3}", 0, 3, 2.5),
    ],
)
def test_what_a_match_is(
    written: str, duplicate: int, deals: int | None, target: float | None, folder: Path
) -> None:
    match = load(folder, f"game: tienlen\n{BOTS}match: {written}\n").match
    assert (match.duplicate, match.deals, match.target) == (duplicate, deals, target)


@pytest.mark.parametrize(
    "name", ["no", "on", "12:30", "1_000", "010", "2026-11-29", "1.0", "null_"]
)
def test_text_stays_what_was_written(name: str, folder: Path) -> None:
    assert load(folder, f"game: tienlen\nname: {name}\n{BOTS}").name == name


@pytest.mark.parametrize(
    ("seed", "expected"),
    [("7", 7), ("secret", None), ("-3", -3), ("", None)],
)
def test_a_seed_is_a_number_or_secret(seed: str, expected: int | None, folder: Path) -> None:
    assert load(folder, f"game: tienlen\nseed: {seed}\n{BOTS}").seed == expected
    if seed:
        assert load(folder, f"game: tienlen\nseed: 5\n{BOTS}", seed=seed).seed == expected


@pytest.mark.parametrize(
    ("seed", "end"),
    [
        ("secert", "; did you mean 'secret'?"),
        ("Secret", "; did you mean 'secret'?"),
        ("'7'", "; take the quotes away"),
        ("friday", ""),
        ("true", ""),
        ("1.5", ""),
        ("1e3", ""),
        ("''", ""),
        ("[secret]", ""),
    ],
)
def test_a_slip_in_the_seed_does_not_make_it_public(seed: str, end: str, folder: Path) -> None:
    with pytest.raises(ConfigError, match=f"expected a whole number or secret{re.escape(end)}$"):
        load(folder, f"game: tienlen\nseed: {seed}\n{BOTS}")
    if seed not in {"'7'", "[secret]"}:
        bare = seed.strip("'")
        with pytest.raises(UsageError, match=r"--seed: found .* expected a whole number or secret"):
            load(folder, f"game: tienlen\n{BOTS}", seed=bare)


def test_results_that_were_begun_with_a_seed_in_words_keep_it(folder: Path) -> None:
    text = f"game: tienlen\nseed: in words\n{BOTS}"
    assert load(folder, text, earlier_seed="in words").seed == "in words"
    with pytest.raises(ConfigError, match="expected a whole number or secret"):
        load(folder, text, earlier_seed="in other words")


@pytest.mark.parametrize("null", ["null", "~", "Null", ""])
def test_a_name_of_null_is_not_taken_for_a_missing_one(null: str, folder: Path) -> None:
    for text in (
        f"game: tienlen\nname: {null}\n{BOTS}",
        f"game: tienlen\nbots: [{{bot: bots/a, name: {null}}}, bots/b, bots/c, bots/d]\n",
    ):
        with pytest.raises(ConfigError, match="name: found nothing, expected a name"):
            load(folder, text)


def test_forms_of_a_bot(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "c.yaml").write_text(
        "game: speahx\n"
        "rules: {players: 4}\n"
        "bots:\n"
        "  - ../bots/a\n"
        "  - {bot: ../bots/a, name: '  Ame\u0301lie   B ', env: {LEVEL: 3}, trusted: yes}\n"
        "  - {name: 2024, command: [{python}, -V, 1.0], language: no}\n"
        "  - name: d\n"
        "    command: sh 'bot.sh' --x \"a b\"\n"
        "    cwd: ../bots/a\n"
        "    build: |\n"
        "      true\n"
        "      sh -c 'exit 0'\n"
    )
    first, second, third, fourth = load_config(Path("deep/c.yaml")).entrants
    assert first.folder == second.folder == fourth.folder == folder / "bots" / "a"
    assert (second.name, second.env, second.trusted) == ("Am\u00e9lie B", {"LEVEL": "3"}, True)
    assert (third.name, third.command, third.folder, third.language) == (
        "2024", ("{python}", "-V", "1.0"), None, "no",
    )  # fmt: skip
    assert fourth.command == ("sh", "bot.sh", "--x", "a b")
    assert fourth.build == (("true",), ("sh", "-c", "exit 0"))


@pytest.mark.parametrize(
    ("written", "build"),
    [
        ("make", (("make",),)),
        ("[make, all]", (("make", "all"),)),
        ("[[make, clean], make all]", (("make", "clean"), ("make", "all"))),
        ("[make clean, make all]", (("make", "clean"), ("make", "all"))),
        ("make -C 'a b'", (("make", "-C", "a b"),)),
    ],
)
def test_forms_of_a_build(written: str, build: tuple[tuple[str, ...], ...], folder: Path) -> None:
    make = folder / "bots" / "a" / "make"
    make.write_text("#!/bin/sh\n")
    make.chmod(0o755)
    text = f"game: tienlen\n{BOTS}  ".replace(
        "[", f"[{{name: e, command: ./e, cwd: bots/a, build: {written}}}, "
    )
    assert load(folder, text).entrants[0].build == build


def test_anchors_and_merge_keys(folder: Path) -> None:
    config = load(
        folder,
        "game: tienlen\n"
        "bots:\n"
        "  - &base {bot: bots/a, name: one, trusted: true}\n"
        "  - {<<: *base, name: two}\n"
        "  - {name: three, <<: [*base]}\n"
        "  - bots/d\n",
    )
    assert [(entrant.name, entrant.trusted) for entrant in config.entrants] == [
        ("one", True), ("two", True), ("three", True), ("d", False),
    ]  # fmt: skip


def test_bots_that_cannot_run_here_may_be_left_out(folder: Path) -> None:
    text = f"game: tienlen\n{BOTS}".replace("[", "[{name: x, command: no-such-program}, ")
    with pytest.raises(ConfigError):
        load(folder, text)
    config = load(folder, text, skip_broken=True)
    assert [(entrant.number, entrant.name) for entrant in config.entrants] == [
        (0, "a"), (1, "b"), (2, "c"), (3, "d"),
    ]  # fmt: skip
    assert [bot.name for bot in config.skipped] == ["x"]
    assert "no-such-program" in config.skipped[0].why


@pytest.mark.parametrize(
    ("entry", "name", "why"),
    [
        ("{bot: bots/a, name: " + "x" * 65 + "}", "x" * 59 + "…", "64"),
        ('{bot: bots/a, name: "a\\u202Eb"}', "a\\u202eb", "character"),
        ("bots/nowhere", "nowhere", "found 'bots/nowhere'"),
        ("{bot: bots/a, name: x, colour: red}", "x", "colour"),
        ("{bot: bots/a, name: x, data: [nothing]}", "x", "which is not there"),
        ("{name: x, command: [python3, -V], games: [chess]}", "x", "plays"),
        ("7", "7", "found '7'"),
    ],
)
def test_whatever_is_wrong_with_one_bot_alone_leaves_out_that_bot(
    folder: Path, entry: str, name: str, why: str
) -> None:
    text = f"game: tienlen\n{BOTS}".replace("[", f"[{entry}, ")
    with pytest.raises(ConfigError):
        load(folder, text)
    config = load(folder, text, skip_broken=True)
    assert [entrant.name for entrant in config.entrants] == ["a", "b", "c", "d"]
    assert [bot.name for bot in config.skipped] == [name]
    assert why in config.skipped[0].why


def test_leaving_bots_out_does_not_empty_a_table(folder: Path) -> None:
    text = "game: tienlen\nbots: [bots/a, bots/b, bots/c, {name: x, command: no-such-program}]\n"
    with pytest.raises(ConfigError, match="found 3 bots, expected at least 4"):
        load(folder, text, skip_broken=True)


def test_a_configuration_travels_and_does_not_change(folder: Path) -> None:
    config = load(folder, f"game: speahx\nrules: {{jokers: true}}\n{BOTS}")
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 - our own
    assert json.loads(config.model_dump_json())["options"]["jokers"] is True
    with pytest.raises(ValueError, match="frozen"):
        config.name = "other"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["quickstart.yaml", "configs/quickstart.yaml"])
def test_a_bundled_configuration_is_found_from_anywhere(name: str) -> None:
    path = bundled(name)
    assert path is not None
    assert path.is_file()
    assert load_config(Path(name)).path == path


def test_a_file_in_the_working_directory_goes_before_a_bundled_one(folder: Path) -> None:
    (folder / "quickstart.yaml").write_text(f"game: tienlen\n{BOTS}")
    assert load_config(Path("quickstart.yaml")).path == Path("quickstart.yaml")


@pytest.mark.parametrize("kind", ["pipe", "link", "link to a pipe"])
def test_a_bots_own_file_is_a_regular_one(kind: str, folder: Path) -> None:
    """A pipe would be waited for, and a link could lead to any file of the organiser."""
    manifest = folder / "bots/a/bot.yaml"
    manifest.unlink()
    if kind == "pipe":
        os.mkfifo(manifest)
    else:
        target = folder / "elsewhere"
        os.mkfifo(target) if kind == "link to a pipe" else target.write_text("root:x:0:0")
        manifest.symlink_to(target)
    (folder / "c.yaml").write_text("game: speahx\nrules: {players: 2}\nbots: [bots/a, bots/b]\n")
    with pytest.raises(ConfigError) as caught:
        load_config(Path("c.yaml"))
    (line,) = caught.value.problems
    assert line.startswith("bots/a/bot.yaml:1:1: this is a link or a special file")


@pytest.mark.parametrize(
    "name", ["nothing.yaml", "../pyproject.toml", "configs", "", "/etc/passwd"]
)
def test_other_names_are_not_bundled(name: str) -> None:
    assert bundled(name) is None


ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "configs").glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_configurations_fit_the_schema(path: Path) -> None:
    jsonschema.validate(yaml.safe_load(path.read_text()), config_schema())


def test_the_configuration_in_the_readme_fits_the_schema() -> None:
    blocks = (ROOT / "README.md").read_text("utf-8").split("```yaml\n")[1:]
    [written] = [block.partition("```")[0] for block in blocks if "\ngame: " in block]
    jsonschema.validate(yaml.safe_load(written), config_schema())


GOOD = [
    "schedule: {}",
    "schedule: {rounds: 3, complete: true}",
    "schedule: {format: round-robin}",
    "schedule: {format: swiss, rounds: 3, games: 1}",
    "schedule: {format: knockout, seeding: listed}",
    "schedule: {format: ladder, tables: null, tau: 0.5}",
    "schedule: {format: gauntlet, challengers: [a], together: true}",
    "match: {duplicate: 0, target: 10}",
    "match: {duplicate: false, deals: 2}",
    "time: {start: 90s, bank: 0}",
    "limits: {memory: null, stderr: 0}",
]
BAD = [
    "rules: {jokers: true}",
    "match: {duplicate: -1}",
    "match: {deals: 3}",
    "match: {duplicate: 2, target: 10}",
    "time: {move: 5}",
    "time: {move: 0}",
    "limits: {output: 0}",
    "name: ' '",
    "schedule: {format: round_robin}",
    "schedule: {games: 3}",
    "schedule: {format: swiss, complete: true}",
    "schedule: {format: swiss, rounds: 0}",
    "schedule: {format: knockout, rounds: 3}",
    "schedule: {format: knockout, seeding: loted}",
    "schedule: {format: ladder, tau: 0}",
    "schedule: {format: gauntlet}",
    "schedule: {format: gauntlet, challengers: []}",
    "schedule: {format: gauntlet, challengers: a}",
]
BAD_BOTS = [
    "[{bot: bots/a, nmae: e}, bots/b, bots/c, bots/d]",
    "[{bot: bots/a, env: {1X: y}}, bots/b, bots/c, bots/d]",
    "[{bot: bots/a, devices: [/etc/passwd]}, bots/b, bots/c, bots/d]",
    "[{name: e, cwd: bots/a}, bots/b, bots/c, bots/d]",
    "bots/a",
]


@pytest.mark.parametrize("written", [*GOOD, "bots: [{bot: bots/a, env: {LEVEL: 3}}, bots/b]"])
def test_the_schema_takes_what_the_program_takes(written: str, folder: Path) -> None:
    bots = "" if written.startswith("bots") else BOTS
    text = f"game: tienlen\nrules: {{players: 2}}\n{bots}{written}\n"
    load(folder, text)
    jsonschema.validate(yaml.safe_load(text), config_schema())


@pytest.mark.parametrize(
    "text",
    [
        *(f"game: tienlen\n{BOTS}{written}\n" for written in BAD),
        *(f"game: tienlen\nbots: {bots}\n" for bots in BAD_BOTS),
        f"game: chess\n{BOTS}",
        "game: tienlen\n",
    ],
)
def test_the_schema_refuses_what_the_program_refuses(text: str, folder: Path) -> None:
    with pytest.raises(ConfigError):
        load(folder, text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), config_schema())


def test_the_schema_is_one_itself() -> None:
    schema = config_schema()
    assert {"RoundRobinOptions", "TienlenOptions", "BotManifest"} <= set(schema["$defs"])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$defs"]["TimeConfig"]["properties"]["start"]["default"] == "10s"


@given(amount=st.integers(1, 10**12))
def test_a_written_amount_reads_as_itself(amount: int) -> None:
    for quantity in (TIME, SIZE):
        written = quantity.written(amount * quantity.units[next(iter(quantity.units))])
        number, unit = written.rstrip("hmsKGM"), written.lstrip("0123456789")
        assert int(number) * quantity.units[unit] == amount * next(iter(quantity.units.values()))


TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["game: tienlen", "bots:", "  - a", "rules: {", "}", "- [", "]", "&a", "*a", "<<: *a",
             "\t", "'", '"', "? ", ": ", "time: {move: ", "!!x ", "%YAML", "---", "...", "|\n", "#"]
        ),
        max_size=12,
    ).map("\n".join),
)  # fmt: skip


@given(text=TEXTS)
@example(text="? {a: 1}\n: 2\n")
@example(text='"\\ud800": 1')
@example(text="bots: [{bot: 1.5}, {command: {python: 3}}]")
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_nonsense_ends_in_plain_lines(text: str, folder: Path) -> None:
    (folder / "c.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError) as caught:
        load_config(Path("c.yaml"))
    assert caught.value.problems
    for line in caught.value.problems:
        assert line.isprintable()
        assert line.startswith("c.yaml:")


def test_the_interpreter_is_one_that_runs_this_program(folder: Path) -> None:
    text = f"game: tienlen\n{BOTS}".replace("[", '[{name: p, command: "{python} -V"}, ')
    assert load(folder, text).entrants[0].command == ("{python}", "-V")
    assert Path(sys.executable).is_file()


@pytest.mark.parametrize(
    "rules",
    [
        "game: tienlen\nrules: {players: 2, points: [0, -3]}",
        "game: tienlen\nrules: {players: 2, points: [1, 1]}",
        "game: speahx\nrules: {players: 2, points: [0, 0]}",
    ],
)
def test_a_target_that_no_player_can_reach_is_refused(rules: str, folder: Path) -> None:
    del folder
    Path("c.yaml").write_text(f"{rules}\nmatch: {{duplicate: false, target: 5}}\nbots: []\n")
    with pytest.raises(ConfigError, match=r"match\.target: found 5, which no player can reach"):
        load_config(Path("c.yaml"))
