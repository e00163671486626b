"""Fleets under everything that happens to one: failures, a dead worker, a server that restarts, a cancel."""

import base64
import json
import signal
import subprocess
import sys
from typing import Any

import pytest
from conftest import MakeFleet
from fleet_kit import COMMANDS, FleetServer, until
from night import by_day

NETWORKS = {"project": "net", "program": "tenant.py:network", "stack": "{region}", "for": {"region": ["eu", "us"]}}
"""Two stacks that others need."""


def tenants(count: int, **config: str) -> dict[str, Any]:
    """Tenants of both networks, each with values of its own."""
    rows = [
        {"tenant": f"t{number}", "region": "eu" if number % 2 else "us", "fails": "", "number": str(number)}
        for number in range(count)
    ]
    return {
        "project": "tenant",
        "program": "tenant.py:tenant",
        "stack": "{tenant}",
        "for": rows,
        "config": {"fails": "{fails}", "network": "{region}", **config},
        "needs": ["net/{region}"],
    }


def test_forty_stacks_survive_a_killed_worker_and_a_server_that_restarts(
    own_server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(own_server)
    stacks = tenants(38, holds="true")
    for number in (5, 15):
        stacks["for"][number]["fails"] = "always"
    for number in (10, 20):
        stacks["for"][number]["fails"] = "once"
    # A dead worker is noticed sooner.
    fleet.write([NETWORKS, stacks], heartbeat="3s")
    lost = fleet.worker("--slots", "4")
    fleet.worker("--slots", "4")
    run = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) >= 6, "stacks that both workers are at")
    lost.send_signal(signal.SIGKILL)
    own_server.stop()
    fleet.let_go()
    own_server.start()

    told = fleet.command("results", run, "--json", code=1)

    ends = {end["id"]: end for end in json.loads(told.stdout)["ends"]}
    failed = {name for name, end in ends.items() if end["outcome"] == "failed"}
    assert failed == {"tenant/t5", "tenant/t15"}
    assert all(end["outcome"] in ("done", "unchanged") for name, end in ends.items() if name not in failed)
    assert all(ends[name]["reason"] == "provider" and "no room" in ends[name]["text"] for name in failed)
    assert ends["tenant/t10"]["attempts"] > 1
    objects = fleet.objects()
    assert {objects[f"t{number}"] for number in range(38) if f"tenant/t{number}" not in failed} == {3}
    assert (objects["eu"], objects["us"]) == (1, 1)
    fleet.assert_whole(failed=["t5", "t15"])
    logs = "".join(log.read_text() for log in fleet.folder.glob("worker-*.log"))
    assert "WARN" not in logs, "the SDK tells of each try while the server is away"


