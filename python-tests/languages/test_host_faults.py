"""What can go wrong with programs in processes of their own, beyond how they end (`test_language_hosts.py`)."""

import json
import signal
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest
from cli import Project, begin, read_until
from google.protobuf import empty_pb2
from pulumi.runtime.proto import events_pb2_grpc
from scripted import SIGNAL, STACK, Scripted


@pytest.fixture
def scripted(project: Project) -> Scripted:
    return Scripted(project)


class Listener(events_pb2_grpc.EventsServicer):
    """Takes the events of a run, as the official Automation API does."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.ended_well = False

    def StreamEvents(self, requests: Iterator[Any], context: Any) -> Any:
        for request in requests:
            self.events.append(json.loads(request.event))
        self.ended_well = True
        return empty_pb2.Empty()


def test_a_run_that_is_left_at_once_tells_its_listener_that_it_is_over(scripted: Scripted) -> None:
    server, listener = grpc.server(futures.ThreadPoolExecutor(4)), Listener()
    events_pb2_grpc.add_EventsServicer_to_server(listener, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    scripted.add_provider()
    # The hook is waited for, until a second signal says not to.
    scripted.steps(STACK, ["hooked", "a", 600])
    scripted.project.environment.update(scripted.environment)
    running = begin(scripted.project, "up", "--yes", "--skip-preview", "--event-log", f"tcp://127.0.0.1:{port}")
    while not scripted.seen("hook begins"):
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    told = read_until(running, "cancelling:")
    assert "waiting for the hook 'slow' (before_create)" in told
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert "left at once; the next run takes up" in said, said
    assert running.returncode == 8
    server.stop(grace=10).wait()
    assert "cancelEvent" in listener.events[-1], said
    assert listener.ended_well


def test_hooks_are_waited_for_when_a_run_is_stopped(scripted: Scripted) -> None:
    scripted.add_provider()
    # Longer than a program has that does nothing more.
    scripted.steps(STACK, ["hooked", "a", 2.5])
    scripted.project.environment.update(scripted.environment)
    running = begin(scripted.project, "up", "--yes", "--skip-preview")
    while not scripted.seen("hook begins"):
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    order = [note["what"] for note in scripted.seen() if note["what"] in ("hook ends", "Cancel")]
    assert order == ["hook ends", "Cancel"]


def test_a_program_may_connect_twice_and_end_before_its_answers(scripted: Scripted) -> None:
    told = scripted.up(
        STACK, ["resource", "a"], ["connect_twice"], ["resource", "b"], ["hurry", "c"], SIGNAL, code=None
    )
    assert scripted.names()[:3] == ["trial-dev", "a", "b"]
    # What it did not wait for is registered all the same, was never asked for, or came too late: then the run says so.
    too_late = "Group c: it was registered after the program had ended" in told
    assert too_late == ("The operation failed" in told)
    assert set(scripted.names()[3:]) <= (set() if too_late else {"c"})


def test_an_error_that_is_only_logged_is_shown_and_fails_nothing(scripted: Scripted) -> None:
    told = scripted.up(STACK, ["log", "an error", 3], SIGNAL)
    assert "error: an error" in told
    assert scripted.names() == ["trial-dev"]


def test_a_host_that_knows_nothing_but_how_to_run_works(scripted: Scripted) -> None:
    lacks = "About,Cancel,InstallDependencies,GetPluginInfo,GetRequiredPackages,GetRequiredPlugins"
    scripted.up(STACK, ["resource", "a"], SIGNAL, SCRIPTED_LACKS=lacks)
    assert scripted.names() == ["trial-dev", "a"]


def test_a_host_is_asked_for_one_port(scripted: Scripted) -> None:
    told = scripted.up(STACK, ["resource", "a"], SIGNAL, SCRIPTED_START="two ports")
    # The first line is the port, and a second one is what the host prints.
    assert "12345" in told
    assert scripted.names() == ["trial-dev", "a"]


def test_a_host_runs_where_the_home_cannot_be_written(scripted: Scripted) -> None:
    # Not even root can write there.
    scripted.up(STACK, ["resource", "a"], SIGNAL, HOME="/proc")
    assert scripted.names() == ["trial-dev", "a"]


def test_two_runs_at_once_have_a_door_each(scripted: Scripted) -> None:
    scripted.steps(STACK, ["resource", "a"], ["info"], SIGNAL)
    scripted.project.environment.update(scripted.environment)
    for stack in ("one", "two"):
        scripted.project.run("stack", "init", stack)
    runs = [begin(scripted.project, "up", "--yes", "--skip-preview", "--stack", stack) for stack in ("one", "two")]
    for running in runs:
        told, _ = running.communicate(timeout=60)
        assert running.returncode == 0, told
    assert len({note["request"]["monitorAddress"] for note in scripted.seen("Run")}) == 2
    assert sorted(note["answer"]["stack"] for note in scripted.seen("info")) == ["one", "two"]
