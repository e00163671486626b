"""Workspaces for tests of the automation API, and a provider."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult

from maloko import automation as auto


class Echo(ResourceProvider):
    """Gives back what it gets."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("made", props)

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(news)


class Thing(Resource):
    text: pulumi.Output[str]

    def __init__(self, provider: ResourceProvider, name: str, props: dict[str, Any] | None = None, **rest: Any) -> None:
        super().__init__(provider, name, {"text": None, **(props or {})}, rest.get("opts"))


def echo() -> None:
    """One resource, and outputs of every kind."""
    config = pulumi.Config()
    thing = Thing(Echo(), "echo", {"text": config.get("text") or "none"})
    pulumi.export("text", thing.text)
    pulumi.export("hidden", pulumi.Output.secret("hush"))
    pulumi.export("list", [1, "two"])


def placed(directory: Path, **options: Any) -> auto.LocalWorkspaceOptions:
    """Options of a workspace whose state and files are in a directory."""
    work_dir = options.pop("work_dir", str(directory / "work"))
    Path(work_dir).mkdir(parents=True, exist_ok=True)
    variables = {"PULUMI_BACKEND_URL": f"file://{directory}/state", "PULUMI_CONFIG_PASSPHRASE": "secret"}
    (directory / "state").mkdir(parents=True, exist_ok=True)
    env_vars = {**variables, **options.pop("env_vars", {})}
    return auto.LocalWorkspaceOptions(work_dir=work_dir, env_vars=env_vars, **options)


def new_stack(directory: Path, program: Callable[[], Any] = echo, **options: Any) -> auto.Stack:
    """A new stack `dev` of the project `project`."""
    return auto.create_stack("dev", "project", program, opts=placed(directory, **options))


def urn(name: str) -> str:
    return f"urn:pulumi:dev::project::pulumi-python:dynamic:Resource::{name}"