def test_a_failed_stack_takes_along_those_that_need_it_and_retry_does_the_rest(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    first = {"project": "base", "program": "tenant.py:tenant", "stack": "a", "config": {"fails": "always"}}
    second = {"project": "base", "program": "tenant.py:tenant", "stack": "b", "needs": ["a"]}
    third = {"project": "base", "program": "tenant.py:tenant", "stack": "c"}
    fleet.write([first, second, third], retry={"provider": 1})
    fleet.worker()

    result = fleet.run("up", code=1)

    assert {name: end["outcome"] for name, end in result["ends"].items()} == {
        "base/a": "failed",
        "base/b": "skipped",
        "base/c": "done",
    }
    assert result["ends"]["base/b"]["text"] == "needs base/a, which failed"
    told = json.loads(fleet.command("history", "--json").stdout)
    assert [(row["state"], row["failed"]) for row in told] == [("failed", 1)]
    assert fleet.command("logs", "b").stdout == "No run of the fleet has worked on base/b\n"
    assert "base/b has nothing on record of run" in fleet.command("logs", "b", "--run", result["run"], code=1).stderr
    # The files as they are now count.
    fleet.write([{**first, "config": {}}, second, third])
    again = fleet.run("retry", result["run"])
    assert {name: end["outcome"] for name, end in again["ends"].items()} == {"base/a": "done", "base/b": "done"}
    fleet.assert_whole()


def test_a_reference_orders_stacks_although_nobody_wrote_it_down(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    user = {"project": "tenant", "program": "tenant.py:tenant", "stack": "user", "config": {"network": "eu"}}
    network = {"project": "net", "program": "tenant.py:network", "stack": "eu"}
    fleet.write([user, network])
    fleet.worker()

    result = fleet.run("up", "--at-a-time", "1")

    assert list(result["ends"]) == ["net/eu", "tenant/user"]
    destroyed = fleet.run("destroy")
    assert list(destroyed["ends"]) == ["tenant/user", "net/eu"], "the last state says who needs whom"
    assert sum(fleet.objects().values()) == 0


def test_runs_of_the_library_follow_references_too(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    network = {"project": "net", "program": "tenant.py:network", "stack": "eu"}
    user = {"project": "tenant", "program": "tenant.py:tenant", "stack": "user", "config": {"network": "eu"}}
    fleet.write([network, user])
    fleet.worker()
    fleet.run("up")
    code = "from maloko import fleet; print([end.stack for end in fleet.load().destroy().result().ends])"

    told = subprocess.run(
        [sys.executable, "-c", code], cwd=fleet.folder, env=fleet.variables, capture_output=True, text=True
    )

    assert told.stdout == "['tenant/user', 'net/eu']\n", told.stderr


def test_who_reads_a_stack_while_it_is_made_for_the_first_time_begins_again_behind_it(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    network = {"project": "net", "program": "tenant.py:network", "stack": "eu", "config": {"holds": "true"}}
    users = [
        {
            "project": "tenant",
            "program": "tenant.py:tenant",
            "stack": early,
            "config": {"network": "eu", "early": early},
        }
        for early in ("strict", "lenient")
    ]
    fleet.write([*users, network])
    fleet.worker()
    run = fleet.detached("up")

    def is_network_alone() -> bool:
        counts = json.loads(fleet.command("status", run, "--json").stdout)["counts"]
        return fleet.marks("held") == {"eu"} and (counts["running"], counts["waiting"]) == (1, 2)

    until(is_network_alone, "the users to wait for the network")
    fleet.let_go()

    result = json.loads(fleet.command("watch", run, "--json").stdout)

    ends = {end["id"]: (end["outcome"], end["attempts"], end["changes"]["create"]) for end in result["ends"]}
    # A stack and its files.
    assert ends == {"net/eu": ("done", 1, 2), "tenant/strict": ("done", 2, 4), "tenant/lenient": ("done", 2, 4)}
    outputs = fleet.run("up", "--outputs")["ends"]
    assert {outputs[name]["outputs"]["range"] for name in ends} == {"10.0.0.0/2"}
    fleet.assert_whole()


def test_cancel_reaches_providers_and_the_run_ends_last(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write([{**tenants(12, holds="true"), "needs": [], "config": {"holds": "true"}}])
    fleet.worker("--slots", "3")
    run = fleet.detached("up")
    held = until(lambda: fleet.marks("held") if len(fleet.marks("held")) == 3 else None, "three stacks at work")

    fleet.command("cancel", run)

    assert fleet.marks("told") == held
    result = json.loads(fleet.command("results", run, "--json", code=8).stdout)
    assert result["outcome"] == "cancelled"
    made = [end["id"].removeprefix("tenant/") for end in result["ends"] if end["changes"].get("create")]
    assert sorted(made) == sorted(held), "what they had made until then is told"
    assert json.loads(fleet.command("history", "--json").stdout)[0]["state"] == "cancelled"
    fleet.let_go()
    assert fleet.run("up")["counts"]["done"] == 12
    fleet.assert_whole()


@pytest.mark.parametrize("phase", by_day(["to be retried", "paused", "without workers"], lambda _, place: place == 0))
def test_cancel_ends_a_run_of_which_nothing_is_at_work(server: FleetServer, make_fleet: MakeFleet, phase: str) -> None:
    fleet = make_fleet(server)
    config = {"to be retried": {"fails": "always"}, "paused": {"holds": "true"}}.get(phase, {})
    retry = {"provider": 5, "first_wait": "1h", "longest_wait": "1h"}
    fleet.write([{**tenants(2), "needs": [], "config": config}], limits={"at_a_time": 1}, retry=retry)
    # One that serves no stacks answers in place of the run.
    fleet.worker(*(["--queue", "none"] if phase == "without workers" else []))
    run = fleet.detached("up")

    def counts(**expected: int) -> bool:
        told = json.loads(fleet.command("status", run, "--json").stdout)["counts"]
        return bool(expected.items() <= told.items())

    if phase == "to be retried":
        until(lambda: counts(retrying=2), "both stacks to fail", pause=COMMANDS)
    if phase == "paused":
        until(lambda: fleet.marks("held"), "the first stack to be at work")
        fleet.command("pause", run)
        fleet.let_go()
        until(lambda: counts(running=0, done=1), "the first stack to end", pause=COMMANDS)

    fleet.command("cancel", run)

    outcomes = [end["outcome"] for end in fleet.results(run, code=8)["ends"].values()]
    assert sorted(outcomes) == (["cancelled", "done"] if phase == "paused" else ["cancelled"] * 2)
    assert json.loads(fleet.command("history", "--json").stdout)[0]["state"] == "cancelled"
    fleet.assert_whole()


def test_a_worker_that_is_told_to_end_hands_its_stacks_over(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write([{**tenants(4), "needs": [], "config": {"holds": "true"}}])
    leaving = fleet.worker("--slots", "2", "--processes", "2")
    run = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) == 4, "four stacks at work")
    fleet.worker("--slots", "4")

    leaving.send_signal(signal.SIGTERM)

    assert leaving.wait(30) == 0
    assert len(fleet.marks("told")) == 4, "the providers were told"
    fleet.let_go()
    ends = fleet.results(run)["ends"]
    assert set(fleet.objects().values()) == {3}
    # The first worker has made the stack's own resource, and the second one the files.
    told = {name: (end["outcome"], end["changes"]["create"]) for name, end in ends.items()}
    assert told == {f"tenant/t{number}": ("done", 4) for number in range(4)}
    fleet.assert_whole()


def test_a_program_with_a_folder_of_its_own_runs_in_its_own_process(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    app = fleet.folder / "app"
    app.mkdir()
    (app / "Pulumi.yaml").write_text("name: app\nruntime: python\n")
    (app / "__main__.py").write_text(
        "import sys\nsys.path.insert(0, '..')\nimport os\nimport pulumi\nfrom tenant import tenant\n"
        "tenant()\npulumi.export('process', os.getpid())\n"
    )
    (app / "Pulumi.a.yaml").write_text("config:\n  app:files: '2'\n")
    fleet.write([{"program": "app", "stack": ["a", "b"], "config": {"plan": "gold"}}])
    worker = fleet.worker()

    result = fleet.run("up", "--outputs")

    assert fleet.objects() == {"a": 2, "b": 3}, "the settings of the program's own file count"
    processes = {end["outputs"]["process"] for end in result["ends"].values()}
    assert len(processes) == 2
    assert worker.pid not in processes
    assert [file.name for file in sorted(app.glob("Pulumi*"))] == ["Pulumi.a.yaml", "Pulumi.yaml"]
    fleet.assert_whole()


def test_two_fleets_over_the_same_stacks_exclude_each_other(server: FleetServer, make_fleet: MakeFleet) -> None:
    one, other = make_fleet(server), make_fleet(server)
    stacks = [{**tenants(6), "needs": [], "config": {"holds": "true"}}]
    one.write(stacks)
    other.variables["WORLD"] = str(one.world)
    # What an attempt came to is encrypted, and told.
    other.variables["MALOKO_FLEET_KEY"] = base64.b64encode(bytes(32)).decode()
    other.write(stacks, backend=f"file://{one.state}")
    one.worker()
    other.worker()
    runs = [(one, one.detached("up"))]
    until(lambda: len(one.marks("held")) == 6, "all stacks at work")
    runs.append((other, other.detached("up")))
    locked = f"locked by run {runs[0][1]}"
    until(lambda: locked in other.command("status").stdout, "a stack that is locked", pause=COMMANDS)
    one.let_go()

    for fleet, run in runs:
        fleet.command("results", run)

    assert one.objects() == {f"t{number}": 3 for number in range(6)}
    one.assert_whole()


# In Python alone: the server decides it by the run's name, which course and plan give
def test_the_same_run_twice_is_one(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write([{**tenants(2), "needs": [], "config": {"holds": "true"}}])
    fleet.worker()
    first = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) == 2, "both stacks at work")

    assert fleet.detached("up") == first

    fleet.let_go()
    fleet.command("results", first)
    assert fleet.command("history").stdout.count(first) == 1


def test_stacks_take_over_what_is_there(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write([{**tenants(2), "needs": [], "config": {"plan": "gold"}}])
    fleet.worker()
    objects = fleet.world / "objects" / "t1"
    objects.mkdir(parents=True)
    (objects / "by-hand").touch()
    (fleet.folder / "imports").mkdir()
    found = {"resources": [{"type": "tenant:Files", "name": "old", "id": "t1/by-hand"}]}
    (fleet.folder / "imports" / "t1.json").write_text(json.dumps(found))

    result = fleet.run("import", "--from", "imports/{stack}.json")

    assert result["ends"]["tenant/t0"]["outcome"] == "unchanged", "it has nothing to take over"
    warning = "it takes nothing over: there is no file imports/t0.json at this worker"
    assert result["ends"]["tenant/t0"]["warnings"] == [warning]
    assert "warnings" not in result["ends"]["tenant/t1"]
    assert result["ends"]["tenant/t1"]["changes"]["import"] == 1
    assert "t1/by-hand" in (fleet.state / ".pulumi/stacks/tenant/t1.json").read_text()


# In Python alone: reasons are told by the same Rust
def test_a_damaged_state_stops_alone(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write([{**tenants(3), "needs": [], "config": {"plan": "gold"}}])
    fleet.worker()
    fleet.run("up")
    (fleet.state / ".pulumi" / "stacks" / "tenant" / "t1.json").write_text("{")

    result = fleet.run("up", code=1)

    assert {name: end["outcome"] for name, end in result["ends"].items()} == {
        "tenant/t0": "unchanged",
        "tenant/t1": "failed",
        "tenant/t2": "unchanged",
    }
    end = result["ends"]["tenant/t1"]
    assert (end["reason"], end["attempts"]) == ("damaged", 1)
