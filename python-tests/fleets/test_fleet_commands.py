"""`maloko fleet`, as people and scripts use it."""

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeFleet
from fleet_kit import FleetFolder, FleetServer, children, free_port, until

COMMAND = [sys.executable, "-m", "maloko", "fleet"]


def stacks_of(count: int, **config: str) -> list[dict[str, Any]]:
    rows = [{"tenant": f"t{number}", "ring": "canary" if number == 0 else "rest"} for number in range(count)]
    return [{"project": "tenant", "program": "tenant.py:tenant", "stack": "{tenant}", "for": rows, "config": config}]


@pytest.fixture
def fleet(server: FleetServer, make_fleet: MakeFleet) -> FleetFolder:
    return make_fleet(server)


def test_a_run_is_watched_paused_and_goes_on(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(4, holds="true"), limits={"at_a_time": 1})
    fleet.worker()
    run = fleet.detached("up", "--message", "the first one")
    until(lambda: fleet.marks("held"), "a stack at work")

    fleet.command("pause", run)
    fleet.let_go()
    until(lambda: sum(fleet.objects().values()) == 3, "the stack at work to end")
    status = json.loads(fleet.command("status", "--json").stdout)

    assert (status["run"], status["state"]) == (run, "paused")
    assert "paused" in fleet.command("history").stdout
    assert status["counts"]["waiting"] == 3
    assert run in fleet.command("status").stdout
    results = fleet.beside("results", run)
    assert results.stderr is not None
    goes_on = f"run {run} has not ended: waiting for its end. Ctrl-C leaves it; the run goes on\n"
    assert results.stderr.readline() == goes_on
    assert "paused" in results.stderr.readline()
    results.send_signal(signal.SIGINT)
    assert results.wait(60) == 130
    results.communicate()
    fleet.command("resume", run)
    assert "4 done" in fleet.command("watch", run).stdout
    history = json.loads(fleet.command("history", "--json").stdout)
    told = [(row["run"], row["state"], row["verb"], row["stacks"], row["failed"], row["message"]) for row in history]
    assert told == [(run, "done", "up", 4, 0, "the first one")]
    (operation,) = json.loads(fleet.command("history", "--stack", "t3", "--json").stdout)
    assert (operation["run"], operation["attempt"], operation["changes"]["create"]) == (run, 1, 4)
    assert "no stack is named 't9'" in fleet.command("history", "--stack", "t9", code=2).stderr
    assert "file-2" in fleet.command("logs", "t3").stdout
    # A stack's own history needs no server.
    fleet.write(stacks_of(4, holds="true"), engine="temporal://127.0.0.2:9/default")
    assert "file-2" in fleet.command("logs", "t3", "--run", run).stdout
    assert "has nothing on record of run gone" in fleet.command("logs", "t3", "--run", "gone", code=1).stderr
    fleet.write(stacks_of(4, holds="true"))
    # Nobody reads what comes after the first lines.
    read, written = os.pipe()
    os.close(read)
    unread = subprocess.run([*COMMAND, "history"], cwd=fleet.folder, env=fleet.variables, stdout=written, stderr=-1)
    os.close(written)
    assert (unread.returncode, unread.stderr) == (0, b"")
    # What a fleet labels is found without it.
    assert fleet.stacks_with("tenant=t2") == ["t2"]
    fleet.command("page", run, "--output", "run.html")
    assert run in (fleet.folder / "run.html").read_text()


# In Python alone: selecting is the same Rust
def test_what_is_selected_is_all_that_is_done(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(4, plan="gold"))
    fleet.worker()

    assert set(fleet.run("up", "--select", "ring=canary")["ends"]) == {"tenant/t0"}
    assert set(fleet.run("preview", "--stack", "t[12]")["ends"]) == {"tenant/t1", "tenant/t2"}
    assert set(fleet.objects()) == {"t0"}
    drift = fleet.run("drift", "--stack", "t0")
    assert drift["ends"]["tenant/t0"]["outcome"] == "unchanged"
    assert drift["run"].split("-")[-2] == "drift"


