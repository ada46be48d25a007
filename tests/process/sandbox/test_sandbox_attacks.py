"""Every attack of one table, by bots that run it themselves.

By default each attack is tried once under a sandbox and once without one. The combinations of
backend and user take turns over the table. With ``--slow`` each attack is tried under all of them.
Hundreds of small probes, which one bot makes in a second, are always tried under all of them.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import pytest
from sandbox_stage import Reports

if TYPE_CHECKING:
    from sandbox_stage import Stage

SUCCEEDS, FAILS, UNTRIED = True, False, None

ATTACKS = {
    # attack: what becomes of it where nothing but limits stands in its way
    "read_an_opponent": SUCCEEDS,
    "read_the_seed": SUCCEEDS,
    "write_the_results": SUCCEEDS,
    "empty_the_results_by_name": SUCCEEDS,
    "lock_out_the_opponent_by_mode": SUCCEEDS,
    "change_its_own_program": UNTRIED,
    "secrets_in_the_environment": SUCCEEDS,
    "command_lines_of_others": SUCCEEDS,
    "host_paths_in_the_wrapper": FAILS,
    "memory_of_others": SUCCEEDS,
    "trace_the_opponent": UNTRIED,
    "read_memory_by_system_call": SUCCEEDS,
    "a_fake_move": SUCCEEDS,
    "signal_the_opponent": SUCCEEDS,
    "signal_the_runner": SUCCEEDS,
    "signal_everyone": UNTRIED,
    "starve_the_opponent": SUCCEEDS,
    "leave_the_own_core": SUCCEEDS,
    "connect_by_tcp": SUCCEEDS,
    "send_by_udp": SUCCEEDS,
    "connect_to_an_abstract_socket": SUCCEEDS,
    "connect_to_a_socket_with_a_path": SUCCEEDS,
    "send_to_a_path_through_a_pair": SUCCEEDS,
    "raw_sockets_of_the_kernel": SUCCEEDS,
    "leave_a_file_on_the_host": SUCCEEDS,
    "fill_the_disk": UNTRIED,
    "one_big_file": FAILS,
    "fifty_forks": FAILS,
    "a_gibibyte": FAILS,
    "half_a_gibibyte_by_memfd": UNTRIED,
    "memory_spread_over_children": FAILS,
    "shared_memory_of_system_v": UNTRIED,
    "message_queue": UNTRIED,
    "keyring": UNTRIED,
    "lock_a_file_of_the_system": SUCCEEDS,
    "lock_a_part_of_a_file_of_the_system": SUCCEEDS,
    "watch_a_file_of_the_system": SUCCEEDS,
    "new_namespaces": UNTRIED,
    "io_uring": UNTRIED,
    "kernel_interfaces": UNTRIED,
    "any_capability": FAILS,
    "be_root": FAILS,
    "a_daemon": FAILS,
    "a_chain_that_forks_and_exits": FAILS,
}
SANDBOXES = [(backend, user) for backend in ("bwrap", "landlock") for user in ("root", "ordinary")]
PLAIN = ("limits", "ordinary")
TRIED_PLAINLY = [name for name, fate in ATTACKS.items() if fate is not UNTRIED]


TURNS = dict(zip(ATTACKS, cycle(SANDBOXES), strict=False))
"""The combination under which an attack is tried by default."""


@pytest.fixture(scope="module")
def reports(stage: Stage, request: pytest.FixtureRequest) -> Reports:
    everything = request.config.getoption("--slow")
    jobs = {
        key: ("attacks", key[0], *(name for name in ATTACKS if everything or TURNS[name] == key))
        for key in SANDBOXES
    }
    return Reports(stage, jobs | {PLAIN: ("attacks", "limits", *TRIED_PLAINLY)})


@pytest.mark.parametrize(
    ("attack", "backend", "user"),
    [
        pytest.param(attack, *key, marks=() if TURNS[attack] == key else pytest.mark.slow)
        for attack in ATTACKS
        for key in SANDBOXES
    ],
)
def test_a_sandbox_stops_the_attack(attack: str, backend: str, user: str, reports: Reports) -> None:
    outcome = reports.of(backend, user)[attack]
    assert not outcome["done"], outcome["how"]


@pytest.mark.parametrize("attack", TRIED_PLAINLY)
def test_the_attack_is_a_real_one(attack: str, reports: Reports) -> None:
    outcome = reports.of(*PLAIN)[attack]
    assert outcome["done"] is ATTACKS[attack], outcome["how"]


GROUPS = {
    # group of probes: some that reach their aim where nothing but limits stands in their way
    "processes": {"opponent: environ", "opponent: cmdline", "opponent: kill", "runner: limits"},
    "kernel": {"memfd_create", "shmget", "unshare user", "clone user", "inotify_init1", "add_key"},
    "network": {"family 2", "family 16", "abstract stream", "path datagram", "a pair to a path"},
    "files": {"read a hidden file", "write a file open to all", "read by a link", "list /var"},
    "own": {"chmod of program", "unlink of program", "flags of program", "flock of system"},
}


@pytest.fixture(scope="module")
def probes(stage: Stage) -> Reports:
    return Reports(stage, {key: ("probes", key[0]) for key in (*SANDBOXES, PLAIN)})


@pytest.fixture(scope="module")
def online(stage: Stage) -> Reports:
    return Reports(stage, {key: ("probes", key[0], "online") for key in SANDBOXES})


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(("backend", "user"), SANDBOXES)
def test_no_probe_reaches_anything(backend: str, user: str, group: str, probes: Reports) -> None:
    assert probes.of(backend, user)[group]["reached"] == []


@pytest.mark.parametrize("group", GROUPS)
def test_the_probes_are_real_ones(group: str, probes: Reports) -> None:
    reached = probes.of(*PLAIN)[group]["reached"]
    assert GROUPS[group] <= set(reached)


@pytest.mark.parametrize(("backend", "user"), SANDBOXES)
def test_a_bot_with_the_network_reaches_no_local_socket(
    backend: str, user: str, online: Reports
) -> None:
    report = online.of(backend, user)
    reached = set(report["network"]["reached"])
    assert "family 2" in reached
    assert not [name for name in reached if name.startswith(("abstract", "path", "a pair"))]
    assert {group for group in GROUPS if report[group]["reached"]} == {"network"}
