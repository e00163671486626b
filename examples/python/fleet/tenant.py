"""The programs of the fleet: a region's room, and a tenant's widgets in it."""

# The SDK types property bags as dict[str, Any]; the methods here say what is in them.
# mypy: disable-error-code="override"

from __future__ import annotations

import os
from typing import Any, TypedDict

import pulumi
import requests
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

from maloko import TryLater, current_call

TIMEOUT = 30


class Inputs(TypedDict):
    """What the provider's methods are given, resolved."""

    name: str
    size: str


class WidgetProvider(ResourceProvider):
    """Talks to the service at WIDGETS_URL with the token of WIDGETS_TOKEN, which are the worker's."""

    def diff(self, _id: str, olds: Inputs, news: Inputs) -> DiffResult:
        # By what was read last: so a drift is found, and after a `refresh` an `up` puts it right.
        return DiffResult(changes=(olds["name"], olds["size"]) != (news["name"], news["size"]))

    def create(self, props: Inputs) -> CreateResult:
        # However often this create is begun, on whatever machine: the key stays, so there is one widget.
        widget = call("POST", "/widgets", props, {"Idempotency-Key": current_call().operation_key})
        return CreateResult(id_=widget["id"], outs=dict(props))

    def read(self, id_: str, _props: Inputs) -> ReadResult:
        widget = call("GET", f"/widgets/{id_}")
        if widget is None:
            return ReadResult("", {})
        return ReadResult(id_, {"name": widget["name"], "size": widget["size"]})

    def update(self, id_: str, _olds: Inputs, news: Inputs) -> UpdateResult:
        if call("PUT", f"/widgets/{id_}", news) is None:
            raise RuntimeError(f"there is no widget {id_}; maloko fleet refresh forgets it")
        return UpdateResult(dict(news))

    def delete(self, id_: str, _props: Inputs) -> None:
        call("DELETE", f"/widgets/{id_}")


def call(method: str, path: str, body: Inputs | None = None, headers: dict[str, str] | None = None) -> Any:
    """One request; nothing where there is no such widget. To a busy service the fleet comes back when it says."""
    headers = {"Authorization": f"Bearer {os.environ['WIDGETS_TOKEN']}", **(headers or {})}
    response = requests.request(method, os.environ["WIDGETS_URL"] + path, json=body, headers=headers, timeout=TIMEOUT)
    if response.status_code == requests.codes.too_many_requests:
        raise TryLater(float(response.headers.get("Retry-After", "5")), "the widget service is busy")
    if response.status_code == requests.codes.not_found:
        return None
    if not response.ok:
        raise RuntimeError(f"{method} {path}: {response.status_code} {response.text}")
    return response.json() if response.content else None


class Widget(Resource, name="Widget"):
    """A widget."""

    def __init__(self, name: str, title: pulumi.Input[str], size: str) -> None:
        super().__init__(_provider, name, {"name": title, "size": size})


_provider = WidgetProvider()


def region() -> None:
    """What the tenants of a region share."""
    Widget("room", f"room of {pulumi.get_stack()}", "large")
    pulumi.export("room", f"room of {pulumi.get_stack()}")


def tenant() -> None:
    """A tenant's widgets, in the room of its region."""
    config = pulumi.Config()
    room = pulumi.StackReference(f"organization/region/{config.require('region')}").require_output("room")
    for number in range(config.require_int("widgets")):
        title = pulumi.Output.concat(pulumi.get_stack(), f" {number} in ", room)
        Widget(f"widget-{number}", title, config.require("size"))
    pulumi.export("room", room)
