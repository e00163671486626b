"""Between maloko and Pulumi: code in a state is never run, and `stack export --for-pulumi` writes what Pulumi runs."""

import base64
import contextlib
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from cli import Project
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

PROGRAM = """
import pulumi
from pulumi.dynamic import ConfigureRequest, CreateResult, DiffResult, ReadResult, Resource, ResourceProvider
import helper


class Tagged(ResourceProvider):
    def __init__(self, tag):
        self.tag = tag

    def configure(self, req):
        self.greeting = req.config.get("greeting")

    def create(self, props):
        return CreateResult("made", {**props, "text": "made"})

    def read(self, id_, props):
        return ReadResult(id_, {"n": props["n"], "text": f"{self.greeting} {self.tag} {helper.twice(21)}"})

    def diff(self, id_, olds, news):
        return DiffResult(olds["n"] != news["n"])


class Asking(Tagged):
    def __init__(self, text):
        super().__init__("asked")
        self.text = text

    def read(self, id_, props):
        return ReadResult(id_, {"n": props["n"], "text": self.text.get()})


class Plain(Tagged):
    serialize_as_secret_always = False


class Thing(Resource):
    text: pulumi.Output[str]

    def __init__(self, provider, name):
        super().__init__(provider, name, {"n": 1, "text": None})


EXTRA = None
tagged = Thing(Tagged("tag"), "tagged")
Thing(Plain("plain"), "plain")
Thing(Asking(tagged.text), "asking")
"""

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}


def deployed(project: Project, extra: str = "None") -> Project:
    project.write("helper.py", "def twice(number):\n    return 2 * number\n")
    project.write("__main__.py", PROGRAM.replace("EXTRA = None", extra))
    project.run("up", "--yes", "--skip-preview")
    return project


