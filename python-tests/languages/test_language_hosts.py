"""Programs that a language's own host runs, from the command line. The host is one by script (`scripted_host.py`)."""

import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest
from cli import Project, begin
from night import by_day, rounds
from scripted import HOST, SIGNAL, STACK, Scripted


@pytest.fixture
def scripted(project: Project) -> Scripted:
    return Scripted(project)


def test_a_program_in_a_host_registers_changes_and_deletes(scripted: Scripted) -> None:
    told = scripted.up(STACK, ["resource", "a"], ["resource", "b"], ["outputs", {"n": 1}], SIGNAL)
    assert "2 created" in told or "3 created" in told
    assert scripted.names() == ["trial-dev", "a", "b"]
    assert scripted.run("stack", "output", "n").strip() == "1"
    told = scripted.up(STACK, ["resource", "a"], SIGNAL)
    assert "1 deleted" in told
    assert scripted.names() == ["trial-dev", "a"]
    # The program is not needed for what no live provider serves.
    scripted.run("destroy", "--yes", "--skip-preview")
    assert scripted.names() == []


def test_both_passes_of_an_up_start_a_host_each_and_none_is_left(scripted: Scripted) -> None:
    scripted.steps(STACK, ["resource", "a"], SIGNAL)
    scripted.run("up", "--yes")
    assert [note["request"].get("dryRun", False) for note in scripted.seen("Run")] == [True, False]
    for note in scripted.seen("begins"):
        with pytest.raises(ProcessLookupError):
            os.kill(note["process"], 0)


def test_the_host_learns_what_the_protocol_says(scripted: Scripted) -> None:
    scripted.steps(STACK, ["info"], SIGNAL)
    scripted.run("config", "set", "size", "3")
    scripted.run("config", "set", "--secret", "token", "t0p")
    scripted.run("up", "--yes", "--skip-preview", "--parallel", "5")
    begun, asked = scripted.seen("begins")[0], scripted.seen("Run")[0]["request"]
    assert begun["arguments"] == 1
    assert begun["directory"] == str(scripted.project.directory)
    assert {key: asked[key] for key in ("project", "stack", "organization", "parallel", "program", "pwd")} == {
        "project": "trial",
        "stack": "dev",
        "organization": "organization",
        "parallel": 5,
        "program": ".",
        "pwd": str(scripted.project.directory),
    }
    assert asked["config"] == {"trial:size": "3", "trial:token": "t0p"}
    assert asked["configSecretKeys"] == ["trial:token"]
    assert asked["info"]["rootDirectory"] == asked["info"]["programDirectory"] == str(scripted.project.directory)
    assert asked["info"]["options"]["steps"][0] == ["stack"]
    info = scripted.seen("info")[0]["answer"]
    assert (info["project"], info["stack"], info["parallel"]) == ("trial", "dev", 5)


def test_what_a_host_prints_is_shown_line_by_line_also_the_last_one(scripted: Scripted) -> None:
    told = scripted.up(
        STACK, ["print", "first\nsecond"], ["print_error", "to stderr\n"], ["log", "logged"], SIGNAL, ["print", " half"]
    )
    for line in ("first", "second half", "to stderr", "logged"):
        assert line in told


def test_a_secret_is_hidden_in_what_a_host_prints(scripted: Scripted) -> None:
    scripted.steps(STACK, ["print", "the token is t0p-s3cret\n"], SIGNAL)
    scripted.run("config", "set", "--secret", "token", "t0p-s3cret")
    told = scripted.run("up", "--yes", "--skip-preview")
    assert "the token is [secret]" in told
    assert "t0p-s3cret" not in told


