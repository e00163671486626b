"""Workspaces for tests of the automation API, and a provider."""

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
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


_lock = threading.Lock()


@cache
def _settings() -> str:
    """The settings of a new stack in such a workspace, with the salt of its key."""
    with TemporaryDirectory() as directory:
        auto.create_stack("dev", "project", echo, opts=placed(Path(directory)))
        return Path(directory, "work", "Pulumi.dev.yaml").read_text()


def with_known_key(options: auto.LocalWorkspaceOptions, name: str) -> auto.LocalWorkspaceOptions:
    """The same options. A stack of that name has a key there that this process has derived before; another one would
    take a fifth of a second of CPU."""
    file = Path(str(options.work_dir), f"Pulumi.{name}.yaml")
    if not file.exists():
        with _lock:
            file.write_text(_settings())
    return options


def new_stack(directory: Path, program: Callable[[], Any] = echo, **options: Any) -> auto.Stack:
    """A new stack `dev` of the project `project`."""
    return auto.create_stack("dev", "project", program, opts=with_known_key(placed(directory, **options), "dev"))


def urn(name: str) -> str:
    return f"urn:pulumi:dev::project::pulumi-python:dynamic:Resource::{name}"