def struct(properties: dict[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(properties)
    return made


@contextlib.contextmanager
def provider_server(project: Project, config: dict[str, str]) -> Iterator[Any]:
    """The SDK's own provider server, which Pulumi's engine starts and calls."""
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "pulumi.dynamic", "127.0.0.1:1"],
        cwd=project.directory,
        env=project.environment | {"PULUMI_PROJECT": "trial"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            provider = provider_pb2_grpc.ResourceProviderStub(channel)
            provider.Configure(provider_pb2.ConfigureRequest(args=struct(config)))
            yield provider
    finally:
        server.kill()
        server.communicate()


def resources_of(text: str) -> dict[str, dict[str, Any]]:
    """The states of resources with a provider object, by name."""
    resources = json.loads(text)["deployment"]["resources"]
    return {
        resource["urn"].rsplit("::", 1)[-1]: resource
        for resource in resources
        if "__provider" in resource.get("inputs", {})
    }


def without_secrets(value: Any) -> Any:
    """As the engine hands properties to a provider."""
    if isinstance(value, dict):
        return (
            json.loads(value["plaintext"])
            if SECRET.items() <= value.items()
            else {key: without_secrets(item) for key, item in value.items()}
        )
    return [without_secrets(item) for item in value] if isinstance(value, list) else value


def test_the_sdks_own_server_runs_the_providers_of_an_export_for_pulumi(project: Project) -> None:
    deployed(project)
    resources = resources_of(project.run("stack", "export", "--for-pulumi", "--show-secrets").stdout)
    assert all(resource["inputs"]["__provider"] == resource["outputs"]["__provider"] for resource in resources.values())
    assert isinstance(resources["plain"]["inputs"]["__provider"], str)
    assert resources["tagged"]["inputs"]["__provider"].items() >= SECRET.items()

    answers = {}
    with provider_server(project, {"trial:greeting": "hello"}) as server:
        for name, resource in resources.items():
            inputs, outputs = (struct(without_secrets(resource[key])) for key in ("inputs", "outputs"))
            changed = struct(without_secrets(resource["inputs"]) | {"n": 2})
            read = server.Read(provider_pb2.ReadRequest(id=resource["id"], properties=outputs, inputs=inputs))
            diffs = [
                server.Diff(provider_pb2.DiffRequest(id=resource["id"], olds=outputs, news=news)).changes
                for news in (inputs, changed)
            ]
            answers[name] = {"text": read.properties["text"], "diffs": diffs}
    assert answers == {
        "tagged": {"text": "hello tag 42", "diffs": [1, 2]},
        "plain": {"text": "hello plain 42", "diffs": [1, 2]},
        "asking": {"text": "made", "diffs": [1, 2]},
    }


def test_an_export_for_pulumi_comes_back_without_a_change(project: Project) -> None:
    deployed(project)
    before = references(project)
    project.run("stack", "export", "--for-pulumi", "--file", "for-pulumi.json")
    assert oct((project.directory / "for-pulumi.json").stat().st_mode)[-3:] == "600"
    project.run("stack", "import", "--file", "for-pulumi.json")
    project.run("preview", "--expect-no-changes")
    project.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert references(project) == before


def test_what_cannot_be_serialised_is_listed_and_the_rest_is_written(project: Project) -> None:
    extra = "import socket\nheld = Tagged('held')\nheld.socket = socket.socket()\nThing(held, 'held')"
    deployed(project, extra)
    done = project.run("stack", "export", "--for-pulumi", "--file", "for-pulumi.json", code=1)
    assert "the provider of 1 resource could not be serialised" in done.stderr
    assert "Thing::held" in done.stderr or "Resource::held" in done.stderr
    assert "cannot pickle 'socket' object" in done.stderr
    resources = resources_of((project.directory / "for-pulumi.json").read_text())
    assert set(resources) == {"tagged", "plain", "asking", "held"}
    assert isinstance(resources["plain"]["inputs"]["__provider"], str)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_the_program_prints_is_not_in_the_export(project: Project) -> None:
    deployed(project, "print('canary-print')")
    done = project.run("stack", "export", "--for-pulumi")
    assert "canary-print" in done.stderr
    assert "canary-print" not in done.stdout
    assert set(resources_of(done.stdout)) == {"tagged", "plain", "asking"}


def test_nothing_executable_is_in_the_state(project: Project) -> None:
    deployed(project)
    exported = project.run("stack", "export", "--show-secrets").stdout
    for resource in resources_of(exported).values():
        reference = json.loads(without_secrets(resource["inputs"])["__provider"])
        assert set(reference) <= {
            "maloko",
            "language",
            "module",
            "name",
            "attributes",
            "incomplete",
            "lacks_delete",
            "revision",
            "code",
            "version",
        }
    # How a pickle begins. Decrypted, for among encrypted values any four letters come up by chance.
    assert "gASV" not in exported


def references(project: Project) -> dict[str, dict[str, Any]]:
    """What stands for each provider, apart from which code of it was last at work: another tool does not know that."""
    resources = resources_of(project.run("stack", "export", "--show-secrets").stdout)
    all_of = {
        name: json.loads(without_secrets(resource["inputs"])["__provider"]) for name, resource in resources.items()
    }
    return {name: {key: reference[key] for key in reference if key != "revision"} for name, reference in all_of.items()}


class Canary:
    """Whoever unpickles it leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = str(trace)

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (self.trace, "w"))


@pytest.mark.parametrize("secret", [False, True])
def test_code_in_an_adopted_state_is_never_run(project: Project, secret: bool) -> None:
    deployed(project)
    trace = project.directory / "unpickled"
    code = base64.b64encode(pickle.dumps(Canary(trace))).decode()
    stored = {**SECRET, "plaintext": json.dumps(code)} if secret else code
    state = json.loads(project.run("stack", "export", "--show-secrets").stdout)
    for resource in state["deployment"]["resources"]:
        for properties in (resource.get("inputs", {}), resource.get("outputs", {})):
            if "__provider" in properties:
                properties["__provider"] = stored
    project.write("adopted.json", json.dumps(state))
    # One of them is no longer in the program: nothing but the code in the state is left of its provider.
    program = (project.directory / "__main__.py").read_text().replace('Thing(Plain("plain"), "plain")', "")
    project.write("__main__.py", program)
    project.run("stack", "import", "--file", "adopted.json")

    assert "another tool's serialised code" in project.failing("preview")
    kept = resources_of(project.run("stack", "export", "--for-pulumi", "--show-secrets").stdout)
    assert kept["plain"]["inputs"]["__provider"] == stored
    assert kept["tagged"]["inputs"]["__provider"] != stored
    project.failing("refresh", "--yes", "--skip-preview")
    project.failing("refresh", "--yes", "--skip-preview", "--no-program")
    assert "another tool's serialised code" in project.failing("up", "--yes", "--skip-preview")
    project.failing("destroy", "--yes", "--skip-preview")
    assert not trace.exists()
    pickle.loads(base64.b64decode(code)).close()
    assert trace.exists()
