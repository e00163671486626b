"""What goes in comes out the same: values of every kind, by themselves and deep inside others.

program -> provider -> state -> the next run's `olds` -> outputs -> stack output -> `stack output --json`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from cli import Project

PROGRAM = """
import json
import pulumi
from pulumi.dynamic import CheckResult, CreateResult, DiffResult, Resource, ResourceProvider


def shown(value):
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shown(item) for item in value]
    if isinstance(value, (pulumi.Asset, pulumi.Archive)):
        return {"kind": type(value).__mro__[2].__name__, **{name: shown(part) for name, part in vars(value).items()}}
    return value


def note(method, kind, *bags):
    with open("seen.jsonl", "a") as file:
        file.write(json.dumps([method, kind, *map(shown, bags)]) + "\\n")


class Keeping(ResourceProvider):
    def check(self, olds, news):
        note("check", news["kind"], olds, news)
        return CheckResult(news, [])

    def diff(self, _id, olds, news):
        note("diff", news["kind"], olds, news)
        return DiffResult(changes=shown(olds) != shown(news))

    def create(self, props):
        note("create", props["kind"], props)
        return CreateResult("made", props)


class Kept(Resource):
    value: pulumi.Output
    deep: pulumi.Output

    def __init__(self, kind, value):
        deep = [{"a": {"odd key [0].x": [0, value]}}]
        super().__init__(Keeping(), kind, {"kind": kind, "value": value, "deep": deep})


owner = Kept("owner", "x")
VALUES = {
    "text": 'ž \\U0001f40e "quoted" \\\\ \\n\\u2028',
    "empty text": "",
    "number": 0.1,
    "large number": 1e300,
    "whole number": -3,
    "truth": False,
    "list": [1, [], [[2]], None],
    "object": {"a": {}, "b": {"": 1}},
    "secret": pulumi.Output.secret("hidden-text"),
    "secret part": {"plain": 1, "hidden": pulumi.Output.secret([1, {"x": "hidden-text"}])},
    "text asset": pulumi.StringAsset("content"),
    "file asset": pulumi.FileAsset("asset.txt"),
    "remote asset": pulumi.RemoteAsset("file://" + __import__("os").path.abspath("asset.txt")),
    "archive": pulumi.AssetArchive({"a": pulumi.StringAsset("A"), "d": pulumi.FileArchive("folder")}),
    "folder": pulumi.FileArchive("folder"),
    "output": owner.value.apply(lambda text: [text, 1]),
    "resource": owner,
}
for kind, value in VALUES.items():
    kept = Kept(kind, value)
    pulumi.export(kind, kept.value)
    pulumi.export(kind + " deep", kept.deep)
"""

PLAIN: dict[str, Any] = {
    "text": 'ž \U0001f40e "quoted" \\ \n\u2028',
    "empty text": "",
    "number": 0.1,
    "large number": 1e300,
    "whole number": -3,
    "truth": False,
    "list": [1, [], [[2]], None],
    "object": {"a": {}, "b": {"": 1}},
    "secret": "hidden-text",
    "secret part": {"plain": 1, "hidden": [1, {"x": "hidden-text"}]},
    "output": ["x", 1],
    "resource": "made",
}
CONTENT = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
ASSETS: dict[str, tuple[str, Any]] = {
    "text asset": ("text", "content"),
    "file asset": ("path", "asset.txt"),
    "remote asset": ("uri", None),
    "archive": ("assets", None),
    "folder": ("path", "folder"),
}


class Seen:
    """What two runs of the program left."""

    def __init__(self, project: Project) -> None:
        self.calls: list[list[Any]] = [json.loads(line) for line in (project.directory / "seen.jsonl").open()]
        self.outputs = json.loads(project.run("stack", "output", "--json", "--show-secrets").stdout)
        self.hidden = json.loads(project.run("stack", "output", "--json").stdout)
        exported = json.loads(project.run("stack", "export", "--show-secrets").stdout)
        self.resources = {
            resource["urn"].rsplit("::", 1)[1]: resource for resource in exported["deployment"]["resources"]
        }

    def call(self, method: str, kind: str, number: int = 0) -> list[Any]:
        found = [bags for name, resource, *bags in self.calls if (name, resource) == (method, kind)]
        bags: list[Any] = found[number]
        return bags


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    project = Project(tmp_path_factory.mktemp("round-trip"))
    project.write("__main__.py", PROGRAM)
    project.write("asset.txt", "content")
    project.write("folder/b.txt", "B")
    project.run("stack", "init", "dev")
    project.run("up", "--yes", "--skip-preview")
    project.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    for file in Path(project.directory, ".maloko").rglob("*"):
        assert file.is_dir() or b"hidden-text" not in file.read_bytes(), file
    return Seen(project)


def deep(value: Any) -> Any:
    return [{"a": {"odd key [0].x": [0, value]}}]


@pytest.mark.parametrize("kind", PLAIN)
def test_values_come_out_as_they_went_in(seen: Seen, kind: str) -> None:
    value = PLAIN[kind]
    (made,) = seen.call("create", kind)
    assert (made["value"], made["deep"]) == (value, deep(value))
    olds, news = seen.call("check", kind, 1)
    assert olds == news == made
    assert seen.call("diff", kind) == [made, made]
    assert (seen.outputs[kind], seen.outputs[f"{kind} deep"]) == (value, deep(value))
    assert seen.resources[kind]["inputs"] == seen.resources[kind]["outputs"]


@pytest.mark.parametrize("kind", ASSETS)
def test_assets_come_out_as_they_went_in(seen: Seen, kind: str) -> None:
    member, content = ASSETS[kind]
    (made,) = seen.call("create", kind)
    value = made["value"]
    assert value[member] == content or content is None
    assert made["deep"] == deep(value)
    if "asset" in kind:
        assert value["hash"] == CONTENT
    olds, news = seen.call("check", kind, 1)
    assert olds == news == made
    kept = seen.resources[kind]["outputs"]["value"]
    assert (kept["hash"], kept[member]) == (value["hash"], value[member] if content else kept[member])
    assert seen.resources[kind]["inputs"]["value"] == kept
    # As a stack output the SDK makes a plain object of it.
    output = seen.outputs[kind]
    assert output.keys() == {member}
    assert output[member] == kept[member] or kind == "archive"
    assert seen.outputs[f"{kind} deep"] == deep(output)


def test_secrets_stay_secret_where_they_are_and_nothing_else_does(seen: Seen) -> None:
    assert (seen.hidden["secret"], seen.hidden["secret deep"]) == ("[secret]", "[secret]")
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
    part = seen.resources["secret part"]["outputs"]["value"]
    assert part["plain"] == 1
    assert part["hidden"] == {**secret, "plaintext": '[1,{"x":"hidden-text"}]'}
    assert seen.resources["secret"]["outputs"]["deep"] == deep({**secret, "plaintext": '"hidden-text"'})
