"""Programs of four languages as they asked Pulumi 3.274.1, played again: the same answers, order of calls and state.

`recordings/` has what each program asked and was answered, in its order, and what its host and its provider were asked
meanwhile. They were made with a provider like `mini_provider.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from cli import Project
from night import by_day
from scripted import Scripted

RECORDINGS = Path(__file__).parent / "recordings"
SECRET = "1b47061264138c4ac30d75fd1eb44270"


@pytest.mark.parametrize(
    "name", by_day(sorted(file.stem for file in RECORDINGS.iterdir()), lambda name, _: name not in ("nodejs", "python"))
)
def test_a_recorded_program_gets_the_same_answers_and_leaves_the_same_state(project: Project, name: str) -> None:
    scripted = Scripted(project)
    recorded = json.loads((RECORDINGS / f"{name}.json").read_text())
    # A version in another package changes nothing of these resources.
    scripted.steps(
        ["replay", str(RECORDINGS / f"{name}.json")], name=recorded["project"], packages=recorded["packages"]
    )
    scripted.add_provider()
    project.run("stack", "init", "dev")
    for key, value in recorded["config"].items():
        project.run("config", "set", key, value)
    scripted.run("up", "--yes", "--skip-preview")

    assert scripted.seen("answers differ") == []
    of_host = [note["what"] for note in scripted.seen() if note["what"] != "begins"]
    assert of_host == recorded["host"]
    if recorded["provider"]:
        assert in_order(scripted.asked_of_provider()) == in_order([" ".join(it).strip() for it in recorded["provider"]])
    kept = [it for it in scripted.resources(recorded["project"]) if "providers" not in it["type"]]
    assert [essence(resource) for resource in kept] == [
        expected(call, recorded["calls"]) for call in recorded["calls"] if call["method"] == "RegisterResource"
    ]


def in_order(asked: list[str]) -> tuple[list[str], list[str], int]:
    """What comes first, what is asked of resources, and the calls of functions, which run beside those."""
    of_resources = [it for it in asked if it.split()[0] in ("Check", "Create", "Update", "Diff")]
    return asked[:4], of_resources, asked.count("Invoke")


def essence(resource: dict[str, Any]) -> dict[str, Any]:
    """What a program decides of a resource in a state."""
    dependencies = resource.get("propertyDependencies") or {}
    return {
        "urn": resource["urn"],
        "id": resource.get("id", ""),
        "inputs": resource.get("inputs", {}),
        "outputs": without_ciphertext(resource.get("outputs", {})),
        "parent": resource.get("parent", ""),
        "dependencies": resource.get("dependencies", []),
        "propertyDependencies": {key: urns or [] for key, urns in dependencies.items()},
    }


def expected(call: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    request, response = call["request"], call["response"]
    urn = response["urn"]
    registered = [it["request"]["outputs"] for it in calls if it["request"].get("urn") == urn]
    return {
        "urn": urn,
        "id": response.get("id", ""),
        "inputs": request["object"],
        "outputs": without_ciphertext(registered[0]) if registered else response["object"],
        "parent": request.get("parent", ""),
        "dependencies": request.get("dependencies", []),
        "propertyDependencies": {
            key: value.get("urns", []) for key, value in request.get("propertyDependencies", {}).items()
        },
    }


def without_ciphertext(values: dict[str, Any]) -> dict[str, Any]:
    """Secrets are known to be secrets, and no more: a state has them encrypted, a request has them plain."""
    return {
        key: "secret" if isinstance(value, dict) and SECRET in value.values() else value
        for key, value in values.items()
    }
