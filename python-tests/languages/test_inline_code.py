"""Dynamic providers of inline programs of the official API: their code runs in the interpreter of the caller."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli import MALOKO
from night import rounds

SERVICE = """
import json, os, sys
import pulumi
from pulumi import automation as auto
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult
from helper import mark

class Things(ResourceProvider):
    def create(self, props):
        if props["text"] == "refuse":
            raise ValueError("refused by the provider")
        return CreateResult("id-" + mark(props["text"]), {**props, "length": len(props["text"]), "by": sys.prefix})
    def diff(self, id, old, new):
        return DiffResult(changes=old["text"] != new["text"])
    def update(self, id, old, new):
        return UpdateResult({**new, "length": len(new["text"]), "by": sys.prefix})
    def delete(self, id, props):
        open(os.environ["HOME"] + "/deleted", "a").write(id)

class Thing(Resource):
    length: pulumi.Output[int]
    by: pulumi.Output[str]
    def __init__(self, name, text):
        super().__init__(Things(), name, {"text": text, "length": None, "by": None})

def program():
    if text := pulumi.Config().get("text"):
        it = Thing("it", text)
        for name in ("id", "length", "by"):
            pulumi.export(name, getattr(it, name))

stack = auto.create_or_select_stack("dev", "inline", program, opts=auto.LocalWorkspaceOptions(env_vars=dict(
    PULUMI_BACKEND_URL="file://" + os.getcwd() + "/state", PULUMI_CONFIG_PASSPHRASE="x")))
for text in sys.argv[1:]:
    if text == "destroy":
        stack.destroy()
        continue
    if text == "preview":
        print(json.dumps(dict(stack.preview().change_summary)))
        continue
    stack.set_config("text", auto.ConfigValue("" if text == "none" else text))
    result = stack.up()
    print(json.dumps({name: output.value for name, output in result.outputs.items()}))
"""


@pytest.fixture
def service(tmp_path: Path) -> Path:
    # As Python does: modules are found beside the script.
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "service.py").write_text(SERVICE)
    (tmp_path / "app" / "helper.py").write_text("def mark(text):\n    return text + '!'\n")
    (tmp_path / "state").mkdir()
    subprocess.run([*MALOKO, "shim", "install", str(tmp_path / "bin")], check=True, capture_output=True)
    return tmp_path


def serve(service: Path, *texts: str) -> subprocess.CompletedProcess[str]:
    path = f"{service / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(service)}
    command = [sys.executable, "app/service.py", *texts]
    return subprocess.run(command, cwd=service, env=environment, text=True, capture_output=True, timeout=120)


def test_an_inline_program_s_dynamic_resources_live_and_die(service: Path) -> None:
    done = serve(service, "preview", "one", *["three"] * rounds(1, 2), "destroy")
    assert done.returncode == 0, done.stdout + done.stderr
    previewed, made, *changed = (json.loads(line) for line in done.stdout.splitlines())
    assert previewed == {"create": 1}
    assert made == {"id": "id-one!", "length": 3, "by": sys.prefix}
    assert changed == [{"id": "id-one!", "length": 5, "by": sys.prefix}] * rounds(1, 2)
    assert (service / "deleted").read_text() == "id-one!"


@pytest.mark.nightly
def test_a_resource_that_left_an_inline_program_is_deleted(service: Path) -> None:
    done = serve(service, "one", "none")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (service / "deleted").read_text() == "id-one!"


def test_an_inline_program_s_provider_that_raises_fails_its_resource(service: Path) -> None:
    done = serve(service, "refuse")
    assert done.returncode == 1
    assert "refused by the provider" in done.stderr
