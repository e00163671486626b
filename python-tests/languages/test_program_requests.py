"""What a program in a process of its own asks of the resource monitor, beyond registrations."""

from typing import Any

import pytest
from cli import Project
from scripted import SIGNAL, STACK, Scripted

OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
SIGNATURE = "4dabf18193072939515e22adb298388d"
ROOT = "urn:pulumi:dev::trial::pulumi:pulumi:Stack::trial-dev"
THING = "urn:pulumi:dev::trial::mini:index:Thing::"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@pytest.fixture
def scripted(project: Project) -> Scripted:
    scripted = Scripted(project)
    scripted.add_provider()
    return scripted


def output(value: Any, *urns: str) -> dict[str, Any]:
    return {SIGNATURE: OUTPUT, "value": value, "dependencies": list(urns)}


def thing(name: str) -> list[Any]:
    return ["resource", name, "mini:index:Thing", {"text": "hello"}]


def test_a_program_asks_whether_an_object_exists_and_what_it_read(scripted: Scripted) -> None:
    scripted.up(
        STACK,
        ["exists", "id-there"],
        ["exists", "gone"],
        ["exists", ""],
        ["exists", UNKNOWN],
        ["exists", "x", "pulumi-python:dynamic:Resource"],
        ["read", "r", "id-there"],
        ["info"],
        SIGNAL,
    )
    notes = [(note["id"], note["exists"], note["unknown"]) for note in scripted.seen("exists")]
    assert notes == [("id-there", True, False), ("gone", False, False), ("", False, False), (UNKNOWN, False, True)]
    assert [note["code"] for note in scripted.seen("exists failed")] == ["INVALID_ARGUMENT"]
    read = scripted.seen("read")[0]
    assert (read["id"], read["result"], read["unknown"]) == ("id-there", 0, False)
    # Nothing is kept of what was only asked about.
    assert scripted.names() == ["trial-dev", "default", "r"]
    features = scripted.seen("info")[0]["answer"]["supportedFeatures"]
    assert "RESOURCE_MONITOR_FEATURE_INVOKE_OUTPUT_VALUES" in features
    assert "RESOURCE_MONITOR_FEATURE_CALL_OUTPUT_VALUES" in features
    # The SDK of these tests has no name for it yet.
    assert 19 in features


def test_inputs_say_themselves_what_they_depend_on(scripted: Scripted) -> None:
    scripted.up(
        STACK,
        thing("a"),
        ["resource_of_outputs", "b", output("from a", f"{THING}a")],
        ["resource_of_outputs", "c", "x", True],
        SIGNAL,
        code=1,
    )
    b = next(resource for resource in scripted.resources() if resource["urn"] == f"{THING}b")
    assert b["inputs"] == {"text": "from a", "plain": "p"}
    # What is plain depends on nothing, not even on what the resource as a whole depends on.
    assert {key: urns or [] for key, urns in b["propertyDependencies"].items()}.get("plain", []) == []
    assert b["propertyDependencies"]["text"] == [f"{THING}a"]
    assert sorted(b["dependencies"]) == sorted([ROOT, f"{THING}a"])
    assert f"{THING}c" not in [resource["urn"] for resource in scripted.resources()]


def test_functions_and_methods_answer_in_output_values_for_those_who_read_them(scripted: Scripted) -> None:
    secret = {SIGNATURE: SECRET, "value": "hush"}
    of_a = output("from a", f"{THING}a")
    scripted.steps(
        STACK,
        thing("a"),
        ["invoke", of_a],
        ["invoke", of_a, True],
        ["invoke", secret, True],
        ["call", "a"],
        ["call", "a", True],
        SIGNAL,
    )
    scripted.run("up", "--yes")
    previewed, plain, upgraded, hidden = (
        scripted.seen("invoke")[0],
        *(note["returned"]["text"] for note in scripted.seen("invoke")[-3:]),
    )
    # The preview makes what the argument comes from: the function is not called.
    assert previewed["unknown"] is True
    assert plain == "from a"
    assert upgraded == {SIGNATURE: OUTPUT, "value": "from a", "dependencies": [f"{THING}a"]}
    assert hidden == {SIGNATURE: OUTPUT, "value": "hush", "secret": True}
    plain, upgraded = (note["returned"]["count"] for note in scripted.seen("call")[-2:])
    assert plain == 1
    assert upgraded == {SIGNATURE: OUTPUT, "value": 1, "dependencies": [f"{THING}a"]}


@pytest.mark.parametrize("lacks", ["", "GetRequiredPackages"])
def test_a_package_without_a_version_has_the_one_that_the_language_knows(scripted: Scripted, lacks: str) -> None:
    packages = [
        {"name": "mini", "kind": "resource", "version": "v1.0.0"},
        {"name": "mini", "kind": "resource", "version": "0.9.0"},
        {"name": "scripted", "kind": "language"},
    ]
    scripted.steps(STACK, ["resource_of_outputs", "a", "x"], SIGNAL, packages=packages)
    scripted.run("up", "--yes", "--skip-preview", SCRIPTED_LACKS=lacks)
    provider = next(it for it in scripted.resources() if it["type"] == "pulumi:providers:mini")
    assert provider["urn"].endswith("::default")
    assert provider["inputs"]["version"] == "1.0.0"
    assert bool(scripted.seen("GetRequiredPlugins")) is bool(lacks)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"packages": [{"name": "mini", "kind": "rocket"}]}, "unrecognized plugin kind 'rocket' of 'mini'"),
        ({"specs": [{"source": "./mini"}]}, "the package './mini' is named by its folder or address"),
    ],
)
def test_packages_that_cannot_be_used_end_the_run_before_its_program(
    scripted: Scripted, options: dict[str, Any], words: str
) -> None:
    scripted.steps(STACK, **options)
    told = scripted.run("up", "--yes", "--skip-preview", code=1)
    assert f"the language plugin 'pulumi-language-scripted' says what the program uses: {words}" in told
    assert not scripted.seen("Run")
