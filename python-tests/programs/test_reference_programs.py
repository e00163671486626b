"""What programs that were written for Pulumi rely on."""

import json
import os
import threading
from typing import Any

import pulumi
from cli import Project
from kit import Echo, Thing
from pulumi.dynamic import CreateResult
from stacks import Stack

DIRECTLY = ("--yes", "--skip-preview", "--stack", "dev")
PROGRAM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult("made", props)


class Thing(Resource):
    def __init__(self, name, opts=None):
        super().__init__(Provider(), name, {"name": name}, opts)

"""


def states(project: Project) -> dict[str, dict[str, Any]]:
    resources = json.loads(project.state())["checkpoint"]["latest"]["resources"]
    return {resource["urn"].split("::", 2)[2]: resource for resource in resources}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_stack_name_with_another_project_is_refused(project: Project) -> None:
    project.write("__main__.py", PROGRAM + "Thing(pulumi.Config().get('name') or 'unnamed')\n")
    other = "organization/other/dev"
    for arguments in (
        ["stack", "init", other],
        ["stack", "select", "--create", other],
        ["config", "set", "name", "a", "--stack", other],
        ["preview", "--stack", other],
        ["up", "--yes", "--skip-preview", "--stack", other],
        ["destroy", "--yes", "--skip-preview", "--stack", other],
        ["stack", "rm", "--yes", other],
    ):
        said = project.failing(*arguments)
        assert f"the stack '{other}' is of the project 'other', which does not match" in said, arguments
        assert "Pulumi.yaml:1: here is the project 'trial'" in said, arguments
    assert "is of the project 'other'" in project.failing("up", "--yes", PULUMI_STACK=other)
    assert other not in project.run("stack", "ls", "--all").stdout
    project.run("up", "--yes", "--skip-preview", "--stack", "organization/trial/dev")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_explicit_provider_of_the_dynamic_package_itself_works(project: Project) -> None:
    explicit = PROGRAM + (
        "class Explicit(pulumi.ProviderResource):\n"
        "    def __init__(self, name, props=None):\n        super().__init__('pulumi-python', name, props or {})\n"
        "class Group(pulumi.ComponentResource):\n"
        "    def __init__(self, name, opts):\n        super().__init__('tests:index:Group', name, {}, opts)\n"
        "        Thing(name + '-child', pulumi.ResourceOptions(parent=self))\n"
    )
    project.write(
        "__main__.py",
        explicit + "it = Explicit('p', {'token': pulumi.Output.secret('t0ken-t0ken')})\n"
        "Thing('a', pulumi.ResourceOptions(provider=it))\n"
        "Group('g', pulumi.ResourceOptions(providers=[it]))\nThing('b')\n",
    )
    assert "+ 6 to create" in project.run("preview").stdout
    project.run("up", *DIRECTLY)
    made = states(project)
    provider = made["pulumi:providers:pulumi-python::p"]
    reference = f"{provider['urn']}::{provider['id']}"
    assert len(provider["id"]) == 36
    assert "provider" not in provider
    assert made["pulumi-python:dynamic:Resource::a"]["provider"] == reference
    assert made["tests:index:Group$pulumi-python:dynamic:Resource::g-child"]["provider"] == reference
    assert "::default::" in made["pulumi-python:dynamic:Resource::b"]["provider"]
    assert "t0ken-t0ken" not in project.state()
    project.run("up", *DIRECTLY, "--expect-no-changes")
    project.run("refresh", *DIRECTLY, "--expect-no-changes")
    # Other inputs update it; its id stays, and nothing happens to those that refer to it.
    project.write(
        "__main__.py",
        explicit + "it = Explicit('p', {'token': 'open'})\nThing('a', pulumi.ResourceOptions(provider=it))\n",
    )
    assert "~ 1 updated" in project.run("up", *DIRECTLY).stdout
    assert states(project)["pulumi:providers:pulumi-python::p"]["id"] == provider["id"]
    # One that goes takes nothing along: its resources go on with the default provider.
    project.write("__main__.py", explicit + "Thing('a')\n")
    assert "- 1 deleted" in project.run("up", *DIRECTLY).stdout
    assert "::default::" in states(project)["pulumi-python:dynamic:Resource::a"]["provider"]
    project.run("destroy", *DIRECTLY)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_config_is_the_old_name_of_the_settings_directory(project: Project) -> None:
    project.write("Pulumi.yaml", "name: trial\nruntime: python\nconfig: settings\n")
    project.write("settings/Pulumi.dev.yaml", "config:\n  trial:name: from-there\n")
    project.write("__main__.py", PROGRAM + "Thing(pulumi.Config().require('name'))\n")
    project.run("config", "set", "other", "x", "--stack", "dev")
    assert "trial:other: x" in (project.directory / "settings" / "Pulumi.dev.yaml").read_text()
    project.run("up", *DIRECTLY)
    assert "pulumi-python:dynamic:Resource::from-there" in states(project)
    project.write("Pulumi.yaml", "name: trial\nruntime: python\nconfig: settings\nstackConfigDir: settings\n")
    assert "both name the directory of the settings files; keep `stackConfigDir` only" in project.failing("preview")


def test_provider_methods_have_the_configuration_in_a_variable() -> None:
    both = threading.Barrier(2, timeout=60)
    seen: dict[str, list[object]] = {}

    class Asking(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            before = os.environ["PULUMI_CONFIG"]
            both.wait()
            told = json.loads(os.environ["PULUMI_CONFIG"])
            place = told["project:place"]
            seen[place] = [json.loads(before) == told, "PULUMI_CONFIG" in os.environ, pulumi.Config().get("place")]
            return CreateResult(place, props)

    def run(place: str) -> None:
        def program() -> None:
            Thing(Asking(), "a")

        stack = Stack()
        stack.config["place"] = place
        stack.up(program)

    threads = [threading.Thread(target=run, args=(place,)) for place in ("here", "there")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"here": [True, True, "here"], "there": [True, True, "there"]}
    assert "PULUMI_CONFIG" not in os.environ


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_event_log_has_the_default_providers_events(project: Project) -> None:
    project.write("__main__.py", PROGRAM + "Thing('a')\n")
    shown = project.events("up", *DIRECTLY, "--event-log", "log.jsonl")
    logged = [json.loads(line) for line in (project.directory / "log.jsonl").read_text().splitlines()]

    def steps(events: list[Any]) -> list[str]:
        kinds = ("resourcePreEvent", "resOutputsEvent")
        told = [(kind, event[kind]["metadata"]) for event in events for kind in kinds if kind in event]
        return [f"{kind} {step['op']} {step['urn'].split('::')[-1]}" for kind, step in told]

    default = ["resourcePreEvent create default", "resOutputsEvent create default"]
    assert [step for step in steps(logged) if step.endswith(" default")] == default
    assert steps(shown) == [step for step in steps(logged) if not step.endswith(" default")]
    assert [event["sequence"] for event in logged] == list(range(len(logged)))
    counts = [event["summaryEvent"]["resourceChanges"] for event in logged if "summaryEvent" in event]
    assert counts == [{"create": 2}]
