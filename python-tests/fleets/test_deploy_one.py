"""One stack as a step of any engine: it needs no server and no packages of one."""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fleet_kit import PROGRAMS, until

from maloko.automation._listeners import Delivery
from maloko.fleet import End, FleetError, deploy_one
from maloko.fleet._printed import printing_as, told_by_stack


def stack_of(**config: Any) -> dict[str, Any]:
    return {
        "id": "tenant/acme",
        "project": "tenant",
        "stack": "acme",
        "program": "tenant.py:tenant",
        "inline": True,
        "language": "python",
        "labels": {},
        "config": config,
        "needs": [],
        "wave": 0,
        "queue": "default",
    }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    (tmp_path / "tenant.py").write_bytes((PROGRAMS / "tenant.py").read_bytes())
    monkeypatch.setenv("WORLD", str(tmp_path / "world"))
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "passphrase of the tests")
    monkeypatch.delitem(sys.modules, "tenant", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "state").mkdir()
    # A relative place is below the fleet's directory, on whatever machine.
    return {"directory": tmp_path, "backend": "file://./state"}


def deployed(place: dict[str, Any], verb: str = "up", config: dict[str, Any] | None = None, **asked: Any) -> End:
    return asyncio.run(deploy_one(stack_of(**(config or {})), verb, **place, **asked))  # type: ignore[arg-type]


def test_a_stack_is_made_read_and_removed(place: dict[str, Any]) -> None:
    assert deployed(place, "destroy").outcome == "unchanged", "there is none"
    made = deployed(place, config={"plan": "gold"})
    assert (made.outcome, made.changes, made.succeeded) == ("done", {"create": 4}, True)
    assert deployed(place, config={"plan": "gold"}).outcome == "unchanged"
    preview = deployed(place, "preview", config={"plan": "silver"})
    assert preview.changes == {"same": 1, "update": 3}
    assert sorted(preview.differences) == [f"update Resource file-{number} [~plan]" for number in range(3)]
    next((place["directory"] / "world" / "objects" / "acme").iterdir()).unlink()
    drift = deployed(place, "refresh", preview_only=True)
    (gone,) = drift.differences
    assert (drift.outcome, gone.startswith("Resource file-"), gone.endswith(" gone")) == ("done", True, True)
    assert deployed(place, "destroy").outcome == "done"


def test_what_fails_is_an_end_and_no_exception(place: dict[str, Any]) -> None:
    end = deployed(place, config={"fails": "always"})

    assert (end.outcome, end.reason, end.method, end.may_pass) == ("failed", "provider", "create", False)
    assert "no room" in end.text
    assert end.urn is not None
    assert "file-1" in end.urn


def test_the_first_warnings_are_told_with_the_end(place: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_ACME", "s3cr3t-of-acme")
    config = {"warns": "the token s3cr3t-of-acme", "token": {"secretFrom": {"env": "TOKEN_OF_ACME"}}}

    made = deployed(place, config=config)

    assert (made.outcome, made.warnings) == ("done", ("look at the token [secret]",))
    assert made.wire()["warnings"] == list(made.warnings)
    assert deployed(place).warnings == ()


def test_a_secret_is_read_where_the_worker_is(place: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"token": {"secretFrom": {"env": "TOKEN_OF_ACME"}}}
    with pytest.raises(FleetError, match="TOKEN_OF_ACME, which is not set for this worker"):
        deployed(place, config=config)
    monkeypatch.setenv("TOKEN_OF_ACME", "s3cr3t-of-acme")

    end = deployed(place, config=config, outputs=True)

    assert end.outputs == {"token": "[secret]"}
    assert "s3cr3t-of-acme" not in next(Path(place["directory"], "state").rglob("acme.json")).read_text()


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("nothing.py:tenant", "cannot be imported"),
        ("tenant.py:nobody", "has no function 'nobody'"),
        ("../tenant.py:tenant", "is no FILE.py:FUNCTION below the directory"),
        ("json.py:loads", "another module has the name 'json'"),
        ("broken.py:tenant", r"cannot be imported: OSError: out of order \(\S+broken\.py:2\)$"),
        ("wrong.py:tenant", r"cannot be imported: SyntaxError: .+ \(\S+wrong\.py:2\)$"),
    ],
)
def test_a_program_that_is_not_there_is_told(place: dict[str, Any], program: str, words: str) -> None:
    stack = {**stack_of(), "program": program}
    for name, text in (
        ("json", "def loads(): ...\n"),
        ("broken", "\nraise OSError('out of order')\n"),
        ("wrong", "\ntenant = \n"),
    ):
        (place["directory"] / f"{name}.py").write_text(text)
    with pytest.raises(FleetError, match=words):
        asyncio.run(deploy_one(stack, **place))  # type: ignore[arg-type]