def test_a_long_line_and_a_large_message_arrive(scripted: Scripted) -> None:
    told = scripted.up(STACK, ["lines", 1_000_000], ["large", rounds(6_000_000, 100_000_000)], SIGNAL)
    assert "y" * 1_000_000 in told
    assert "large" in scripted.names()


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (["error", "it broke"], "an unhandled error occurred: it broke"),
        pytest.param(["error", "rpc: rpc broke"], "rpc broke", marks=pytest.mark.nightly),
        (["kill"], "its process ended (signal: 9 (SIGKILL))"),
        pytest.param(["exit", 0], "its process ended (exit status: 0)", marks=pytest.mark.nightly),
        pytest.param(["exit", 7], "its process ended (exit status: 7)", marks=pytest.mark.nightly),
    ],
)
def test_a_program_that_fails_says_why_and_deletes_nothing(scripted: Scripted, step: list[Any], words: str) -> None:
    scripted.up(STACK, ["resource", "a"], ["resource", "b"], SIGNAL)
    told = scripted.up(STACK, ["resource", "a"], step, code=1)
    assert words in told
    assert scripted.names() == ["trial-dev", "a", "b"]


def test_a_program_that_has_said_why_fails_without_another_message(scripted: Scripted) -> None:
    scripted.up(STACK, ["resource", "a"], SIGNAL)
    told = scripted.up(STACK, ["print_error", "my reason\n"], ["bail"], code=1)
    assert "my reason" in told
    assert "error:" not in told
    assert scripted.names() == ["trial-dev", "a"]


@pytest.mark.parametrize("step", by_day([["print", "done\n"], ["info"]], lambda _, place: place == 0))
def test_a_program_that_registers_not_even_its_stack_deletes_nothing(scripted: Scripted, step: list[Any]) -> None:
    scripted.up(STACK, ["resource", "a"], SIGNAL)
    told = scripted.up(step, code=1)
    assert "it most likely never ran" in told
    assert scripted.names() == ["trial-dev", "a"]


@pytest.mark.nightly
def test_a_host_that_never_answers_is_given_up(scripted: Scripted) -> None:
    scripted.steps(STACK)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        told = scripted.run("up", "--yes", "--skip-preview", code=1, PULUMI_DEBUG_LANGUAGES=f"scripted:{port}")
    assert "it has not answered within 10 s" in told


def test_a_run_that_needs_no_more_than_its_state_says_that_the_program_failed(scripted: Scripted) -> None:
    scripted.up(STACK, ["resource", "a"], SIGNAL)
    scripted.steps(["bail"])
    told = scripted.run("refresh", "--yes", "--skip-preview", "--run-program")
    assert "the program failed (it has said why), and no provider object was missed" in told


def test_an_old_program_that_announces_no_end_is_done_when_it_ends(scripted: Scripted) -> None:
    scripted.up(STACK, ["resource", "a"], ["resource", "b"])
    scripted.up(STACK, ["resource", "a"])
    assert scripted.names() == ["trial-dev", "a"]


def test_what_is_registered_after_the_end_comes_too_late(scripted: Scripted) -> None:
    told = scripted.up(STACK, SIGNAL, ["resource", "late"], code=1)
    assert "resource: UNAVAILABLE" in told
    assert scripted.seen("resource failed")[0]["code"] == "UNAVAILABLE"
    assert scripted.names() == ["trial-dev"]


def test_an_end_is_announced_once(scripted: Scripted) -> None:
    scripted.up(STACK, ["signal_twice"])
    assert "None" in scripted.seen("signalled twice")[0]["codes"]
    assert len(set(scripted.seen("signalled twice")[0]["codes"])) == 2


def test_an_error_after_the_end_fails_the_run_whose_deletions_are_done(scripted: Scripted) -> None:
    scripted.up(STACK, ["resource", "a"], SIGNAL)
    told = scripted.up(STACK, SIGNAL, ["error", "too late"], code=1)
    assert "an unhandled error occurred: too late" in told
    assert scripted.names() == ["trial-dev"]


def test_what_is_no_message_and_what_is_no_method_is_refused_and_the_run_goes_on(scripted: Scripted) -> None:
    scripted.up(STACK, ["malformed"], ["unknown"], ["resource", "a"], SIGNAL)
    assert scripted.seen("malformed failed")[0]["code"] == "INVALID_ARGUMENT"
    assert scripted.seen("unknown failed")[0]["code"] == "UNIMPLEMENTED"
    assert scripted.names() == ["trial-dev", "a"]


