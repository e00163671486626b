"""Update plans, the history of a stack, and `watch`, as a user drives them."""

import json

import pytest
from cli import Project, read_until, wait_for, watched

PROGRAM = """
import os, pathlib
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult


def note(what):
    pathlib.Path(os.environ["HOME"]).mkdir(exist_ok=True)
    pathlib.Path(os.environ["HOME"], what).touch()


class Provider(ResourceProvider):
    def create(self, props):
        note(f"created-{int(props['size'])}")
        return CreateResult("one", props)

    def update(self, id_, olds, news):
        note(f"updated-{int(news['size'])}")
        return UpdateResult(news)


class Thing(Resource):
    def __init__(self, name, size):
        super().__init__(Provider(), name, {"size": size})


Thing("a", SIZE)
"""


def sized(size: int) -> str:
    return PROGRAM.replace("SIZE", str(size))


@pytest.fixture
def project(project: Project) -> Project:
    project.write("__main__.py", sized(1))
    return project


def noted(project: Project) -> list[str]:
    return sorted(file.name for file in project.directory.glob("home/*ated-*"))


def test_a_plan_holds_the_update_to_what_was_previewed(project: Project) -> None:
    project.run("preview", "--save-plan", "plan.json")
    assert noted(project) == []
    project.write("__main__.py", sized(2))
    said = project.failing("up", "--plan", "plan.json", "--yes", "--skip-preview")
    assert "'a' does not keep to the plan" in said
    assert "its input 'size' was planned to be 1" in said
    assert noted(project) == []
    project.write("__main__.py", sized(1))
    project.run("up", "--plan", "plan.json", "--yes", "--skip-preview")
    assert noted(project) == ["created-1"]


def test_a_plan_is_refused_with_another_configuration(project: Project) -> None:
    project.run("config", "set", "size", "1")
    project.run("preview", "--save-plan", "plan.json")
    project.run("config", "set", "size", "2")
    said = project.failing("up", "--plan", "plan.json", "--yes", "--skip-preview")
    assert "another configuration: trial:size" in said
    assert noted(project) == []


def test_the_history_lists_what_was_done(project: Project) -> None:
    project.run("up", "--yes", "--skip-preview")
    project.write("__main__.py", sized(2))
    project.run("up", "--yes", "--skip-preview", "--message", "a larger size")
    project.write("__main__.py", "raise ValueError('broken')")
    project.failing("up", "--yes", "--skip-preview")
    project.write("__main__.py", sized(2))
    project.run("destroy", "--yes", "--skip-preview")
    updates = json.loads(project.run("stack", "history", "--json").stdout)
    assert [(it["version"], it["kind"], it["result"]) for it in updates] == [
        (4, "destroy", "succeeded"),
        (3, "update", "failed"),
        (2, "update", "succeeded"),
        (1, "update", "succeeded"),
    ]
    assert updates[2]["message"] == "a larger size"
    assert updates[2]["resourceChanges"] == {"same": 1, "update": 1}
    assert "a larger size" in project.run("stack", "history").stdout


def test_watch_updates_when_the_program_changes(project: Project) -> None:
    # Directories take time to be watched: the change comes right after the words, and is not lost.
    for number in range(1000):
        (project.directory / "data" / str(number)).mkdir(parents=True)
    with watched(project) as watching:
        read_until(watching, "Waiting for changes")
        project.write("__main__.py", sized(2))
        wait_for(project.directory / "home" / "updated-2")
    assert noted(project) == ["created-1", "updated-2"]


def test_watch_does_not_run_for_ever_when_the_program_writes_in_each_run(project: Project) -> None:
    writes = "\nimport time\npathlib.Path('made.yaml').write_text(str(time.time_ns()))\n"
    project.write("__main__.py", sized(1) + writes)
    with watched(project) as watching:
        said = read_until(watching, "Waiting for changes")
        assert "made.yaml changes in each run: the program writes it, so it counts only between runs" in said
        project.write("made.yaml", "by hand")
        read_until(watching, "made.yaml changed")
        read_until(watching, "Waiting for changes")
        project.write("__main__.py", sized(2) + writes)
        wait_for(project.directory / "home" / "updated-2")
    assert noted(project) == ["created-1", "updated-2"]
