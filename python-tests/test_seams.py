"""Each place of the SDK that maloko hooks: without it, an error that names SDK and place, or the run goes on."""

import importlib.metadata

import pulumi
import pytest
from kit import Echo, Thing
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import settings as sdk_settings

from maloko import _seams
from maloko._embedded import Stack

VERSION = importlib.metadata.version("pulumi")


def refused(stack: Stack) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011 any error will do, as long as it says enough
        stack.up(lambda: Thing(Echo(), "a"))
    return str(caught.value)


def test_without_the_serialiser_of_providers_the_error_names_the_sdk_and_the_seam(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("pulumi.dynamic.dynamic.serialize_provider")
    said = refused(stack)
    assert f"pulumi {VERSION}" in said
    assert "pulumi.dynamic.dynamic.serialize_provider" in said
    assert stack.resources() == {}


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


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (sdk_resource, "_get_stack_trace"),
        (sdk_resource, "create_urn"),
        (pulumi.dynamic.ResourceProvider, "serialize_as_secret_always"),
    ],
)
def test_places_that_only_speed_depends_on_are_done_without(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, owner, name
) -> None:
    if name == "serialize_as_secret_always":
        monkeypatch.delattr(owner, name)
    else:
        # The SDK itself needs it: a name that maloko does not find is as good as a place that has moved.
        monkeypatch.setattr(_seams, "sdk_resource", _Without(sdk_resource, name))
    assert stack.up(lambda: Thing(Echo(), "a", {"n": 1})).outcome == "succeeded"
    assert stack.resources()["a"]["inputs"]["n"] == 1


class _Without:
    """A module in which one name is missing."""

    def __init__(self, module, name):
        self._module, self._name = module, name

    def __getattr__(self, name):
        if name == self._name:
            raise AttributeError(name)
        return getattr(self._module, name)


def test_an_sdk_that_is_newer_than_the_tested_ones_is_a_warning(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_seams, "sdk_version", lambda: "3.9999.0")
    result = stack.up(lambda: Thing(Echo(), "a"))
    assert any("pulumi 3.9999.0 is newer" in text for text in result.messages("warning"))
