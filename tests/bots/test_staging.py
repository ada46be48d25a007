from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tourney_runner.bots import remove_unfinished, stage, staging
from tourney_runner.bots.cache import cache_folder, recall, remember
from tourney_runner.bots.staging import former_hashes, stage_all, with_stored_hash
from tourney_runner.config import Entrant
from tourney_runner.errors import UsageError
from tourney_runner.play.bot import Bot
from tourney_runner.process.folder_tree import remove_tree
from tourney_runner.process.launcher import Rights

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The folder of a Python bot that says hello."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "bot.py").write_text("print('hello')\n")
    return folder


def entrant(folder: Path | None, *command: str, **fields: Any) -> Entrant:
    words = command or ("{python}", "bot.py")
    return Entrant(number=3, name="Émile", folder=folder, command=words, **fields)


def output(bot: Bot) -> str:
    return subprocess.run(
        bot.command, cwd=bot.folder, env=bot.env, capture_output=True, text=True, check=True
    ).stdout.strip()


def versions(cache: Path) -> list[Path]:
    return sorted((cache / "bots").glob("*/"))


def test_a_bot_runs_from_its_copy(source: Path, cache: Path) -> None:
    bot = stage(entrant(source, language="Python", env={"A": "b"}, trusted=True), cache)
    shutil.rmtree(source)
    assert output(bot) == "hello"
    assert Path(bot.folder).is_relative_to(cache)
    assert bot.command == (sys.executable, "bot.py")
    assert bot.executable == str(Path(sys.executable).resolve())
    assert (bot.number, bot.name, bot.language, bot.trusted) == (3, "Émile", "Python", True)


def test_a_bot_travels_as_bytes(source: Path, cache: Path) -> None:
    bot = stage(entrant(source), cache)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(bot), type=Bot) == bot


def test_the_copy_is_read_only(source: Path, cache: Path) -> None:
    (source / "data").mkdir()
    (source / "data" / "weights").write_text("1")
    (source / "run").write_text("#!/bin/sh\n")
    (source / "run").chmod(0o755)
    folder = Path(stage(entrant(source), cache).folder)
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o222 == 0, path
    assert os.access(folder / "run", os.X_OK)


def test_what_is_made_by_git_and_python_is_left_out(source: Path, cache: Path) -> None:
    before = stage(entrant(source), cache)
    for name in (".git/HEAD", "__pycache__/bot.cpython-311.pyc", "old.pyc", "lib/__pycache__/x"):
        (source / name).parent.mkdir(exist_ok=True, parents=True)
        (source / name).write_text("x")
    after = stage(entrant(source), cache)
    assert after == before
    assert [path.name for path in Path(after.folder).iterdir()] == ["bot.py"]


LEFT_BEHIND = (
    ".DS_Store", "lib/._bot.py", "__MACOSX/x", "Thumbs.db", ".bot.py.swp", "bot.py~", "#bot.py#",
    ".idea/workspace.xml", ".vscode/settings.json", ".pytest_cache/v/x", ".mypy_cache/x", ".hg/x",
)  # fmt: skip


def put(folder: Path, *names: str) -> None:
    """Make files of the given names."""
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text("x")


def staged_files(bot: Bot) -> set[str]:
    folder = Path(bot.folder)
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_editors_and_systems_leave_behind_is_not_part_of_a_bot(
    source: Path, cache: Path
) -> None:
    (source / "lib").mkdir()
    before = stage(entrant(source), cache)
    put(source, *LEFT_BEHIND)
    (source / ".#bot.py").symlink_to("someone@machine.1234")
    after = stage(entrant(source), cache)
    assert after == before
    assert staged_files(after) == {"bot.py"}


def test_an_ignore_file_leaves_out_more(source: Path, cache: Path) -> None:
    (source / ".tourneyignore").write_text("# ours\n\n*.log\n/notes/\nlib/*.txt\n.*\nbot.yaml\n")
    before = stage(entrant(source), cache)
    put(source, "a.log", "lib/b.log", "notes/x", "lib/x.txt", ".hidden")
    assert stage(entrant(source), cache).hash == before.hash
    put(source, "lib/notes/x", "lib/deep/x.txt", "bot.yaml")
    after = stage(entrant(source), cache)
    assert after.hash != before.hash
    assert staged_files(after) == {
        ".tourneyignore", "bot.py", "bot.yaml", "lib/notes/x", "lib/deep/x.txt"
    }  # fmt: skip
    (source / ".tourneyignore").write_text("*.log\n")
    assert stage(entrant(source), cache).hash != after.hash