# In Python alone: conformance/fleets/course.json has it for both
def test_the_stop_rule_ends_a_wave_and_skips_the_rest(fleet: FleetFolder) -> None:
    waves = [{"select": "ring=canary"}, {"unless_failed": 1}]
    fleet.write(stacks_of(3, fails="always"), waves=waves)
    fleet.worker()

    result = fleet.run("up", code=1)

    assert result["counts"]["failed"] == 1
    assert result["counts"]["skipped"] == 2
    assert result["ends"]["tenant/t2"]["reason"] == "stopped"
    shown = fleet.command("results", result["run"], code=1).stdout
    assert "tenant/t0" in shown
    assert "no room" in shown


def test_a_stack_that_a_stop_keeps_from_its_next_start_says_of_what_it_failed(fleet: FleetFolder) -> None:
    settings = {"limits": {"at_a_time": 1}, "retry": {"provider": 2, "first_wait": "1s"}, "stop_after": 1}
    fleet.write(stacks_of(2, fails="always", files="2"), **settings)
    fleet.worker()

    result = fleet.run("up", code=1)

    ends = result["ends"]
    assert (ends["tenant/t0"]["outcome"], ends["tenant/t1"]["outcome"]) == ("failed", "skipped")
    assert ends["tenant/t1"]["text"].startswith("1 failed, and the run stops after 1; it failed before: ")
    assert "no room" in ends["tenant/t1"]["text"]
    # A resource has its URN for programs, and its name for people.
    assert "::pulumi-python:dynamic:Resource::file-1: OSError" in ends["tenant/t0"]["text"]
    shown = fleet.command("results", result["run"], code=1).stdout
    assert "Resource file-1: OSError: the service has no room" in shown
    assert "urn:" not in shown
    assert "    maloko.attempt: 2" in fleet.command("logs", "t0").stdout.splitlines()


def test_the_same_run_twice_is_two_in_history(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(1))
    fleet.worker()
    run = fleet.run("up")["run"]
    assert fleet.run("up")["run"] == run

    newest, older = (row["run"] for row in json.loads(fleet.command("history", "--json").stdout))

    assert (newest, older.split("/")[0]) == (run, run)
    counts = [fleet.results(name)["counts"] for name in (newest, older)]
    assert [(each["done"], each["unchanged"]) for each in counts] == [(0, 1), (1, 0)]
    assert json.loads(fleet.command("status", older, "--json").stdout)["run"] == older
    assert older in fleet.command("page", older, "--output", "-").stdout
    fleet.run("drift")
    # What a look has left is nothing to be done again.
    assert f"run {run} has nothing left" in fleet.command("retry", "--yes", code=1).stderr


def test_workers_of_the_command_end_with_it(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(2, holds="true"))
    process = fleet.beside("up", "--yes", "--workers", "1")
    until(lambda: len(fleet.marks("held")) == 2, "both stacks at work")

    process.send_signal(signal.SIGINT)

    out, err = process.communicate(timeout=60)
    assert process.returncode == 8, (out, err)
    assert fleet.marks("told") == {"t0", "t1"}


def test_schedules_are_those_of_the_file(fleet: FleetFolder) -> None:
    entry = {"every": "6h", "jitter": "1m", "verb": "refresh --preview-only", "select": "ring=canary"}
    fleet.write(stacks_of(1), schedules={"drift": entry})
    line = "drift: refresh --preview-only of ring=canary every 6h, up to 1m later"
    assert f"{line}, not on the server" in fleet.command("schedules").stdout

    fleet.variables["MALOKO_FLEET_KEY"] = base64.b64encode(bytes(32)).decode()
    fleet.command("schedules", "--apply")
    # What another key has encrypted is replaced.
    del fleet.variables["MALOKO_FLEET_KEY"]
    assert f"{line}, next 20" in fleet.command("schedules", "--apply").stdout

    told = json.loads(fleet.command("schedules", "--json").stdout)
    assert told["drift"]["onServer"]
    assert told["drift"]["next"]
    fleet.write(stacks_of(1))
    # The server's list is late.
    only = "drift: only on the server; `--apply` deletes it\n"
    until(lambda: fleet.command("schedules").stdout == only, "the schedule in the server's list")
    assert fleet.command("schedules", "--apply").stdout == "drift: deleted\n"
    none = fleet.command("schedules")
    assert (none.stdout, none.stderr) == ("", "there are no schedules: neither in the fleet's file nor on the server\n")
    assert json.loads(fleet.command("schedules", "--json").stdout) == {}


