"""What JSON says of a change: at least what the text says."""

import json
from typing import Any

from cli import Project

PROGRAM = """
import os
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult


class Boxes(ResourceProvider):
    def create(self, props):
        return CreateResult("box-" + props["zone"], props)

    def diff(self, id, olds, news):
        changed = [key for key in ("label", "zone") if olds[key] != news[key]]
        return DiffResult(changes=bool(changed), replaces=[key for key in changed if key == "zone"])

    def update(self, id, olds, news):
        return UpdateResult(news)


class Box(Resource):
    def __init__(self, name, props):
        super().__init__(Boxes(), name, props)


new = bool(os.environ.get("NEW"))
Box("moved", {"label": "a", "zone": "north" if new else "south"})
Box("relabelled", {"label": "b" if new else "a", "zone": "south"})
"""

UP = ("up", "--yes", "--skip-preview")


def entries(listed: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [entry for entry in listed if entry["urn"].endswith(f"::{name}")]


def test_json_has_the_reasons_of_the_text_and_one_entry_for_a_replacement(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    project.run(*UP)
    text = project.run("preview", NEW="1").stdout
    assert "+- Resource moved replace [~zone]\n" in text
    assert "~ Resource relabelled update [~label]\n" in text

    document = json.loads(project.run("preview", "--json", NEW="1").stdout)
    (moved,) = entries(document["steps"], "moved")
    assert (moved["op"], moved["replaceReasons"], moved["diffReasons"]) == ("replace", ["zone"], ["zone"])
    (relabelled,) = entries(document["steps"], "relabelled")
    assert (relabelled["op"], relabelled["diffReasons"]) == ("update", ["label"])

    for command in (("preview",), UP):
        line = json.loads(project.run(*command, "--output", "json", NEW="1").stdout)
        (moved,) = entries(line["resources"], "moved")
        assert (moved["op"], moved["replaceReasons"], moved["diffReasons"]) == ("replace", ["zone"], ["zone"])
        assert moved["steps"] == ["create-replacement", "replace", "delete-replaced"]
        (relabelled,) = entries(line["resources"], "relabelled")
        assert (relabelled["op"], relabelled["diffReasons"]) == ("update", ["label"])

    # Back to what was.
    lines: list[dict[str, Any]] = project.events(*UP)
    events = [line["resourcePreEvent"]["metadata"] for line in lines if "resourcePreEvent" in line]
    (moved,) = (event for event in entries(events, "moved") if event["op"] == "replace")
    assert (moved["keys"], moved["diffs"]) == (["zone"], ["zone"])
    (relabelled,) = entries(events, "relabelled")
    assert (relabelled["op"], relabelled["diffs"]) == ("update", ["label"])