@pytest.mark.parametrize(
    ("line", "words", "named"),
    [
        ("bot.py", ("{python}", "./bot.py"), "'./bot.py'"),
        ("src/", ("{python}", "src/bot.py"), "'src/bot.py'"),
        ("*.c", ("./bot",), "'bot.c'"),
        ("*", ("./bot",), "'./bot'"),
    ],
)
def test_an_ignore_file_cannot_leave_out_what_the_command_or_build_names(
    line: str, words: tuple[str, ...], named: str, source: Path, cache: Path
) -> None:
    (source / ".tourneyignore").write_text(f"{line}\n")
    with pytest.raises(UsageError, match="named by its command or build") as caught:
        stage(entrant(source, *words, build=(("cc", "-o", "bot", "bot.c"),)), cache)
    assert named in str(caught.value)
    assert versions(cache) == []


@pytest.mark.parametrize("content", ["!keep", "a/**/b", "../x", "a\\ b", "x\n" * 101, "x" * 9000])
def test_an_ignore_file_that_is_not_understood_is_refused(
    content: str, source: Path, cache: Path
) -> None:
    (source / ".tourneyignore").write_text(content)
    with pytest.raises(UsageError, match=r"'Émile' cannot be staged: '.*/\.tourneyignore' has "):
        stage(entrant(source), cache)


def test_an_ignore_file_is_not_a_way_to_other_files(source: Path, cache: Path) -> None:
    (source / ".tourneyignore").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="is not a regular file"):
        stage(entrant(source), cache)


def test_a_build_may_make_what_is_left_out_of_sources(source: Path, cache: Path) -> None:
    (source / ".tourneyignore").write_text("*.o\n")
    put(source, "old.o")
    bot = stage(entrant(source, build=(("touch", "new.o~"), ("cp", "bot.py", "new"))), cache)
    assert staged_files(bot) == {".tourneyignore", "bot.py", "new.o~", "new"}


