"""`pulumi` by name: the official Automation API, unmodified, with a `pulumi` on PATH that is maloko."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pulumi
import pytest
from cli import Project, read_until, wait_for
from night import LONG, rounds
from pulumi import automation as official


class Group(pulumi.ComponentResource):
    def __init__(self, name: str) -> None:
        super().__init__("test:index:Group", name)
        self.register_outputs({})


WAITING = """
import pathlib
pathlib.Path("begun").touch()
pathlib.Path("heard").read_text()
"""


@pytest.fixture
def shim(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    told = project.run("shim", "install", str(folder)).stdout
    assert f'export PATH={folder}:"$PATH"' in told
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path}/state")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "test")
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "home"))
    (tmp_path / "state").mkdir()
    return folder


def test_an_inline_program_of_the_official_api_lives_its_life(shim: Path) -> None:
    names = ["a", "b"]

    def program() -> None:
        for name in names:
            Group(name)
        pulumi.export("size", pulumi.Config().require_int("size") * 2)
        pulumi.export("token", pulumi.Output.secret("t0p"))

    stack = official.create_stack(stack_name="dev", project_name="shop", program=program)
    stack.set_all_config({"size": official.ConfigValue("21"), "key": official.ConfigValue("k3y", secret=True)})
    assert stack.get_all_config()["shop:key"].secret
    events: list[Any] = []
    previewed = stack.preview(on_event=events.append)
    assert previewed.change_summary[official.OpType.CREATE] == 3
    assert events[-1].cancel_event is not None
    assert [event.sequence for event in events] == list(range(len(events)))

    made = stack.up(message="first")
    assert made.summary.result == "succeeded"
    assert made.summary.message == "first"
    assert made.summary.resource_changes == {"create": 3}
    assert (made.outputs["size"].value, made.outputs["token"].value) == (42, "t0p")
    assert made.outputs["token"].secret
    assert stack.outputs()["size"].value == 42

    names.remove("b")
    assert stack.up().summary.resource_changes == {"delete": 1, "same": 2}
    if LONG:
        assert stack.refresh().summary.result == "succeeded"
    assert len(stack.history()) == rounds(2, 3)
    stack.remove_all_config(["size", "key"])
    assert stack.get_all_config() == {}
    assert stack.destroy().summary.result == "succeeded"
    assert [listed.name for listed in stack.workspace.list_stacks()] == ["dev"]
    stack.workspace.remove_stack("dev")
    assert stack.workspace.list_stacks() == []


def test_an_exception_of_an_inline_program_has_the_official_class_and_deletes_nothing(shim: Path) -> None:
    fails = False

    def program() -> None:
        if fails:
            raise ValueError("out of luck")
        Group("a")

    stack = official.create_stack(stack_name="dev", project_name="shop", program=program)
    stack.up()
    fails = True
    with pytest.raises(official.InlineSourceRuntimeError) as raised:
        stack.up()
    assert "out of luck" in str(raised.value)
    assert len(stack.export_stack().deployment["resources"]) == 2


def test_errors_of_stacks_have_the_official_classes(shim: Path) -> None:
    def nothing() -> None:
        pass

    official.create_stack(stack_name="dev", project_name="shop", program=nothing)
    with pytest.raises(official.StackAlreadyExistsError):
        official.create_stack(stack_name="dev", project_name="shop", program=nothing)
    with pytest.raises(official.StackNotFoundError):
        official.select_stack(stack_name="prod", project_name="shop", program=nothing)


@pytest.mark.nightly
def test_two_inline_programs_of_one_process_keep_apart(shim: Path) -> None:
    def of(name: str) -> official.Stack:
        def program() -> None:
            Group(name)
            pulumi.export("name", pulumi.get_stack() + name)

        return official.create_stack(stack_name=name, project_name="shop", program=program)

    first, second = of("one"), of("two")
    assert first.up().outputs["name"].value == "oneone"
    assert second.up().outputs["name"].value == "twotwo"
    assert first.up().summary.resource_changes == {"same": 2}


def test_a_local_program_runs_in_process(shim: Path, project: Project) -> None:
    project.write("__main__.py", "import pulumi\npulumi.export('x', 'y')\n")
    # A module of the project is none of the tool's.
    project.write("logging.py", "raise RuntimeError('the project has this for itself')\n")
    work_dir = str(project.directory)
    stack = official.create_or_select_stack(stack_name="live", work_dir=work_dir)
    assert stack.up(log_verbosity=9, log_flow=True, log_to_std_err=True).outputs["x"].value == "y"


def test_programs_find_the_words_that_they_look_for(shim: Path, project: Project) -> None:
    def pulumi_ends(*words: str) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([shim / "pulumi", *words], cwd=project.directory, text=True, **pipes)  # type: ignore[call-overload]

    assert "--verbose" in pulumi_ends("--help").communicate()[0]
    assert pulumi_ends("up", "--color", "grey").communicate()[1].startswith("error: unsupported color option 'grey'")
    assert pulumi_ends("up", "--parallel", "1.1").communicate()[1].startswith("error: invalid argument '1.1' for ")
    assert pulumi_ends("stack", "init", "live").wait() == 0
    plan = pulumi_ends("up", "--yes", "--stack", "live", "--plan", "gone").communicate()[1]
    assert plan.startswith("error: open gone: No such file")
    project.write("__main__.py", WAITING)
    os.mkfifo(project.directory / "heard")
    waiting = pulumi_ends("preview", "--stack", "live")
    wait_for(project.directory / "begun")
    waiting.send_signal(signal.SIGINT)
    read_until(waiting, "cancelling")
    (project.directory / "heard").write_text("")
    assert waiting.communicate()[1].endswith("error: preview canceled\n")


def test_a_file_that_is_no_shim_is_left_alone(project: Project) -> None:
    file = project.write("tools/pulumi", "#!/bin/sh\n")
    assert f"{file} is there, and is not maloko's" in project.failing("shim", "install", "tools")
    assert file.read_text() == "#!/bin/sh\n"


def test_several_values_go_at_once_and_all_values_come_as_they_were_shown(project: Project) -> None:
    project.run("config", "set", "a", "1")
    project.run("config", "set", "--secret", "b", "s3cret")
    project.run("config", "set", "--path", "c.d", "2")
    project.run("config", "set", "--path", "e.host", "h")
    project.run("config", "set", "--path", "e.password", "--secret", "p4ss")
    shown = project.run("config", "--json", "--show-secrets").stdout
    project.run("config", "rm-all", "a", "b", "c", "e", "not-there")
    assert project.run("config", "--json").stdout.strip() == "{}"
    project.run("config", "set-all", "--json", shown)
    assert project.run("config", "--json", "--show-secrets").stdout == shown
    assert project.run("config", "get", "--path", "e.host").stdout == "h\n"
    settings = (project.directory / "Pulumi.dev.yaml").read_text()
    assert "s3cret" not in settings
    assert "p4ss" not in settings
    told = project.failing("config", "set-all", "--json", '{"password": "hunter2"}')
    assert "the text is not what `config --json --show-secrets` writes (line 1, column 22)" in told
    assert "hunter2" not in told