def test_a_run_without_workers_says_what_is_missing(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(1))
    process = fleet.beside("up", "--yes")
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)

    assert "no worker serves the runs of this fleet" in lines[1]
    assert "maloko fleet worker --queue default" in lines[2]
    run = lines[0].split("run ", 1)[1].split(":", 1)[0]
    status = fleet.beside("status", run)
    assert status.stderr is not None
    assert status.stderr.readline() == f"waiting for an answer of run {run}\n"
    status.send_signal(signal.SIGINT)
    status.communicate(timeout=60)
    fleet.worker()
    assert json.loads(fleet.command("watch", run, "--json").stdout)["counts"]["done"] == 1


def test_a_run_for_which_nobody_answers_is_watched_until_somebody_does(fleet: FleetFolder, tmp_path: Path) -> None:
    fleet.write(stacks_of(1))
    said = tmp_path / "said"
    command = [sys.executable, "-m", "maloko", "fleet", "up", "--yes"]
    with said.open("w") as file:
        process = subprocess.Popen(command, cwd=fleet.folder, env=fleet.variables, stdout=file, stderr=file)
    until(lambda: "does not answer" in said.read_text(), "the warning")

    fleet.worker()

    assert process.wait(60) == 0, said.read_text()
    assert said.read_text().count("no worker serves the runs of its fleet just now") == 1
    assert "1 done" in said.read_text()


def test_a_run_that_begins_beside_another_one_says_so(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(2, holds="true"))
    fleet.worker()
    first = fleet.detached("up")
    until(lambda: first in fleet.command("history", "--json").stdout, "the first one in the list")
    assert fleet.command("up", "--yes", "--detach").stderr.count("goes on, too") == 0, "it is the same"

    told = fleet.command("up", "--stack", "t0", "--yes", "--detach", "--json")

    second = json.loads(told.stdout)["run"]
    assert second != first
    assert f"run {first} goes on, too: a stack that both work on waits" in told.stderr
    fleet.let_go()
    assert {fleet.results(run)["outcome"] for run in (first, second)} == {"done"}


def test_runs_of_another_key_are_listed_and_cancelled(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(2, holds="true"))
    fleet.variables["MALOKO_FLEET_KEY"] = base64.b64encode(bytes(32)).decode()
    fleet.worker()
    run = fleet.detached("up")
    until(lambda: len(fleet.marks("held")) == 2, "both stacks at work")
    fleet.variables["MALOKO_FLEET_KEY"] = base64.b64encode(bytes([1] * 32)).decode()

    (row,) = json.loads(fleet.command("history", "--json").stdout)

    assert (row["run"], row["verb"], row["state"], row["readable"]) == (run, "up", "running", False)
    assert (row["stacks"], row["failed"]) == (None, None)
    assert "encrypted with another key than MALOKO_FLEET_KEY" in fleet.command("history").stdout
    other = f"run {run} is encrypted with another key than that in MALOKO_FLEET_KEY: set it to the key"
    assert other in fleet.command("status", code=1).stderr
    del fleet.variables["MALOKO_FLEET_KEY"]
    none = f"run {run} is encrypted, and MALOKO_FLEET_KEY is not set: set it to the key"
    assert none in fleet.command("page", code=1).stderr
    assert fleet.command("cancel").stderr.endswith(f"run {run} has ended\n")
    assert fleet.marks("told") == {"t0", "t1"}
    assert json.loads(fleet.command("history", "--json").stdout)[0]["state"] == "cancelled"


def test_a_run_that_workers_cannot_read_says_so(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(1))
    fleet.worker()
    fleet.variables["MALOKO_FLEET_KEY"] = base64.b64encode(bytes(32)).decode()
    process = fleet.beside("up", "--yes")
    assert process.stderr is not None

    said = next(line for line in process.stderr if "does not answer" in line)

    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert "its worker cannot go on with it. A worker with another MALOKO_FLEET_KEY cannot read it" in said