CHANGES = {
    "contents": lambda folder: (folder / "bot.py").write_text("print('hallo')\n"),
    "a new file": lambda folder: (folder / "weights").write_text(""),
    "a name": lambda folder: (folder / "notes").rename(folder / "remarks"),
    "the executable bit": lambda folder: (folder / "bot.py").chmod(0o755),
    "a link": lambda folder: (folder / "link").symlink_to("bot.py"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_bot_has_another_hash(change: str, source: Path, cache: Path) -> None:
    (source / "notes").write_text("")
    before = stage(entrant(source), cache)
    CHANGES[change](source)
    after = stage(entrant(source), cache)
    assert after.hash != before.hash
    assert after.folder != before.folder
    assert Path(before.folder).is_dir()


def test_the_hash_is_of_all_that_decides_how_a_bot_plays(source: Path, cache: Path) -> None:
    outside = cache.with_name("outside.py")
    outside.write_text("1")
    bots = [
        entrant(source),
        entrant(source, "{python}", "bot.py", "--hard"),
        entrant(source, env={"LEVEL": "2"}),
        entrant(source, build=(("true",),)),
        entrant(source, "{python}", str(outside), rights=Rights(data=(str(outside),))),
    ]
    hashes = {stage(bot, cache).hash for bot in bots}
    outside.write_text("2")
    hashes.add(stage(bots[-1], cache).hash)
    assert len(hashes) == 6
    copied = shutil.copytree(source, source.with_name("elsewhere"))
    assert stage(entrant(copied), cache).hash == stage(bots[0], cache).hash


def test_results_of_an_earlier_version_know_a_bot_by_the_hash_of_that_version(
    source: Path, cache: Path
) -> None:
    at_first = stage(entrant(source), cache)
    assert at_first.hash == f"tree2-sha256:{at_first.digits}"
    (source / ".DS_Store").write_text("of a system")
    bot = entrant(source)
    now = stage(bot, cache)
    assert now.hash == at_first.hash
    counted = list(former_hashes(now, bot))[1]  # that version counted such a file
    assert len({counted, now.digits}) == 2
    for stored in (counted, now.digits):
        assert with_stored_hash(now, bot, ["another", stored]).hash == stored
    for stored in (now.hash, "another", "other-algorithm:" + now.digits):
        assert with_stored_hash(now, bot, [stored]).hash == now.hash
    remember([now], cache)
    for known in (now.hash, now.digits):
        found = recall(known, cache)
        assert found is not None
        assert (found.hash, found.command) == (known, now.command)
    assert recall(counted, cache) is None


def test_a_name_does_not_change_the_hash(source: Path, cache: Path) -> None:
    other = entrant(source).model_copy(update={"name": "other", "number": 7})
    assert stage(other, cache).hash == stage(entrant(source), cache).hash


@needs_gcc
def test_a_compiled_bot_is_built_once(source: Path, cache: Path) -> None:
    (source / "bot.c").write_text('#include <stdio.h>\nint main(void) { puts("from C"); }\n')
    compiled = entrant(source, "./bot", build=(("gcc", "-O1", "-o", "bot", "bot.c"),))
    bot = stage(compiled, cache)
    assert output(bot) == "from C"
    assert bot.command == (f"{bot.folder}/bot",)
    assert not (source / "bot").exists()
    made = Path(bot.command[0]).stat()
    assert stage(compiled, cache) == bot
    assert Path(bot.command[0]).stat() == made


def test_build_commands_run_in_order_with_nothing_secret(
    source: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "secret")
    steps = (
        ("sh", "-c", "env > env; pwd > here"),
        ("{python}", "-c", "open('made.py', 'w').write(open('here').read())"),
    )
    bot = stage(entrant(source, "cat", "made.py", build=steps), cache)
    assert "secret" not in (Path(bot.folder) / "env").read_text()
    assert output(bot) == bot.folder  # built where it stays


def test_a_failed_build_shows_the_end_of_its_output(source: Path, cache: Path) -> None:
    script = "for i in $(seq 100); do echo line $i; done; printf '\\033[2J no\\n' >&2; exit 7"
    with pytest.raises(UsageError) as caught:
        stage(entrant(source, build=(("true",), ("sh", "-c", script))), cache)
    first, *lines = str(caught.value).splitlines()
    assert first.startswith("the bot 'Émile' does not build: `sh -c ")
    assert first.endswith("exited with status 7; its last lines:")
    assert {"  line 100", "  \\x1b[2J no"} < set(lines)  # two streams, in any order
    assert len(lines) == 20
    assert caught.value.exit_status == 2
    assert versions(cache) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("sh", "-c", "kill -9 $$"), "was ended by SIGKILL (signal 9) and wrote nothing"),
        (("no-such-compiler", "x.c"), "'no-such-compiler': there is no such program"),
        (("sh", "-c", "yes"), "was stopped: it wrote more than 16 MiB"),
    ],
)
def test_builds_that_end_badly(
    command: tuple[str, ...], said: str, source: Path, cache: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        stage(entrant(source, build=(command,)), cache)
    assert said in str(caught.value)


def test_a_build_without_end_is_stopped_with_its_children(source: Path, cache: Path) -> None:
    endless = ("sh", "-c", "sleep 1000 & echo $!; wait")
    with pytest.raises(UsageError, match="the time for building is over") as caught:
        stage(entrant(source, build=(endless,)), cache, build_seconds=0.5)
    child = int(str(caught.value).splitlines()[-1])
    assert ended(child)


def ended(pid: int) -> bool:
    """Return whether a process has ended, or is only waiting to be collected, after a moment."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_a_command_that_the_build_did_not_make(source: Path, cache: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be started: '\./bot': there is no such file"):
        stage(entrant(source, "./bot", build=(("true",),)), cache)
    with pytest.raises(UsageError, match=r"cannot be started: 'gone\.py': there is no such file"):
        stage(entrant(source, "{python}", "gone.py", build=(("true",),)), cache)


def test_links_inside_stay_links(source: Path, cache: Path) -> None:
    (source / "lib").mkdir()
    (source / "lib" / "a.py").write_text("")
    (source / "lib" / "absolute").symlink_to(source / "bot.py")
    (source / "relative").symlink_to("lib/a.py")
    (source / "around").symlink_to(f"../{source.name}/lib")
    (source / "dangling").symlink_to("nothing")
    (source / "loop").symlink_to("loop")
    folder = Path(stage(entrant(source), cache).folder)
    shutil.rmtree(source)
    assert (folder / "lib" / "absolute").resolve() == folder / "bot.py"
    assert (folder / "relative").resolve() == folder / "lib" / "a.py"
    assert (folder / "around" / "a.py").is_file()
    assert (folder / "dangling").is_symlink()


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret", "lib/../../secret", "/nowhere"])
def test_links_that_lead_outside_are_refused(target: str, source: Path, cache: Path) -> None:
    (source / "lib").mkdir()
    source.with_name("secret").write_text("x")
    (source / "link").symlink_to(target)
    with pytest.raises(UsageError, match=r"the link .*/link' leads out of the bot's folder"):
        stage(entrant(source), cache)
    assert versions(cache) == []


def test_a_virtual_environment_comes_along(source: Path, cache: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", source / ".venv"], check=True)
    (source / "bot.py").write_text("import sys; print(sys.prefix)\n")
    bot = stage(entrant(source, ".venv/bin/python", "bot.py"), cache)
    assert output(bot) == f"{bot.folder}/.venv"


@pytest.mark.parametrize("place", ["bot.py", "pyvenv.cfg", "sub/data"])
def test_special_files_are_refused(place: str, source: Path, cache: Path) -> None:
    (source / "sub").mkdir()
    (source / place).unlink(missing_ok=True)
    os.mkfifo(source / place)
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        stage(entrant(source), cache)


DEEP = "import os\nfor _ in range({}): os.mkdir('d'); os.chdir('d')\nopen('x', 'w')"


def in_its_folder(code: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


@pytest.mark.parametrize("levels", [65, 1500, 2500])
def test_deep_folders_are_refused_and_can_be_removed(
    levels: int, source: Path, cache: Path
) -> None:
    in_its_folder(DEEP.format(levels), source)
    try:
        with pytest.raises(UsageError, match="nested more than 64 deep"):
            stage(entrant(source), cache)
    finally:
        remove_tree(source, must=True)  # which neither shutil nor pytest can, on Python 3.11
    assert not source.exists()


@pytest.mark.parametrize("levels", [65, 1500, 2500])
def test_builds_that_make_deep_folders_fail_and_leave_nothing(
    levels: int, source: Path, cache: Path
) -> None:
    build = (("{python}", "-c", DEEP.format(levels)),)
    with pytest.raises(UsageError, match="nested more than 64 deep"):
        stage(entrant(source, build=build), cache)
    assert versions(cache) == []


BAD_BUILDS = {
    "mkfifo pipe": "left 'pipe', which is not a regular file",
    "mkdir a && mkfifo a/b && chmod 0 a": "left 'a/b', which is not a regular file",
    "head -c 1100000000 /dev/zero > big": "wrote more than 1024 MiB to its folder",
    "i=0; while [ $i -lt 20001 ]; do : > $i; i=$((i+1)); done": "made more than 20000 files",
}


@pytest.mark.parametrize("script", BAD_BUILDS)
def test_builds_are_bounded(script: str, source: Path, cache: Path) -> None:
    with pytest.raises(UsageError, match=BAD_BUILDS[script]):
        stage(entrant(source, build=(("sh", "-c", script),)), cache)
    assert versions(cache) == []


def test_a_build_that_takes_long_is_named(
    source: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOURNEY_CACHE", str(cache))
    monkeypatch.setattr("tourney_runner.bots.staging._FIRST_LINE_AFTER", 0.1)
    said: list[str] = []
    slow = entrant(source, build=(("sleep", "2"),))
    bots, broken = stage_all([slow], alone=False, say=said.append)
    assert (len(bots), broken) == (1, {})
    assert said[0] == "building 'Émile' (0 s so far)"


def test_no_build_leaves_programs_that_run_as_its_user(source: Path, cache: Path) -> None:
    (source / "mine").write_text("")
    (source / "mine").chmod(0o6777)
    script = "cp /usr/bin/id id; chmod 6777 id . ; mkdir d; chmod 7777 d; umask 0; : > open"
    folder = Path(stage(entrant(source, build=(("sh", "-c", script),)), cache).folder)
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o7222 == 0, path
    assert os.access(folder / "id", os.X_OK)


def test_files_that_turn_into_links_are_not_copied(
    source: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The author changes a folder while it is staged, as fast as can be."""
    (source.parent / "secret").mkdir()
    (source.parent / "secret/bot.py").write_text("secret")
    (source / "lib").mkdir()
    (source / "lib/bot.py").write_text("mine")
    real = staging.scan

    def scan(folder: Path) -> Any:
        entries = real(folder)
        shutil.rmtree(source / "lib")
        (source / "lib").symlink_to("../secret")
        return entries

    monkeypatch.setattr(staging, "scan", scan)
    with pytest.raises(UsageError, match="cannot be staged: Not a directory"):
        stage(entrant(source), cache)


def test_nothing_of_a_bot_is_run_to_find_its_program(
    source: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot's folder looks like a version manager's, with a trap in every place."""
    trap = f"#!/bin/sh\ntouch {source.parent}/pwned\necho /usr/bin/python3\n"
    for name in ("shims/python", "bin/source", "bin/bot", "bin/pyenv", "python3", "which"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(trap)
        (source / name).chmod(0o755)
    monkeypatch.chdir(source)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    bot = stage(entrant(source, "shims/python", "bot.py"), cache)
    assert bot.command == (f"{bot.folder}/shims/python", "bot.py")
    stage(entrant(source, "sh", "python3", build=(("true",),)), cache)
    assert not (source.parent / "pwned").exists()


def test_what_is_no_file_is_refused(source: Path, cache: Path) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        here = Path.cwd()
        os.chdir(source)  # a socket's path must be short
        try:
            door.bind("door")
        finally:
            os.chdir(here)
        with pytest.raises(UsageError, match="neither a file nor a folder"):
            stage(entrant(source), cache)


def test_a_giant_folder_is_refused(source: Path, cache: Path) -> None:
    with (source / "disk.img").open("wb") as stream:
        stream.truncate(2 * 1024**3)
    with pytest.raises(UsageError, match="give the bot a folder of its own"):
        stage(entrant(source), cache)


def test_a_folder_that_cannot_be_read_is_one_plain_error(source: Path, cache: Path) -> None:
    with pytest.raises(UsageError, match="the bot 'Émile' cannot be staged: No such file"):
        stage(entrant(source / "gone"), cache)


def test_a_cache_that_cannot_be_written_is_one_plain_error(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be staged: Not a directory"):
        stage(entrant(source), tmp_path / "file" / "cache")


def test_a_command_without_files_runs_in_an_empty_folder(cache: Path) -> None:
    bot = stage(entrant(None, "sh", "-c", "ls | wc -l"), cache)
    assert output(bot) == "0"
    assert bot.command[0] == shutil.which("sh")


def test_a_copy_that_lost_files_is_made_again(source: Path, cache: Path) -> None:
    bot = stage(entrant(source), cache)
    Path(bot.folder).chmod(0o755)
    (Path(bot.folder) / "bot.py").unlink()
    assert stage(entrant(source), cache) == bot
    assert output(bot) == "hello"


def test_many_at_once_build_once(source: Path, cache: Path) -> None:
    count = source.with_name("count")
    slow = (("sh", "-c", f"echo built >> {count}; sleep 0.3"),)
    with ThreadPoolExecutor(6) as pool:
        bots = list(pool.map(lambda _: stage(entrant(source, build=slow), cache), range(6)))
    assert len({bot.folder for bot in bots}) == 1
    assert count.read_text() == "built\n"


def test_what_a_killed_run_left_is_removed(source: Path, cache: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    program = textwrap.dedent(f"""
        from pathlib import Path
        from tourney_runner.bots import stage
        from tourney_runner.config import Entrant
        build = (("sh", "-c", "mkdir a; chmod 500 a; echo $$ > {started}; sleep 1000"),)
        stage(Entrant(number=0, name="x", folder=Path({str(source)!r}), command=("sh",),
                      build=build), Path({str(cache)!r}))
    """)
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        while not (started.exists() and started.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.02)
        stage(entrant(None, "sh"), cache)
        remove_unfinished(cache)
        assert len(versions(cache)) == 2  # one is being built and is left alone
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    os.killpg(int(started.read_text()), signal.SIGKILL)
    remove_unfinished(cache)
    assert len(versions(cache)) == 1


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOURNEY_CACHE", "/somewhere/else")
    assert cache_folder() == Path("/somewhere/else")
    monkeypatch.delenv("TOURNEY_CACHE")
    assert cache_folder().name == "tourney"
