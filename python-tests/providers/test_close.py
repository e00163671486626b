"""`close` of a provider: once for each that was configured, at the end of the run."""

import signal
import threading
from typing import Any, ClassVar

from cli import Project, begin, wait_for
from kit import Echo, Thing
from night import rounds
from pulumi.dynamic import CreateResult
from runs_at_once import another_run
from stacks import Run, Stack

from maloko import current_call
from maloko.testing import Kit, Lifecycle, ProviderLaws


class Pool:
    """Connections of a server."""

    def __init__(self) -> None:
        self.open = self.most = 0

    def connect(self) -> None:
        self.open += 1
        self.most = max(self.most, self.open)


POOL = Pool()


class Connected(Echo):
    """Opens a connection when it is configured."""

    log: ClassVar[list[str]] = []

    def configure(self, req: Any) -> None:
        if req.config.get("refused"):
            raise ValueError("refused")
        POOL.connect()
        self.log.append("configure")

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.log.append("create")
        return CreateResult(props.get("name", "made"), dict(props))

    def delete(self, _id: str, _props: dict[str, Any]) -> None:
        self.log.append("delete")

    def close(self) -> None:
        POOL.open -= 1
        self.log.append("close")


class Awaiting(Connected):
    async def close(self) -> None:  # type: ignore[override]
        super().close()


def setup_function() -> None:
    POOL.open = POOL.most = 0
    Connected.log.clear()


def warnings(result: Run) -> list[str]:
    return [message for message in result.messages("warning") if "`close`" in message]


def test_providers_may_have_close(stack: Stack) -> None:
    for kind in (Connected, Awaiting):
        stack.up(lambda kind=kind: [Thing(kind(), f"{kind.__name__}{n}") for n in range(20)])
        assert Connected.log[0] == "configure"
        assert Connected.log[-1] == "close"
        assert Connected.log.count("close") == 1
        assert POOL.open == 0
        # What leaves the program is deleted first.
        Connected.log.clear()
        stack.up(lambda: None)
        assert Connected.log == ["configure", *["delete"] * 20, "close"]
        Connected.log.clear()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_close_is_called_after_a_failure_and_in_a_preview(stack: Stack) -> None:
    class Failing(Connected):
        def create(self, props: dict[str, Any]) -> CreateResult:
            raise ValueError("no")

    assert stack.run("update", lambda: Thing(Failing(), "a")).outcome == "failed"
    assert Connected.log == ["configure", "close"]

    def raises() -> None:
        Thing(Connected(), "a")
        raise ValueError("no")

    Connected.log.clear()
    assert stack.run("update", raises).outcome == "failed"
    assert Connected.log == ["configure", "create", "close"]
    Connected.log.clear()
    stack.preview(lambda: Thing(_Checking(), "b"))
    assert Connected.log == ["configure", "close"]