@pytest.mark.parametrize("verb", ["up", "destroy"])
def test_what_is_not_confirmed_is_not_begun(fleet: FleetFolder, verb: str) -> None:
    fleet.write(stacks_of(1))
    asked = json.dumps({"command": verb, "file": str(fleet.file), "directory": str(fleet.folder), "interactive": True})
    command = "import sys; from maloko.fleet._commands import run; sys.exit(run(sys.argv[1]))"

    told = subprocess.run(
        [sys.executable, "-c", command, asked], env=fleet.variables, input="no\n", capture_output=True, text=True
    )

    assert told.returncode == 8
    assert told.stderr.endswith("not confirmed; nothing was begun\n")


def test_what_cannot_be_is_told_with_the_command_that_helps(fleet: FleetFolder, tmp_path: Path) -> None:
    fleet.write(stacks_of(1))
    asked = fleet.command("destroy", code=2).stderr
    assert "add --yes" in asked
    assert "knows no run 'nobody'" in fleet.command("status", "nobody", code=1).stderr
    # A server that has to be at this machine is waited for.
    address = f"127.0.0.2:{free_port()}"
    fleet.write(stacks_of(1), engine=f"temporal://{address}/default")
    for command in (["up", "--yes"], ["worker"]):
        away = fleet.command(*command, code=1).stderr
        assert f"the Temporal server at {address} cannot be reached: connection refused. `maloko fleet dev`" in away
        assert "waiting" not in away
        assert "warning" not in away
    address = f"127.0.0.1:{free_port()}"
    fleet.write(stacks_of(1), engine=f"temporal://{address}/default")
    waited, away = fleet.command("status", code=1).stderr.splitlines()
    assert waited == f"waiting 3 s for the server at {address}"
    assert f"the Temporal server at {address} cannot be reached: connection refused" in away
    fleet.write(stacks_of(1), engine=f"temporal://127.0.0.2:{free_port()}/default")
    del fleet.variables["PULUMI_CONFIG_PASSPHRASE"]
    assert fleet.command("worker", code=1).stderr.startswith("warning: PULUMI_CONFIG_PASSPHRASE is not set here")
    fleet.variables["MALOKO_PASSPHRASE_TENANT_T0"] = "of one stack"
    assert "warning" not in fleet.command("worker", code=1).stderr
    (tenants,) = stacks_of(1)
    tenants["config"] = {"token": {"secretFrom": "env TENANT_TOKEN"}}
    fleet.write([tenants], engine=f"temporal://127.0.0.2:{free_port()}/default")
    missing = "warning: not set here: TENANT_TOKEN. Stacks whose secrets come from there fail at this worker\n"
    assert fleet.command("worker", code=1).stderr.startswith(missing)
    fleet.write(stacks_of(1), limit={})
    wrong = fleet.command("up", "--yes", code=2).stderr
    assert "fleet.yaml" in wrong
    assert "limits" in wrong


def test_stacks_get_the_key_of_the_fleet(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(2, plan="gold"), key="stack")
    fleet.worker()
    fleet.run("up")
    fleet.write(stacks_of(2, plan="gold"), key="fleet")
    assert "one passphrase will open all 2 stacks" in fleet.command("adopt", code=2).stderr

    fleet.command("adopt", "--yes")

    states = [(fleet.state / ".pulumi/stacks/tenant" / f"t{number}.json").read_text() for number in range(2)]
    salts = {json.loads(state)["checkpoint"]["latest"]["secrets_providers"]["state"]["salt"] for state in states}
    assert len(salts) == 1


def started_dev(fleet: FleetFolder, *arguments: str) -> subprocess.Popen[str]:
    """`fleet dev`, with what it says in a pipe."""
    command = [sys.executable, "-m", "maloko", "fleet", "dev", "--ui-port", str(free_port()), *arguments]
    return subprocess.Popen(command, cwd=fleet.folder, env=fleet.variables, stderr=subprocess.PIPE, text=True)


