"""Which stack a command works on when none is named."""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cli import Project
from terminal import Terminal

UP = ("up", "--yes", "--skip-preview")


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """A project without a stack."""
    project = Project(tmp_path)
    project.write("__main__.py", "import pulumi\npulumi.export('stack', pulumi.get_stack())\n")
    return project


def on_terminal(project: Project, *arguments: str, answers: list[tuple[str, str]]) -> str:
    """Runs a command on a pseudo-terminal; each answer is typed once its question is shown. Gives what was shown."""
    with Terminal(project, *arguments) as terminal:
        for question, answer in answers:
            terminal.says(question)
            terminal.types(answer)
        terminal.ends()
        return terminal.text


def deployed(project: Project, *arguments: str) -> object:
    return json.loads(project.run("stack", "output", "--json", *arguments).stdout)


def test_without_a_selected_stack_a_terminal_chooses_or_creates_one(fresh: Project) -> None:
    shown = on_terminal(fresh, "up", "--yes", answers=[("Name of the new stack", "\r")])
    assert "Created stack 'dev'" in shown
    assert deployed(fresh) == {"stack": "dev"}
    # It is selected from now on.
    assert "unchanged" in fresh.run(*UP).stdout

    (fresh.directory / ".maloko" / "stack").unlink()
    shown = on_terminal(fresh, *UP, answers=[("No stack is selected. Which one?", "\r")])
    assert "(make a new stack)" in shown
    assert "Updating (dev)" in shown
    assert "unchanged" in fresh.run(*UP).stdout

    (fresh.directory / ".maloko" / "stack").unlink()
    answers = [("No stack is selected. Which one?", "new\r"), ("Name of the new stack", "\b\b\bqa\r")]
    assert "Created stack 'qa'" in on_terminal(fresh, *UP, answers=answers)
    assert deployed(fresh) == {"stack": "qa"}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize("backend", ["own", "shared"])
def test_a_stack_that_several_commands_make_at_once_is_made_by_one_of_them(fresh: Project, backend: str) -> None:
    variables = {} if backend == "own" else {"PULUMI_BACKEND_URL": f"file://{fresh.directory / 'states'}"}
    (fresh.directory / "states").mkdir()

    def select(_number: int) -> str:
        return fresh.run("stack", "select", "--create", "live", **variables).stdout

    with ThreadPoolExecutor(8) as commands:
        said = list(commands.map(select, range(8)))

    assert sorted(said)[-2:] == ["", "Created stack 'live'\n"]
    assert [it["name"] for it in json.loads(fresh.run("stack", "ls", "--json", **variables).stdout)] == ["live"]


def test_off_a_terminal_the_stacks_that_can_be_meant_are_named(fresh: Project) -> None:
    said = fresh.failing(*UP)
    assert "no stack is selected, and there is none of the project 'trial' in file://" in said
    assert "maloko stack init NAME" in said

    fresh.run("stack", "init", "dev", "--no-select")
    said = fresh.failing(*UP)
    assert f"the only one of this project in file://{fresh.directory}" in said
    assert "is 'dev'. Add `-s dev`, or select it with `maloko stack select dev`" in said
    assert deployed_by_flag(fresh) == {"stack": "dev"}

    fresh.run("stack", "init", "qa", "--no-select")
    assert "(there is 'dev', 'qa')" in fresh.failing(*UP)


def deployed_by_flag(project: Project) -> object:
    project.run(*UP, "-s", "dev")
    return deployed(project, "-s", "dev")


def test_the_stack_that_pulumi_has_selected_is_taken_where_it_is(fresh: Project) -> None:
    team = ("--backend", f"file://{fresh.directory / 'team'}")
    (fresh.directory / "team").mkdir()
    for name in ("dev", "qa"):
        fresh.run("stack", "init", name, "--no-select", *team)
    path = os.path.realpath(fresh.directory / "Pulumi.yaml")
    name = f"trial-{hashlib.sha1(path.encode()).hexdigest()}-workspace.json"
    fresh.write(f"home/.pulumi/workspaces/{name}", '{"stack": "organization/trial/qa"}')
    assert "Updating (qa)" in fresh.run(*UP, *team).stdout
    # Where it is not, it says nothing.
    assert "no stack is selected, and there is none" in fresh.failing(*UP)
