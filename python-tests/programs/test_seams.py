"""Each place of the SDK that maloko hooks: without it, an error that names SDK and place, or the run goes on."""

import asyncio
import importlib.metadata
import json
import subprocess
import sys

import pulumi
import pytest
from cli import Project
from kit import Echo, Thing
from pulumi.runtime import settings as sdk_settings
from stacks import Stack

from maloko._sdk import seams, speed, version

VERSION = importlib.metadata.version("pulumi")


def refused(stack: Stack) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011 any error will do, as long as it says enough
        stack.up(lambda: Thing(Echo(), "a"))
    return str(caught.value)


# In Node: without one of the two places of the serialiser the other one does
def test_without_the_serialiser_of_providers_the_error_names_the_sdk_and_the_seam(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("pulumi.dynamic.dynamic.serialize_provider")
    said = refused(stack)
    assert f"pulumi {VERSION}" in said
    assert "pulumi.dynamic.dynamic.serialize_provider" in said
    assert stack.resources() == {}


# In Python alone: modules, virtual environments and pickling
@pytest.mark.parametrize("name", ["monitor", "callbacks"])
def test_without_the_settings_of_a_run_the_error_names_the_sdk_and_the_seam(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, name
) -> None:
    monkeypatch.delattr(sdk_settings.Settings, name)
    said = refused(stack)
    assert f"pulumi {VERSION}" in said
    assert f"pulumi.runtime.settings.Settings.{name}" in said


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (sdk_settings, "ROOT"),
        (pulumi.runtime, "set_all_config"),
        (pulumi.Output, "get"),
        (pulumi.Output, "secret"),
        (pulumi.Output, "from_input"),
        (pulumi.Output, "all"),
        (pulumi.runtime.rpc, "contains_unknowns"),
        (sdk_settings, "get_monitor"),
    ],
)
def test_without_a_place_that_results_depend_on_the_error_names_the_sdk_and_the_seam(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, owner, name
) -> None:
    monkeypatch.delattr(owner, name)
    said = refused(stack)
    assert f"pulumi {VERSION}" in said
    assert name in said


OPTIONAL = seams._optional()


def test_the_installed_sdk_has_every_place_that_maloko_looks_for() -> None:
    missing = [f"{owner}.{name}" for owner, name, _ in OPTIONAL if not hasattr(owner, name)]
    assert missing == []
    assert speed.sdk_stack.asyncio is asyncio
    assert "outputs" in pulumi.StackReference.__annotations__
    assert "outputs" not in vars(pulumi.StackReference), "each reference has its own"


@pytest.mark.parametrize("left_out", [name for _, name, _ in OPTIONAL])
def test_places_that_only_speed_depends_on_are_done_without(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, left_out
) -> None:
    others = [place for place in OPTIONAL if place[1] != left_out]
    assert len(others) == len(OPTIONAL) - 1
    monkeypatch.setattr(seams, "_optional", lambda: others)

    def program() -> None:
        first = Thing(Echo(), "a", {"n": 1})
        pulumi.log.debug("of the program")
        Thing(Echo(), "b", {"n": first.n}, pulumi.ResourceOptions(depends_on=[first]))

    assert stack.up(program).outcome == "succeeded"
    assert stack.resources()["b"]["inputs"]["n"] == 1


WITHOUT_A_NAME = """
import pulumi.runtime._callbacks
del pulumi.runtime._callbacks._CallbackServicer
import maloko.automation
"""


# In Python alone: modules, virtual environments and pickling
def test_without_a_name_that_maloko_imports_the_error_names_the_sdk_and_the_seam() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_A_NAME], capture_output=True, text=True)
    assert done.returncode != 0
    said = done.stderr.strip().splitlines()[-1]
    assert f"pulumi {VERSION} does not have a private name" in said
    assert "'_CallbackServicer' from 'pulumi.runtime._callbacks'" in said


def test_an_sdk_that_is_newer_than_the_tested_ones_is_a_warning(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "sdk_version", lambda: "3.9999.0")
    result = stack.up(lambda: Thing(Echo(), "a"))
    assert any("pulumi 3.9999.0 is newer" in text for text in result.messages("warning"))


# In Python alone: modules, virtual environments and pickling
def test_commands_that_run_no_program_load_no_event_loop_and_no_sdk(project: Project) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "maloko", "stack"]
    done = subprocess.run(
        words, cwd=project.directory, env=project.variables(), capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "maloko._command_line.language_host" in loaded
    assert loaded.isdisjoint({"asyncio", "importlib.metadata", "inspect", "pulumi", "maloko._run.host"})


WITH_ALL_OF_THE_SDK = """
import sys
import urllib
import pulumi
for part in ("automation", "runtime._instrumentation"):
    pulumi.export(part, f"pulumi.{part}" in sys.modules)
pulumi.export("urllib", callable(urllib.request.urlopen))
pulumi.export("automation later", pulumi.automation.LocalWorkspace.__module__)
pulumi.export("nothing", hasattr(pulumi, "nothing"))
"""


# In Python alone: modules, virtual environments and pickling
def test_parts_of_the_sdk_that_programs_hardly_use_are_loaded_when_they_are_asked_for(project: Project) -> None:
    project.write("__main__.py", WITH_ALL_OF_THE_SDK)
    project.run("up", "--yes", "--skip-preview")
    outputs = {
        "automation": False,
        "runtime._instrumentation": False,
        "urllib": True,
        "automation later": "pulumi.automation._local_workspace",
        "nothing": False,
    }
    assert json.loads(project.run("stack", "output", "--json").stdout) == outputs
    # The caller's trace alone is the program's to take on.
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    project.run("up", "--yes", "--skip-preview", TRACEPARENT=caller)
    assert json.loads(project.run("stack", "output", "--json").stdout) == outputs
    project.run("up", "--yes", "--skip-preview", PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    traced = json.loads(project.run("stack", "output", "--json").stdout)
    assert traced == {**outputs, "runtime._instrumentation": True}