def test_dev_has_a_server_and_workers_until_ctrl_c(make_fleet: MakeFleet, server: FleetServer) -> None:
    fleet = make_fleet(server)
    port = free_port()
    fleet.write(stacks_of(2, plan="gold"), engine=f"temporal://127.0.0.1:{port}/default")
    command = [sys.executable, "-m", "maloko", "fleet"]
    up = subprocess.Popen(
        [*command, "up", "--yes", "--json"], cwd=fleet.folder, env=fleet.variables, stdout=-1, stderr=-1, text=True
    )
    assert up.stderr is not None
    assert up.stderr.readline() == f"waiting 20 s for the server at 127.0.0.1:{port}\n"
    process = started_dev(fleet, "--slots", "1")
    assert process.stderr is not None
    assert f"server 127.0.0.1:{port}" in process.stderr.readline()
    assert process.stderr.readline().endswith(" ready: 1 stack at a time, queue default\n")

    told, said = up.communicate(timeout=60)
    assert up.returncode == 0, said
    assert json.loads(told)["counts"]["done"] == 2

    # The server is the child that was started first.
    _, killed, _ = children(process.pid)
    os.kill(killed, signal.SIGKILL)
    ended = f"a worker, process {killed}, was ended by SIGKILL: process "
    assert any(ended in line for line in process.stderr)
    taken = fleet.command("dev", code=2).stderr
    assert taken.startswith(
        f"error: port {port} of 127.0.0.1, for the server, cannot be had (address already in use): "
    )
    assert "or change `engine` in the fleet's file for another\n" in taken
    # As `timeout` does: to the process, and to its group.
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert not _is_there(port)


def test_dev_says_that_its_server_has_ended(make_fleet: MakeFleet, server: FleetServer) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(1))
    document = json.loads(fleet.file.read_text())
    del document["engine"]
    fleet.file.write_text(json.dumps(document))
    port = free_port()
    process = started_dev(fleet, "--port", str(port))
    assert process.stderr is not None
    assert "Ctrl-C ends all of it" in process.stderr.readline()
    assert f"TEMPORAL_ADDRESS=127.0.0.1:{port}" in process.stderr.readline()
    for _ in range(2):
        assert " ready: " in process.stderr.readline()
    first, *_ = children(process.pid)

    os.kill(first, signal.SIGKILL)

    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"error: the server, process {first}, was ended by SIGKILL, and its runs are gone with it: start" in said


def test_dev_refuses_a_port_that_the_file_contradicts(fleet: FleetFolder) -> None:
    fleet.write(stacks_of(1))
    port = fleet.server.port
    line = next(n for n, text in enumerate(fleet.file.read_text().splitlines(), 1) if '"engine"' in text)

    refused = fleet.command("dev", "--port", str(port + 1), code=2).stderr

    assert refused == (
        f"error: `--port` says {port + 1}, and fleet.yaml:{line} has the engine at 127.0.0.1:{port}, where workers and "
        "commands look for it: leave `--port` out, or change `engine`\n"
    )
    fleet.write(stacks_of(1), engine="temporal://far.example:7233/default")
    assert f"fleet.yaml:{line} has the engine at far.example:7233" in fleet.command("dev", code=2).stderr


def _is_there(port: int) -> bool:
    return any(f":{port:04X} " in line for line in Path("/proc/net/tcp").read_text().splitlines() if " 0A " in line)


def test_without_its_packages_it_says_which(fleet: FleetFolder, tmp_path: Path) -> None:
    fleet.write(stacks_of(1))
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        "PathFinder.find_spec = lambda name, *rest: None if name == 'temporalio' else find(name, *rest)\n"
    )
    fleet.variables["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "hidden"), os.environ.get("PYTHONPATH", "")])

    assert "pip install 'maloko[fleet]'" in fleet.command("up", "--yes", code=2).stderr
    library = [sys.executable, "-c", "from maloko import fleet; fleet.load().up()"]
    told = subprocess.run(library, cwd=fleet.folder, env=fleet.variables, capture_output=True, text=True).stderr
    assert told.endswith("FleetError: maloko.fleet needs more packages for this: pip install 'maloko[fleet]'\n")
    assert "ModuleNotFoundError" not in told
    assert "1 stack" in fleet.command("check").stdout