def test_the_root_resource_is_the_one_that_the_program_set(scripted: Scripted) -> None:
    scripted.up(["root_resource"], STACK, ["root_resource"], SIGNAL)
    assert [note["urn"] for note in scripted.seen("root")] == [
        "",
        "urn:pulumi:dev::trial::pulumi:pulumi:Stack::trial-dev",
    ]


def test_a_host_that_lacks_what_is_not_needed_works(scripted: Scripted) -> None:
    scripted.up(STACK, ["resource", "a"], SIGNAL, SCRIPTED_LACKS="About,Cancel,InstallDependencies,GetPluginInfo")
    assert scripted.names() == ["trial-dev", "a"]


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("dies", "it ended before it told its port (exit status: 1)\nIt printed:\nno such luck"),
        ("talks", "its first line has to be the port on which it listens, and is 'hello'"),
        ("hangs", "it has not told its port within 1 s"),
    ],
)
def test_a_host_that_does_not_come_up_is_named(scripted: Scripted, start: str, words: str) -> None:
    limit = {"MALOKO_PLUGIN_START_SECONDS": "1"} if start == "hangs" else {}
    told = scripted.up(STACK, code=1, SCRIPTED_START=start, **limit)
    assert f"the language plugin 'pulumi-language-scripted' cannot be used: {words.splitlines()[0]}" in told
    assert words.splitlines()[-1] in told


def test_a_host_that_is_nowhere_is_named_with_what_helps(scripted: Scripted) -> None:
    scripted.steps(STACK)
    told = scripted.project.failing("up", "--yes", "--skip-preview")
    assert "no language plugin 'pulumi-language-scripted' found in the workspace or on your $PATH" in told
    assert "Put its executable into a folder of $PATH" in told


def test_hosts_are_looked_for_in_the_project_and_among_the_installed_plugins(scripted: Scripted) -> None:
    wrapper = (scripted.project.directory / "bin" / "pulumi-language-scripted").read_text()
    scripted.environment["PATH"] = os.environ["PATH"]
    for place, settings in (
        ("hosts/mine", {"plugins": {"languages": [{"name": "scripted", "path": "hosts/mine"}]}}),
        ("home/.pulumi/plugins/language-scripted-v1.0.0/pulumi-language-scripted", {}),
    ):
        host = scripted.project.write(place, wrapper)
        host.chmod(0o755)
        runtime = {"name": "scripted", "options": {"steps": [STACK, SIGNAL]}}
        scripted.project.write("Pulumi.yaml", json.dumps({"name": "trial", "runtime": runtime, **settings}))
        scripted.run("up", "--yes", "--skip-preview")
        host.unlink()
    assert scripted.names() == ["trial-dev"]


def test_a_host_that_runs_already_is_attached_to(scripted: Scripted) -> None:
    scripted.steps(STACK, ["resource", "a"], SIGNAL)
    environment = {**os.environ, **scripted.environment}
    with subprocess.Popen(
        [sys.executable, str(HOST), "nowhere"], stdout=subprocess.PIPE, text=True, env=environment
    ) as host:
        assert host.stdout is not None
        port = host.stdout.readline().strip()
        # Its last argument is no engine's address: it needs one that it is told.
        scripted.project.run(
            "up",
            "--yes",
            "--skip-preview",
            code=None,
            PULUMI_DEBUG_LANGUAGES=f"scripted:{port}",
            **scripted.environment,
        )
        assert scripted.seen("Handshake")[0]["root"] == str(scripted.project.directory)
        assert host.poll() is None
        host.kill()


@pytest.mark.parametrize("ignores", by_day(["", "SIGINT"], lambda ignores, _: ignores == "SIGINT"))
def test_an_interrupted_run_ends_its_host(scripted: Scripted, ignores: str) -> None:
    scripted.steps(STACK, ["resource", "a"], ["sleep", 600])
    scripted.project.environment.update(scripted.environment, SCRIPTED_IGNORES=ignores)
    running = begin(scripted.project, "up", "--yes", "--skip-preview")
    while not scripted.seen("sleeps"):
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode != 0
    assert scripted.seen("Cancel")
    with pytest.raises(ProcessLookupError):
        os.kill(scripted.seen("begins")[0]["process"], 0)
    assert scripted.names() == ["trial-dev", "a"]


