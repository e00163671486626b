"""`refresh`: the state becomes as the world is, and what drifted is shown."""

import json
from typing import Any

import pytest
from cli import Project

PROGRAM = """
import json, pathlib, threading
import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

WORLD = pathlib.Path("world.json")
CALLS = pathlib.Path("calls.jsonl")
LOCK = threading.Lock()


def load():
    return json.loads(WORLD.read_text()) if WORLD.exists() else {}


def change(edit):
    with LOCK:
        world = load()
        edit(world)
        WORLD.write_text(json.dumps(world))


class BoxProvider(ResourceProvider):
    def diff(self, id_, olds, news):
        return DiffResult(any(olds.get(key) != news[key] for key in ("size", "color")))

    def create(self, props):
        change(lambda world: world.update({props["name"]: {"size": props["size"], "color": props["color"]}}))
        return CreateResult(props["name"], {**props, "tags": {"made": "here"}})

    def read(self, id_, props):
        with LOCK, CALLS.open("a") as calls:
            calls.write(json.dumps({"id": id_, "props": props}) + "\\n")
        found = load().get(id_)
        if found is None:
            return ReadResult("", {})
        seen = {"name": props["name"], "size": found["size"], "color": found["color"]}
        outs = {**props, **seen, "tags": found.get("tags", props["tags"])}
        return ReadResult(id_, outs, seen) if props["tells"] else ReadResult(id_, outs)

    def update(self, id_, olds, news):
        change(lambda world: world[id_].update({"size": news["size"], "color": news["color"]}))
        return UpdateResult({**olds, **news})

    def delete(self, id_, props):
        change(lambda world: world.pop(id_))


class NoRead(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)


class OtherNoRead(NoRead):
    pass


class Box(Resource):
    def __init__(self, name, size, color, tells=False, opts=None):
        props = {"name": name, "size": size, "color": color, "tells": tells, "tags": None}
        super().__init__(BoxProvider(), name, props, opts)


class Thing(Resource):
    def __init__(self, provider, name):
        super().__init__(provider, name, {})


RESOURCES
"""

TWO = """
Box("left", 1, "red")
Box("right", 2, pulumi.Output.secret("blue"))
"""


def boxes(project: Project, resources: str = TWO) -> Project:
    project.write("__main__.py", PROGRAM.replace("RESOURCES", resources))
    project.run("up", "--yes", "--skip-preview")
    return project


def world(project: Project) -> Any:
    return json.loads((project.directory / "world.json").read_text())


def edit(project: Project, name: str, **properties: Any) -> None:
    """Somebody edits an object behind the engine's back."""
    now = world(project)
    now[name] |= properties
    project.write("world.json", json.dumps(now))


def resource(project: Project, name: str) -> dict[str, Any]:
    """The resource's state, with secrets in plain text."""
    text = project.run("stack", "export", "--show-secrets").stdout
    resources = json.loads(text)["deployment"]["resources"]
    return next(resource for resource in resources if resource["urn"].endswith(f"::{name}"))


def test_refresh_writes_what_read_returns_and_shows_each_property_that_drifted(project: Project) -> None:
    boxes(project)
    edit(project, "left", size=7, tags={"made": "elsewhere"})

    brief = project.run("refresh", "--preview-only").stdout
    assert "left update [~size, ~tags]" in brief
    full = project.run("refresh", "--preview-only", "--diff").stdout
    assert "~ size: 1 => 7" in full.replace("  ", " "), full
    assert '"here" => "elsewhere"' in full, full
    assert resource(project, "left")["outputs"]["size"] == 1

    done = project.run("refresh", "--yes", "--skip-preview").stdout
    assert "1 updated" in done, done
    assert resource(project, "left")["outputs"]["size"] == 7
    assert resource(project, "left")["inputs"]["size"] == 1
    project.run("up", "--yes", "--skip-preview")
    assert world(project)["left"]["size"] == 1


def test_read_gets_the_id_and_the_stored_outputs(project: Project) -> None:
    boxes(project)
    project.run("refresh", "--yes", "--skip-preview")
    calls = [json.loads(line) for line in (project.directory / "calls.jsonl").read_text().splitlines()]
    assert sorted(call["id"] for call in calls) == ["left", "right"]
    right = next(call["props"] for call in calls if call["id"] == "right")
    assert right == {"name": "right", "size": 2, "color": "blue", "tells": False, "tags": {"made": "here"}}