def test_an_error_of_a_program_is_told_with_its_line(place: dict[str, Any]) -> None:
    (place["directory"] / "odd.py").write_text("def tenant():\n    raise OSError('no rooms')\n")
    end = asyncio.run(deploy_one({**stack_of(), "program": "odd.py:tenant"}, **place))  # type: ignore[arg-type]

    assert (end.outcome, end.reason) == ("failed", "program")
    assert end.text == f"OSError: no rooms ({place['directory'] / 'odd.py'}:2)"


def test_a_cancelled_task_ends_in_order(place: dict[str, Any]) -> None:
    async def cancelled() -> None:
        work = asyncio.create_task(deploy_one(stack_of(holds="true"), **place))  # type: ignore[arg-type]
        held = place["directory"] / "world" / "held" / "acme"
        await asyncio.to_thread(until, held.exists, "the provider to be called")
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())

    assert (place["directory"] / "world" / "told" / "acme").exists()
    (place["directory"] / "world" / "go").touch()
    assert deployed(place, config={"holds": "true"}).outcome == "done"


def test_a_stack_that_another_run_is_at_is_left_to_it(place: dict[str, Any]) -> None:
    async def side_by_side() -> tuple[End, End]:
        first = asyncio.create_task(
            deploy_one(stack_of(holds="true"), run="one", **place)  # type: ignore[arg-type]
        )
        held = place["directory"] / "world" / "held" / "acme"
        await asyncio.to_thread(until, held.exists, "the provider to be called")
        second = await deploy_one(stack_of(), run="other", attempt=7, **place)  # type: ignore[arg-type]
        (place["directory"] / "world" / "go").touch()
        return await first, second

    first, second = asyncio.run(side_by_side())

    assert (second.outcome, second.reason, second.may_pass) == ("failed", "locked", True)
    assert second.text.startswith("locked by ")
    assert (first.outcome, first.changes) == ("done", {"create": 4})


def test_it_loads_no_package_of_a_server() -> None:
    code = "import sys, maloko.fleet as f; f.deploy_one; assert 'temporalio' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# In Python alone: in Node the SDK is loaded by programs, from where they are.
@pytest.mark.parametrize("name", ["past", "schedules", "steer", "watch"])
def test_commands_that_ask_a_run_load_no_sdk(name: str) -> None:
    code = f"import sys, maloko.fleet._commands.{name}; assert 'pulumi' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_counts_are_told_while_it_goes_on(place: dict[str, Any]) -> None:
    told: list[tuple[str, int, int]] = []

    def take(progress: Any) -> None:
        told.append((threading.current_thread().name, progress.done, progress.total))
        if progress.total == 4:
            (place["directory"] / "world").mkdir(exist_ok=True)
            (place["directory"] / "world" / "go").touch()

    end = deployed(place, config={"holds": "true"}, on_progress=take, progress_every=0.05)

    assert end.outcome == "done"
    assert {name for name, _, _ in told} == {threading.current_thread().name}
    assert told[-1][2] == 4


def test_what_a_listener_raises_is_raised_when_the_stack_has_ended(place: dict[str, Any]) -> None:
    def take(_progress: Any) -> None:
        (place["directory"] / "world").mkdir(exist_ok=True)
        (place["directory"] / "world" / "go").touch()
        raise ValueError("the listener's own")

    with pytest.raises(ValueError, match="the listener's own"):
        deployed(place, config={"holds": "true"}, on_progress=take, progress_every=0.05)

    assert deployed(place, config={"holds": "true"}).outcome == "unchanged"


# In Python alone: there each event would be a call that takes the interpreter's lock.
def test_who_tells_what_is_printed_is_told_of_messages_alone(
    place: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    deliver = Delivery.event

    def event(self: Delivery, text: str) -> None:
        events.append(text)
        deliver(self, text)

    monkeypatch.setattr(Delivery, "event", event)

    with told_by_stack(), printing_as("tenant/acme"):
        deployed(place, config={"warns": "this"})

    assert [next(iter(json.loads(text).keys() - {"sequence", "timestamp"})) for text in events] == ["diagnosticEvent"]
