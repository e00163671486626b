"""Programs of the fleets under test. Their objects are files of the folder WORLD, named by their operation keys."""

import ctypes
import os
import time
from pathlib import Path
from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

import maloko


class Files(ResourceProvider):
    """Makes, reads and removes files."""

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        return DiffResult(changes=olds != news)

    def create(self, props: dict[str, Any]) -> CreateResult:
        call = maloko.current_call()
        world = Path(os.environ["WORLD"])
        folder = world / "objects" / props["owner"]
        folder.mkdir(parents=True, exist_ok=True)
        _maybe_fail(props["fails"], world / "failed" / props["owner"])
        if props["holds"]:
            _hold(call, world, props["owner"])
        if props.get("grips") and _is_first(world / "gripped"):
            # No other thread of the process goes on meanwhile.
            ctypes.PyDLL(None).usleep(int(props["grips"]) * 1_000_000)
            (world / "let-go").touch()
        # A second call for the same object finds it; a second object would be a second file.
        with (folder / call.operation_key).open("a") as file:
            file.write(f"{os.getpid()}\n")
        return CreateResult(id_=f"{props['owner']}/{call.operation_key}", outs=props)

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        exists = (Path(os.environ["WORLD"]) / "objects" / id_).exists()
        return ReadResult(id_ if exists else None, props)

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(outs=news)

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        (Path(os.environ["WORLD"]) / "objects" / id_).unlink(missing_ok=True)


def _is_first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _maybe_fail(fails: str, mark: Path) -> None:
    if fails == "always" or (fails == "once" and not mark.exists()):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        raise OSError("the service has no room")


def _hold(call: maloko.ProviderCall, world: Path, owner: str) -> None:
    """Waits for the file `go`, as a slow service does; tells who was told to end."""
    (world / "held").mkdir(exist_ok=True)
    (world / "held" / owner).touch()
    while not (world / "go").exists():
        if call.cancelled.wait(0.05):
            (world / "told").mkdir(exist_ok=True)
            (world / "told" / owner).touch()
            raise InterruptedError("told to end")


class File(Resource):
    """A file."""

    def __init__(self, name: str, props: dict[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(Files(), name, props, opts)


def network() -> None:
    """Something that tenants need."""
    holds = pulumi.Config().get_bool("holds") or False
    File("network", {"owner": pulumi.get_stack(), "plan": "", "fails": "", "holds": holds})
    pulumi.export("range", f"10.0.0.0/{len(pulumi.get_stack())}")


def tenant() -> None:
    """Files of a tenant, in a network."""
    config = pulumi.Config()
    props: dict[str, Any] = {
        "owner": pulumi.get_stack(),
        "plan": config.get("plan") or "",
        "fails": config.get("fails") or "",
        "holds": config.get_bool("holds") or False,
    }
    network = config.get("network")
    if network:
        early = config.get("early")
        while early and not (Path(os.environ["WORLD"]) / "held" / network).exists():
            time.sleep(0.01)
        reference = pulumi.StackReference(f"organization/net/{network}")
        asked = reference.get_output if early == "lenient" else reference.require_output
        pulumi.export("range", asked("range"))
    if config.get("grips"):
        props["grips"] = config.require_int("grips")
    if config.get("warns"):
        pulumi.log.warn(f"look at\n{config.require('warns')}")
    for number in range(config.get_int("files") or 3):
        File(f"file-{number}", {**props, "fails": props["fails"] if number == 1 else ""})
    if config.get("token"):
        pulumi.export("token", config.require_secret("token"))
