"""Which worker a stack is at, and for how long."""

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

from conftest import MakeFleet
from fleet_kit import COMMANDS, FleetFolder, FleetServer, children, stacks_of, until

from maloko import fleet as fleet_api


def status_of(fleet: FleetFolder, run: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(fleet.command("status", run, "--json").stdout)
    return told


def test_a_stack_that_takes_longer_than_a_worker_may_be_silent_stays_where_it_is(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(1, holds="true"), heartbeat="8s")
    worker = fleet.worker()
    run = fleet.detached("up")
    until(lambda: fleet.marks("held"), "the stack to be at work")
    began = status_of(fleet, run)["seconds"]

    def waited_for() -> dict[str, Any] | None:
        told = status_of(fleet, run)
        return told if told["seconds"] > began + 10 or told["stacks"][0]["attempt"] > 1 else None

    row = until(waited_for, "the worker to have been at it for longer than that", pause=COMMANDS)["stacks"][0]

    assert (row["id"], row["attempt"]) == ("tenant/t0", 1)
    assert row["worker"].endswith(f":{worker.pid}")
    assert " of " in row["text"], "heartbeats tell how far it is"
    fleet.let_go()
    end = json.loads(fleet.command("results", run, "--json").stdout)["ends"][0]
    assert (end["outcome"], end["attempts"]) == ("done", 1)
    assert fleet.objects() == {"t0": 3}


def test_status_says_what_a_stack_waits_for(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    failing, held = stacks_of(1, fails="always", files="2"), stacks_of(1, holds="true")
    stacks = [*failing, {**held[0], "for": [{"tenant": "held"}]}]
    fleet.write(stacks, heartbeat="2s", retry={"provider": 5, "first_wait": "1h", "longest_wait": "1h"})
    # This one answers in place of the run, and stays.
    fleet.worker("--queue", "none")
    run = fleet.detached("up")

    def row(stack: str, text: str) -> dict[str, Any] | None:
        found = [row for row in status_of(fleet, run)["stacks"] if row["id"] == stack]
        return found[0] if found and text in found[0]["text"] else None

    until(lambda: row("tenant/t0", "waits for a worker"), "the run to begin", pause=COMMANDS)
    lost = fleet.worker()
    until(lambda: fleet.marks("held"), "a stack to be at work")
    waits = until(lambda: row("tenant/t0", "no room"), "the stack to wait", pause=COMMANDS)
    assert re.match(r"waits 3[56]\d\d s: urn:\S+: OSError: the service has no room", waits["text"])
    assert (waits["attempt"], waits["note"]) == (2, "of 5")
    shown = fleet.command("status", run).stdout
    assert "s: Resource file-1: OSError: the service has no room" in shown
    assert "attempt 2 (of 5)" in shown
    lost.kill()
    told = until(lambda: row("tenant/held", "was lost"), "the worker to be missed", pause=COMMANDS)["text"]
    assert told.startswith("waits")
    assert told.endswith(f":{lost.pid} was lost")
    fleet.worker()
    again = until(lambda: row("tenant/held", "resources"), "another worker", pause=COMMANDS)
    assert re.fullmatch(r"\d of \d resources", again["text"])
    assert again["note"] == "before: its worker was lost"
    fleet.command("cancel", run)


def test_a_worker_gets_no_stacks_of_programs_that_are_others_now(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(2, plan="gold"))
    older = fleet.worker()
    fleet.run("up")
    old_code = fleet_api.load(fleet.file).plan("up")["code"]["python"]
    program = fleet.folder / "tenant.py"
    program.write_text(program.read_text().replace('config.get_int("files") or 3', "4"))

    # The worker of the old programs goes on asking for stacks.
    run = fleet.detached("up")

    def offered() -> dict[str, Any] | None:
        told = status_of(fleet, run)
        return told if told["stacks"] or told["state"] == "ended" else None

    waiting = until(offered, "the stacks to be offered")["stacks"]
    assert [row["text"] for row in waiting] == ["waits for a worker"] * 2
    warning = fleet.command("status", run).stderr
    assert f":{older.pid} is there with other programs (code {old_code}): restart it" in warning
    newer = fleet.worker()
    ends = json.loads(fleet.command("results", run, "--json").stdout)["ends"]
    assert {end["worker"].rsplit(":", 1)[1] for end in ends} == {str(newer.pid)}
    assert fleet.objects() == {"t0": 4, "t1": 4}
    fleet.assert_whole()


def broken(fleet: FleetFolder) -> dict[str, Any]:
    """A stack of a program that imports what is not there."""
    (fleet.folder / "broken.py").write_text("import nowhere\n\n\ndef program(): ...\n")
    return {"project": "broken", "program": "broken.py:program", "stack": "b"}


def what_is_wrong(fleet: FleetFolder) -> str:
    file = fleet.folder / "broken.py"
    return f"broken.py:program cannot be imported: ModuleNotFoundError: No module named 'nowhere' ({file}:1)"


def test_a_worker_that_can_load_none_of_its_programs_ends_and_says_why(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    project = fleet.folder / "empty"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: empty\nruntime: python\n")
    fleet.write([broken(fleet), {"program": "empty", "stack": "e"}])

    worker = fleet.worker()

    assert worker.wait(60) == 1
    said = Path(fleet.folder, "worker-0.log").read_text().splitlines()
    assert said[-2:] == [
        f"error: the program {what_is_wrong(fleet)}",
        "This worker can load none of its 2 programs, and ends: mend the program, or install what it imports, and "
        "start the worker again",
    ]
    assert "ready" not in "".join(said)


def test_a_worker_that_can_load_some_of_its_programs_says_which_stacks_fail_there(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    project = fleet.folder / "empty"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: empty\nruntime: python\n")
    fleet.write([broken(fleet), {"program": "empty", "stack": "e"}, *stacks_of(1)])
    fleet.worker()

    ends = fleet.run("up", code=1)["ends"]

    assert ends["tenant/t0"]["outcome"] == "done"
    assert (ends["broken/b"]["outcome"], ends["broken/b"]["reason"]) == ("failed", "configuration")
    assert ends["broken/b"]["text"] == f"the program {what_is_wrong(fleet)}"
    assert "there is no __main__.py" in ends["empty/e"]["text"]
    first, second, ready = Path(fleet.folder, "worker-0.log").read_text().splitlines()[:3]
    assert f"warning: the program {what_is_wrong(fleet)}. Stacks of the project 'broken' fail at this worker" in first
    assert "warning: the program empty cannot be loaded: there is no __main__.py in " in second
    assert "ready: 8 stacks at a time" in ready


def test_a_worker_loads_the_programs_of_its_own_queues_alone(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    fleet.write([{**broken(fleet), "queue": "eu"}, *stacks_of(1)])
    fleet.worker()

    assert fleet.run("up", "--stack", "t0")["ends"]["tenant/t0"]["outcome"] == "done"
    assert "broken" not in Path(fleet.folder, "worker-0.log").read_text()


def test_a_process_of_a_worker_that_is_killed_is_followed_by_another(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    fleet.write(stacks_of(1))
    log = Path(fleet.folder, "worker-0.log")
    # Who runs the tests may ignore SIGHUP (`nohup`), which processes inherit.
    hears = ("env", "--default-signal=HUP")
    worker = fleet.worker("--processes", "2", "--queue", "default", "--queue", "nix", through=hears)
    until(lambda: log.read_text().count(" ready: ") == 2, "both processes")
    killed, kept = children(worker.pid)

    os.kill(killed, signal.SIGKILL)

    until(lambda: log.read_text().count(" ready: ") == 3, "a process in its place")
    assert kept in children(worker.pid)
    (other,) = set(children(worker.pid)) - {kept}
    said = [line for line in log.read_text().splitlines() if line.startswith("warning")]
    assert said == [
        "warning: no stack of the fleet is at the queue nix: a worker gets nothing there; the fleet's stacks are at "
        "default",
        f"warning: a worker, process {killed}, was ended by SIGKILL: process {other} takes its place",
    ]
    worker.send_signal(signal.SIGHUP)
    assert worker.wait(60) == 0


def test_processes_that_end_again_and_again_right_after_their_start_end_the_worker(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    fleet.write([broken(fleet)])

    worker = fleet.worker("--processes", "2")

    assert worker.wait(60) == 1
    said = Path(fleet.folder, "worker-0.log").read_text()
    assert "error: workers ended 3 times within 10 s of their start; the last was process " in said
    assert ", which ended with exit code 1\nWhat they wrote above says why: mend it" in said
    assert said.count("ended with exit code 1: process ") == 2


TOO_LATE = "what was printed after the end of the run is left out: nothing takes the secrets out of it"

PRINTS = """
import os
import sys
import threading

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Rooms(ResourceProvider):
    def __init__(self):
        self.is_made, self.keeper = threading.Event(), threading.Thread(target=self.keep)

    def create(self, props):
        print("a room for", os.environ["TOKEN_OF_ROOMS"], end="")
        self.keeper.start()
        return CreateResult("room", props)

    def keep(self):
        self.is_made.wait()
        # A line of a call that is over, which nothing ends.
        print("kept with", os.environ["TOKEN_OF_ROOMS"], end="" if pulumi.get_project() == "prints" else None)

    def made(self, _):
        self.is_made.set()
        self.keeper.join()


class Room(Resource):
    def __init__(self, name, provider):
        super().__init__(provider, name, {})


def program():
    print("first line\\nsecond line with", os.environ["TOKEN_OF_ROOMS"])
    print("to stderr", file=sys.stderr)
    rooms = Rooms()
    Room("room", rooms).id.apply(rooms.made)
    print("the last line", end="")
"""


def test_lines_that_programs_print_have_their_stack_before_them(server: FleetServer, make_fleet: MakeFleet) -> None:
    fleet = make_fleet(server)
    (fleet.folder / "prints.py").write_text(PRINTS)
    project = fleet.folder / "rooms"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: rooms\nruntime: python\n")
    (project / "__main__.py").write_text(f"{PRINTS}\n\nprogram()\n")
    config = {"token": {"secretFrom": {"env": "TOKEN_OF_ROOMS"}}}
    function = {"project": "prints", "program": "prints.py:program", "stack": "{name}", "for": {"name": ["a", "b"]}}
    fleet.write([{**function, "config": config}, {"program": "rooms", "stack": "c", "config": config}])
    fleet.variables["TOKEN_OF_ROOMS"] = "s3cr3t-of-the-rooms"

    told = fleet.command("up", "--yes", "--json", "--workers", "1")

    assert json.loads(told.stdout)["counts"]["done"] == 3, "what programs print is elsewhere"
    words = ["first line", "second line with [secret]", "to stderr", "a room for [secret]", "the last line"]
    printed = [line for line in told.stderr.splitlines() if line.startswith("[")]
    kept = ["[rooms/c] kept with [secret]", *(f"[prints/{stack}] {TOO_LATE}" for stack in "ab")]
    stacks = ("prints/a", "prints/b", "rooms/c")
    assert sorted(printed) == sorted([*kept, *(f"[{stack}] {it}" for stack in stacks for it in words)])
    assert "s3cr3t" not in told.stderr


RAISES = """
import os

import pulumi
from pulumi.dynamic import Resource, ResourceProvider


class Rooms(ResourceProvider):
    def create(self, props):
        raise KeyError("no room for " + os.environ["TOKEN_OF_ROOMS"])


class Room(Resource):
    def __init__(self, name):
        super().__init__(Rooms(), name, {})


def program():
    if pulumi.get_stack() == "program":
        the_plan()
    for number in range(2):
        Room(f"room-{number}")


def the_plan():
    raise KeyError("plan")
"""


def test_a_worker_shows_the_traceback_of_what_programs_and_providers_raise(
    server: FleetServer, make_fleet: MakeFleet
) -> None:
    fleet = make_fleet(server)
    (fleet.folder / "raises.py").write_text(RAISES)
    project = fleet.folder / "rooms"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: rooms\nruntime: python\n")
    (project / "__main__.py").write_text(f"{RAISES}\n\nprogram()\n")
    config = {"token": {"secretFrom": {"env": "TOKEN_OF_ROOMS"}}}
    names = {"name": ["program", "provider"]}
    function = {"project": "raises", "program": "raises.py:program", "stack": "{name}", "for": names}
    stacks = [{**function, "config": config}, {"program": "rooms", "stack": "provider", "config": config}]
    fleet.write(stacks, retry={"provider": 1})
    fleet.variables["TOKEN_OF_ROOMS"] = "s3cr3t-of-the-rooms"

    fleet.worker()
    fleet.run("up", code=1)

    told = Path(fleet.folder, "worker-0.log").read_text()
    line = RAISES.splitlines().index('    raise KeyError("plan")') + 1
    lines = told.splitlines()
    assert f"[raises/program] KeyError: 'plan' ({fleet.folder}/raises.py:{line})" in lines
    assert f'[raises/program]   File "{fleet.folder}/raises.py", line {line}, in the_plan' in lines
    for stack in ("raises/provider", "rooms/provider"):
        # Two resources fail of the same.
        assert lines.count(f"[{stack}] Traceback (most recent call last):") == 1
        assert f'[{stack}]     raise KeyError("no room for " + os.environ["TOKEN_OF_ROOMS"])' in lines
        assert f"[{stack}] KeyError: 'no room for [secret]'" in lines
    assert "s3cr3t" not in told
    error = f"KeyError: 'plan' ({fleet.folder}/raises.py:{line})"
    assert fleet.command("logs", "raises/program").stdout.splitlines().count(f"Error: {error}") == 1