def test_children_reach_this_machine_without_the_proxy(scripted: Scripted) -> None:
    nowhere = "http://127.0.0.1:9"
    scripted.up(STACK, ["variables"], SIGNAL, http_proxy=nowhere, https_proxy=nowhere, no_proxy="example.org")
    assert scripted.seen("variables")[0]["no_proxy"] == "example.org,127.0.0.1,localhost,::1"


def test_install_and_about_ask_the_host(scripted: Scripted) -> None:
    scripted.steps(STACK)
    assert "fetching a library" in scripted.run("install", "--no-plugins")
    assert scripted.seen("InstallDependencies")[0]["directory"] == str(scripted.project.directory)
    told = scripted.run("install", "--no-plugins", code=2, SCRIPTED_INSTALL="fails")
    assert "cannot install the dependencies: the library is not there" in told
    told = scripted.run("about")
    assert "scripted: 7.8.9 (/usr/bin/scripted)" in told
    assert "pulumi-language-scripted 1.2.3" in told


def test_check_says_which_host_runs_the_program_or_what_is_missing(scripted: Scripted) -> None:
    scripted.steps(STACK)
    told = scripted.run("check")
    assert (
        f"programs of `runtime: scripted` are run by {scripted.project.directory}/bin/pulumi-language-scripted" in told
    )
    told = scripted.project.failing("check")
    assert "Pulumi.yaml:1: no language plugin 'pulumi-language-scripted' found" in told


def test_a_program_in_go_is_run_as_it_is(project: Project) -> None:
    steps = json.dumps([["variables"], ["stack"], ["resource", "a"], ["outputs", {"x": "y"}], ["signal"]])
    binary = project.write("app/built", f"#!/bin/sh\nexec {sys.executable} {HOST} program '{steps}'\n")
    binary.chmod(0o755)
    project.write("Pulumi.yaml", "name: trial\nmain: app\nruntime: {name: go, options: {binary: ./built}}\n")
    seen = project.directory / "seen"
    project.run("config", "set", "size", "3")
    project.run("up", "--yes", "--skip-preview", SCRIPTED_SEEN=str(seen))
    assert project.run("stack", "output", "x").stdout == "y\n"
    variables = json.loads(seen.read_text().splitlines()[0])
    assert variables["PULUMI_CONFIG"] == '{"trial:size":"3"}'
    assert variables["PULUMI_ROOT_DIRECTORY"] == str(project.directory)
    assert (variables["PULUMI_DRY_RUN"], variables["PULUMI_STACK"]) == ("false", "dev")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ('[["exit", 3]]', "an unhandled error occurred: program exited with non-zero exit code: 3"),
        pytest.param("[]", "it most likely never ran", marks=pytest.mark.nightly),
    ],
)
def test_a_program_in_go_that_fails_or_does_nothing_deletes_nothing(project: Project, steps: str, words: str) -> None:
    file = project.write("built", "")
    project.write("Pulumi.yaml", "name: trial\nruntime: {name: go, options: {binary: built}}\n")
    for program, code in ('[["stack"], ["resource", "a"], ["signal"]]', 0), (steps, 1):
        file.write_text(f"#!/bin/sh\nexec {sys.executable} {HOST} program '{program}'\n")
        file.chmod(0o755)
        done = project.run("up", "--yes", "--skip-preview", code=code)
    assert words in done.stdout + done.stderr
    assert "::a" in project.state()


def test_a_program_in_go_that_is_not_built_is_named(project: Project) -> None:
    project.write("Pulumi.yaml", "name: trial\nruntime: {name: go, options: {binary: ./built}}\n")
    told = project.failing("up", "--yes", "--skip-preview")
    assert "`runtime.options.binary` names './built', and there is no executable file" in told