class _Checking(Connected):
    def diff(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> Any:
        raise AssertionError

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> Any:
        from pulumi.dynamic import CheckResult

        return CheckResult(news, [])


CANCELLED = """
from pathlib import Path
from maloko import current_call
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Connected(ResourceProvider):
    def configure(self, req):
        pass

    def create(self, props):
        Path("under-way").touch()
        assert current_call().cancelled.wait(60)
        return CreateResult("made", {})

    async def close(self):
        Path("closed").touch()

class Thing(Resource):
    pass

Thing(Connected(), "a", {})
"""


def test_close_is_called_when_a_run_is_cancelled(project: Project) -> None:
    project.write("__main__.py", CANCELLED)
    running = begin(project, "up", "--yes", "--skip-preview")
    wait_for(project.directory / "under-way")
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 8, out
    assert (project.directory / "closed").exists()


def test_a_provider_that_was_not_configured_is_not_closed(stack: Stack) -> None:
    class Without(Echo):
        def close(self) -> None:
            raise AssertionError

    assert warnings(stack.up(lambda: Thing(Without(), "a"))) == []
    stack.config["refused"] = "yes"
    assert stack.run("update", lambda: Thing(Connected(), "b")).outcome == "failed"
    assert Connected.log == []


def test_a_close_that_takes_arguments_is_a_helper(stack: Stack) -> None:
    class Helped(Connected):
        def close(self, why: str) -> None:  # type: ignore[override]
            raise AssertionError(why)

    assert warnings(stack.up(lambda: Thing(Helped(), "a"))) == []


def test_an_error_of_close_is_a_warning_that_names_the_provider(stack: Stack) -> None:
    class Broken(Connected):
        def close(self) -> None:
            raise OSError("the connection is gone")

    result = stack.up(lambda: Thing(Broken(), "a"))
    (warning,) = warnings(result)
    assert "Broken" in warning
    assert "the connection is gone" in warning


def test_a_close_that_hangs_is_given_up(stack: Stack) -> None:
    over = threading.Event()

    class Hanging(Connected):
        def close(self) -> None:
            call = current_call()
            assert call is not None
            assert call.cancelled.wait(60)
            over.set()

    stack.config["maloko:callLimit"] = "3s"
    result = stack.up(lambda: Thing(Hanging(), "a"))
    (warning,) = warnings(result)
    assert "took longer than 3s" in warning
    assert over.wait(60)


def test_a_copy_that_a_second_run_was_given_is_closed(stack: Stack) -> None:
    provider = Connected()
    with another_run(provider):
        stack.up(lambda: Thing(provider, "a"))
        assert Connected.log == ["configure", "create", "configure", "create", "close"]
    assert POOL.open == 0


class World:
    """What is there."""

    def __init__(self) -> None:
        self.things: dict[str, dict[str, Any]] = {}

    def objects(self) -> list[str]:
        return list(self.things)

    def mutate_remote(self, id_: str) -> None:
        self.things[id_]["size"] = -1

    def delete_remote(self, id_: str) -> None:
        del self.things[id_]


class Pooled(Connected):
    """A provider of things in a world, over a connection."""

    def __init__(self, world: World) -> None:
        self.world = world

    def _connected(self) -> World:
        assert POOL.open > 0, "the connection is closed"
        return self.world

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> Any:
        from pulumi.dynamic import CheckResult

        return CheckResult(news, [])

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> Any:
        from pulumi.dynamic import DiffResult

        return DiffResult(changes=olds.get("size") != news.get("size"))

    def create(self, props: dict[str, Any]) -> CreateResult:
        call = current_call()
        id_ = call.operation_key if call is not None and call.operation_key else f"thing-{len(self.world.things)}"
        self._connected().things[id_] = dict(props)
        return CreateResult(id_, dict(props))

    def read(self, id_: str, _props: dict[str, Any]) -> Any:
        from pulumi.dynamic import ReadResult

        found = self._connected().things.get(id_)
        return ReadResult(None, {}) if found is None else ReadResult(id_, dict(found))

    def update(self, id_: str, _olds: dict[str, Any], news: dict[str, Any]) -> Any:
        from pulumi.dynamic import UpdateResult

        self._connected().things[id_] = dict(news)
        return UpdateResult(dict(news))

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        self._connected().things.pop(id_, None)


def test_the_kits_call_close() -> None:
    kit = Kit()
    direct = kit.direct(Connected())
    direct.create({"name": "a"})
    assert POOL.open == 1
    stack = kit.stack(lambda: Thing(Connected(), "a"))
    stack.up()
    assert POOL.open == 1
    assert kit.close() == []
    assert POOL.open == 0
    assert len(stack.calls.close) == len(stack.calls.configure)


def test_laws_and_lifecycles_end_with_no_connection_open() -> None:
    class Laws(ProviderLaws):
        provider = Pooled
        world = World
        inputs: ClassVar[list[dict[str, Any]]] = [{"size": 1}, {"size": 2}]
        secret = frozenset()
        examples = rounds(1, 2)

    verdicts = Laws.verdicts()
    assert {name: it.text for name, it in verdicts.items() if it.outcome == "broken"} == {}
    assert (POOL.open, POOL.most > 0) == (0, True)
    for crash in range(1, 9, rounds(2, 1)):
        life = Lifecycle(Pooled, world=World)
        life.edit("a", {"size": 1})
        life.up()
        life.edit("a", {"size": 2})
        life.crash(crash, "kill")
        life.restart()
        life.second_writer()
        life.end()
    assert POOL.open == 0
    assert POOL.most < 5, "one for each run that goes on"
