from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
import yaml
from authors_program import BOTS, ROOT, needs_git
from tourney_runner.schedule import registry as formats

if TYPE_CHECKING:
    from authors_program import Program

DOCS = ROOT / "docs"
AUTHORS = (DOCS / "authors.md").read_text(encoding="utf-8")
[GUIDES_BOT, *_] = re.findall(
    r"(?m)^```python\n((?:.*\n)*?)```", (DOCS / "writing-a-bot.md").read_text(encoding="utf-8")
)
WHEEL = {
    "lucky_guess.py": "",
    "lucky_guess-1.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: lucky-guess\nVersion: 1.0\n"
    ),
    "lucky_guess-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
    "lucky_guess-1.0.dist-info/RECORD": "",
}
"""A package, file by file."""
PAGES = sorted(DOCS.glob("*.md"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"(?m)^```{language}\n((?:.*\n)*?)```", AUTHORS)


def test_the_rule_books_are_made_from_the_rule_cases() -> None:
    made = runpy.run_path(str(DOCS / "build_rules.py"))
    for path in made["PAGES"]:
        page = path.read_text(encoding="utf-8")
        assert made["build"](page) == page, "python docs/build_rules.py"
        assert page.count("| yes |") + page.count("| **no** |") > 25


def test_every_rule_that_the_program_names_is_explained() -> None:
    page = (DOCS / "rule-ids.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"(?m)^\| ([HRTS]\d+[a-z]?) \| \S", page))
    sources = "".join(
        path.read_text("utf-8") for path in (ROOT / "runner/tourney_runner/games").rglob("*.py")
    )
    named = set(re.findall(r"\b[HRTS]\d{1,2}[a-z]?\b", sources))
    assert len(named) > 80
    assert named <= explained


def test_every_format_and_its_options_are_told_to_organisers() -> None:
    page = (DOCS / "organising.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"(?m)^\| `([\w-]+)` \|[^|]*\|(.*)\|$", page))
    assert sorted(rows) == formats.names()
    for name, row in rows.items():
        options = formats.format_class(name).options().model_dump(mode="json")
        told = {key: yaml.safe_load(value) for key, value in re.findall(r"`(\w+): (.+?)`", row)}
        assert told == {
            key: round(value, 3) if isinstance(value, float) else value
            for key, value in options.items()
        }


def test_the_way_from_nothing_to_a_ranked_entry(tourney: Program) -> None:
    """Kit, first change, check, tournament, submission: as the guide has it."""
    [change], [config] = blocks("python"), blocks("yaml")
    commands = [
        line.partition("#")[0].split() for block in blocks("sh") for line in block.splitlines()
    ]
    by_name = {words[1]: words[2:] for words in reversed(commands) if words[:1] == ["tourney"]}
    assert tourney("new", *by_name["new"]).returncode == 0
    tourney.write("mybot/bot.py", change)
    tourney.write("mine.yaml", config.replace("bots/", f"{BOTS}/") + "time: {move: 10s}\n")
    done = tourney("check", *by_name["check"], "--config", "mine.yaml")
    assert done.returncode == 0, done.stdout
    done = tourney("run", *by_name["run"])
    assert done.returncode == 0, done.stderr
    ranking = json.loads((tourney.folder / "results/mine/standings.json").read_text())
    assert [bot["name"] for bot in ranking["entrants"]] == ["mybot", "random"]
    for words in commands:
        if words[1:3] == ["replay", "results/mine"] and "--last-fault" not in words:
            shell = words.index(">") if ">" in words else len(words)
            assert tourney(*words[1:shell]).returncode == 0
    league = tourney.write(
        "path/to/league/league.yaml",
        f"game: tienlen\nrules: {{players: 2}}\n"
        f"bots: [{BOTS}/greedy, {BOTS}/random]\ntime: {{move: 10s}}\n",
    )
    done = tourney("submit", *by_name["submit"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bots/mybot/" in league.read_text()


@pytest.fixture
def packed(tourney: Program) -> Program:
    """The guide's bot with the guide's build, which installs a package that lies beside it."""
    manifest = re.search(r"(?m)^  ```yaml\n((?:  .*\n)*?)  ```", AUTHORS)
    assert manifest is not None
    tourney.write("mybot/bot.yaml", re.sub(r"(?m)^  ", "", manifest[1]))
    source = GUIDES_BOT.replace("import sys\n", "import lucky_guess\nimport sys\n")
    tourney.write("mybot/bot.py", source)
    tourney.write("mybot/requirements.txt", "lucky-guess\n")
    wheel = tourney.write("mybot/wheels/lucky_guess-1.0-py3-none-any.whl", "")
    with ZipFile(wheel, "w") as archive:
        for name, text in WHEEL.items():
            archive.writestr(name, text)
    tourney.write(
        "mine.yaml",
        f"game: tienlen\nrules: {{players: 2}}\nbots: [mybot, {BOTS}/random]\n"
        "match: {duplicate: false}\ntime: {start: 30s, move: 10s}\n",
    )
    return tourney


def test_the_build_of_a_virtual_environment_is_a_right_manifest(packed: Program) -> None:
    done = packed("plan", "mine.yaml")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow  # pip takes its time to come into a new environment
def test_the_build_of_a_virtual_environment_works_without_network(packed: Program) -> None:
    done = packed("run", "mine.yaml")
    assert done.returncode == 0, done.stderr
    ranking = json.loads((packed.folder / "results/mine/standings.json").read_text())
    assert [bot["faults"] for bot in ranking["entrants"]] == [{}, {}]


@needs_git
def test_the_workflow_checks_what_a_pull_request_adds(tourney: Program) -> None:
    """The step that tries new bots is run as the CI system runs it: a good bot, then a bad one."""
    text = (DOCS / "examples" / "check-bots.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    [step] = [it["run"] for it in workflow["jobs"]["check"]["steps"] if "git diff" in str(it)]
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null"}
    who |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}
    path = f"{Path(sys.executable).parent}:{tourney.environment['PATH']}"
    environment = {**tourney.environment, **who, "GITHUB_BASE_REF": "main", "PATH": path}

    def shell(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tourney.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    league = f"game: tienlen\nrules: {{players: 2}}\nbots: [{BOTS}/greedy, {BOTS}/random]\n"
    tourney.write("league.yaml", league + "time: {start: 30s, move: 10s}\n")
    commit = "git add -A; git commit -qm more"
    assert (
        shell(f"git init -q; {commit}; git update-ref refs/remotes/origin/main HEAD").stderr == ""
    )
    for name in ("good/1", "worse/1"):
        tourney.write(
            f"bots/{name}/bot.py", GUIDES_BOT if "good" in name else "raise SystemExit(1)"
        )
        manifest = f'name: {name[:-2]}\ncommand: ["{{python}}", -E, -S, bot.py]\n'
        tourney.write(f"bots/{name}/bot.yaml", manifest)
        assert shell(commit).returncode == 0
        done = shell(step)
        assert done.returncode == (0 if "good" in name else 2), done.stdout + done.stderr
        said = "ready for a tournament" if "good" in name else "not ready for a tournament"
        assert f"{name[:-2]} is {said}" in done.stdout
        assert shell("git update-ref refs/remotes/origin/main HEAD").returncode == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]*)(?:#[^)]*)?\)", text):
        assert not target or (page.parent / target).exists(), target


@pytest.mark.parametrize("command", ["new", "check", "play", "replay", "submit"])
def test_every_command_for_authors_explains_itself(tourney: Program, command: str) -> None:
    done = tourney(command, "--help")
    assert done.returncode == 0
    assert f"tourney {command}" in done.stdout
    assert f"`tourney {command} " in AUTHORS