def test_drift_is_in_the_json_events_and_secrets_are_not(project: Project) -> None:
    boxes(project)
    edit(project, "left", size=7)
    edit(project, "right", color="canary-green")
    events = project.events("refresh", "--yes", "--skip-preview")
    done = {
        event["resOutputsEvent"]["metadata"]["urn"].rsplit("::", 1)[-1]: event["resOutputsEvent"]["metadata"]
        for event in events
        if "resOutputsEvent" in event
    }
    left = done["left"]
    assert (left["old"]["outputs"]["size"], left["new"]["outputs"]["size"]) == (1, 7)
    assert left["detailedDiff"] == {"size": {"diffKind": "update", "inputDiff": False}}
    assert done["right"]["detailedDiff"] == {"color": {"diffKind": "update", "inputDiff": False}}
    assert "canary" not in json.dumps(events)


def test_an_empty_id_means_gone(project: Project) -> None:
    boxes(project)
    project.write("world.json", json.dumps({"left": world(project)["left"]}))
    assert "1 deleted" in project.run("refresh", "--yes", "--skip-preview").stdout
    assert '"right"' not in project.run("stack", "--show-urns").stdout
    assert "1 created" in project.run("up", "--yes", "--skip-preview").stdout


def test_returned_inputs_become_the_new_inputs(project: Project) -> None:
    boxes(project, 'Box("left", 1, "red", tells=True)')
    edit(project, "left", color="green")
    project.run("refresh", "--yes", "--skip-preview")
    assert resource(project, "left")["inputs"] | {"__provider": 0} == {
        "name": "left",
        "size": 1,
        "color": "green",
        "__provider": 0,
    }


def test_a_provider_without_read_is_told_of_once_for_its_class(project: Project) -> None:
    boxes(project, 'for i in range(3):\n    Thing(NoRead(), f"a{i}")\n    Thing(OtherNoRead(), f"b{i}")')
    done = project.run("refresh", "--yes", "--skip-preview")
    told = [line for line in (done.stdout + done.stderr).splitlines() if "has no 'read' method" in line]
    assert len(told) == 2, told
    assert sorted("OtherNoRead" in line for line in told) == [False, True]
    project.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")


def test_what_was_read_is_written_also_where_changes_are_ignored(project: Project) -> None:
    boxes(project, 'Box("left", 1, "red", opts=pulumi.ResourceOptions(ignore_changes=["size"]))')
    edit(project, "left", size=7)
    project.run("refresh", "--yes", "--skip-preview")
    assert resource(project, "left")["outputs"]["size"] == 7


@pytest.mark.parametrize("flag", ["--target", "--exclude"])
def test_a_refresh_reads_its_selection_only(project: Project, flag: str) -> None:
    boxes(project)
    edit(project, "left", size=7)
    edit(project, "right", size=8)
    project.run("refresh", "--yes", "--skip-preview", flag, "**::left")
    read, unread = ("left", "right") if flag == "--target" else ("right", "left")
    assert resource(project, read)["outputs"]["size"] in (7, 8)
    assert resource(project, unread)["outputs"]["size"] in (1, 2)


def test_expect_no_changes_fails_where_something_drifted(project: Project) -> None:
    boxes(project)
    project.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    edit(project, "left", size=7)
    project.run("refresh", "--preview-only", "--expect-no-changes", code=7)
    project.run("refresh", "--yes", "--skip-preview", "--expect-no-changes", code=7)
    project.run("up", "--yes", "--skip-preview")
    project.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")


def test_up_and_preview_with_refresh_show_and_mend_what_drifted(project: Project) -> None:
    boxes(project)
    edit(project, "left", size=7)
    shown = project.run("preview", "--refresh", "--diff").stdout
    assert "1 => 7" in shown
    assert "7 => 1" in shown
    project.run("up", "--refresh", "--yes", "--skip-preview")
    assert world(project)["left"]["size"] == 1
