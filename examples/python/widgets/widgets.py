"""Widgets of a REST service as resources, through requests."""

# The SDK types property bags as dict[str, Any]; the methods here say what is in them.
# mypy: disable-error-code="override"

from __future__ import annotations

import os
from typing import Any, TypedDict

import pulumi
import requests
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

from maloko import current_call

TIMEOUT = 30


class Inputs(TypedDict):
    """What the provider's methods are given, resolved."""

    title: str
    size: str


class WidgetProvider(ResourceProvider):
    """Talks to the service at WIDGETS_URL with the token of WIDGETS_TOKEN, both read anew for every call.

    So the token is never in the state or the configuration, and a destroy uses today's.
    """

    def diff(self, _id: str, olds: Inputs, news: Inputs) -> DiffResult:
        return DiffResult(changes=any(olds.get(key) != news.get(key) for key in ("title", "size")))

    def create(self, props: Inputs) -> CreateResult:
        # The service makes one widget per key, however often it is asked. The operation key stays the same until this
        # very create is known to have succeeded: it makes one widget even if its process dies before it hears of it.
        headers = {"Idempotency-Key": current_call().operation_key}
        widget = call("POST", "/widgets", body_of(props), headers=headers).json()
        return CreateResult(id_=widget["id"], outs=outputs_of(widget))

    def read(self, id_: str, _props: Inputs) -> ReadResult:
        """Looks a widget up by its id alone, which is all that a `get` or an import has.

        It says what the inputs would be too: an import compares them with the program's.
        """
        response = call("GET", f"/widgets/{id_}", absent_is_fine=True)
        if response.status_code == requests.codes.not_found:
            return ReadResult("", {})
        outs = outputs_of(response.json())
        return ReadResult(id_, outs, {key: outs[key] for key in ("title", "size")})

    def update(self, id_: str, _olds: Inputs, news: Inputs) -> UpdateResult:
        return UpdateResult(outputs_of(call("PUT", f"/widgets/{id_}", body_of(news)).json()))

    def delete(self, id_: str, _props: Inputs) -> None:
        call("DELETE", f"/widgets/{id_}", absent_is_fine=True)


def call(
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    absent_is_fine: bool = False,
) -> requests.Response:
    """One request; raises what went wrong with the service's own words."""
    response = requests.request(
        method,
        setting("WIDGETS_URL") + path,
        json=body,
        headers={"Authorization": f"Bearer {setting('WIDGETS_TOKEN')}", **(headers or {})},
        timeout=TIMEOUT,
    )
    if not response.ok and not (absent_is_fine and response.status_code == requests.codes.not_found):
        raise RuntimeError(f"{method} {path}: {response.status_code} {response.text}")
    return response


def setting(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f"the environment variable {name} is not set")
    return value


def body_of(props: Inputs) -> dict[str, Any]:
    return {"name": props["title"], "size": props["size"]}


def outputs_of(widget: dict[str, Any]) -> dict[str, Any]:
    return {"title": widget["name"], "size": widget["size"], "revision": widget["revision"]}


class Widget(Resource, name="Widget"):
    """A widget: `size` is small, medium or large; `revision` counts its edits."""

    title: pulumi.Output[str]
    size: pulumi.Output[str]
    revision: pulumi.Output[float]

    def __init__(
        self,
        name: str,
        title: pulumi.Input[str],
        size: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(_provider, name, {"title": title, "size": size, "revision": None}, opts)

    @classmethod
    def get(cls, name: str, id_: pulumi.Input[str]) -> Widget:
        """A widget that somebody else looks after: it is read, and never changed or deleted."""
        unsaid: Any = None
        return cls(name, unsaid, unsaid, pulumi.ResourceOptions(id=id_))


_provider = WidgetProvider()
