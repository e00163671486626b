"""Creates whose outcome is unknown: what is kept, shown, looked for and repeated."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cli import Project
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider
from stacks import Stack

import maloko
from maloko import current_call

HALF_A_CHARACTER = "\ud83d"


def cycle() -> dict[str, Any]:
    outs: dict[str, Any] = {"name": "it"}
    outs["self"] = outs
    return outs


def deep() -> dict[str, Any]:
    outs: dict[str, Any] = {}
    for _ in range(600):
        outs = {"inner": outs}
    return outs


def raises() -> Any:
    raise RuntimeError("the service is away")


WITHOUT_ID: dict[str, Callable[[], Any]] = {
    "raises": raises,
    "nothing": lambda: None,
    "dict": lambda: {"outs": {}},
    "no id": lambda: CreateResult(None, {}),  # type: ignore[arg-type]
    "empty id": lambda: CreateResult("", {}),
    "bytes as id": lambda: CreateResult(b"\xff\xfe", {}),  # type: ignore[arg-type]
    "half a character as id": lambda: CreateResult(HALF_A_CHARACTER, {}),
}
WITH_ID: dict[str, Callable[[], Any]] = {
    "set": lambda: CreateResult("made", {"tags": {1, 2}}),
    "cycle": lambda: CreateResult("made", cycle()),
    "too deep": lambda: CreateResult("made", deep()),
}


class Cloud(ResourceProvider):
    """Makes objects, by their operation keys, and then ends as it is told."""

    passes_key_on = True

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.objects: dict[str, dict[str, Any]] = {}
        self.ending: Callable[[], Any] | None = None

    def create(self, props: dict[str, Any]) -> CreateResult:
        key = current_call().operation_key if self.passes_key_on else "unknown"
        self.keys.append(key)
        id_ = f"object-{len(self.keys)}"
        self.objects[id_] = {**props, "key": key}
        if self.ending is not None:
            return self.ending()  # type: ignore[no-any-return]
        return CreateResult(id_, props)

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        del self.objects[id_]


class Searchable(Cloud):
    """One whose objects can be found again."""

    def find(self, key: str, _props: dict[str, Any]) -> ReadResult | None:
        for id_, found in self.objects.items():
            if found["key"] == key:
                return ReadResult(id_, {name: value for name, value in found.items() if name != "key"})
        return None


class Thing(Resource):
    def __init__(self, provider: ResourceProvider, name: str, props: dict[str, Any]) -> None:
        super().__init__(provider, name, props)


def thing(provider: ResourceProvider, name: str = "a", **props: Any) -> Thing:
    return Thing(provider, name, {"size": "small", **props})


def unresolved_creates(stack: Stack) -> list[dict[str, Any]]:
    exported = stack.export()
    listed: list[dict[str, Any]] = exported.get("deployment", exported).get("maloko_suspects") or []
    return listed


def failing(stack: Stack, provider: Cloud, ending: Callable[[], Any] = raises) -> None:
    provider.ending = ending
    assert stack.run("update", lambda: thing(provider)).outcome == "failed"
    provider.ending = None


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize("kind", [*WITHOUT_ID, *WITH_ID])
def test_a_create_that_fails_or_returns_rubbish_leaves_a_record_of_its_object(stack: Stack, kind: str) -> None:
    provider = Cloud()
    failing(stack, provider, (WITHOUT_ID | WITH_ID)[kind])
    if kind in WITH_ID:
        # The object is known: the next run goes on with it.
        assert stack.resources()["a"]["id"] == "made"
        assert unresolved_creates(stack) == []
        return
    [unresolved] = unresolved_creates(stack)
    assert unresolved["doubt"] == ("raised" if kind == "raises" else "unreadable")
    assert unresolved["resource"]["inputs"]["size"] == "small"
    assert (unresolved["key"], unresolved["attempts"]) == (provider.keys[0], 1)
    assert unresolved["error"]
    assert ("returned" in unresolved) == (kind != "raises")
    assert stack.resources() == {}


def test_a_create_whose_process_dies_leaves_an_unresolved_create(project: Project) -> None:
    project.write(
        "__main__.py",
        """
import os
from pulumi.dynamic import CreateResult, Resource, ResourceProvider
from maloko import current_call

class Dying(ResourceProvider):
    def create(self, props):
        with open("keys", "a") as keys:
            keys.write(current_call().operation_key + "\\n")
        if not os.path.exists("alive"):
            os._exit(7)
        return CreateResult("made", props)

class Thing(Resource):
    def __init__(self):
        super().__init__(Dying(), "a", {"size": "small"})

Thing()
""",
    )
    project.failing("up", "--yes", "--skip-preview")
    shown = project.run("stack").stdout
    assert "1 unresolved create, whose object may exist:" in shown
    assert "its create was under way when the run ended" in shown
    project.write("alive", "")
    said = project.run("up", "--yes", "--skip-preview").stdout
    # The key was passed on: the service makes no second object.
    assert "too many" not in said
    keys = (project.directory / "keys").read_text().split()
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert "unresolved" not in project.run("stack").stdout


def test_the_object_that_find_finds_is_adopted_without_a_create(stack: Stack) -> None:
    provider = Searchable()
    failing(stack, provider)
    done = stack.up(lambda: thing(provider))
    assert done.changes == {"import": 1, "same": 2}
    assert list(provider.objects) == ["object-1"]
    assert (stack.resources()["a"]["id"], unresolved_creates(stack)) == ("object-1", [])
    assert any("its object was found, with the id 'object-1'" in text for text in done.messages("info"))
    assert stack.up(lambda: thing(provider)).changes == {"same": 2}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_adopted_object_follows_the_program(stack: Stack) -> None:
    class Changing(Searchable):
        def update(self, id_: str, _olds: dict[str, Any], news: dict[str, Any]) -> Any:
            self.objects[id_].update(news)
            from pulumi.dynamic import UpdateResult

            return UpdateResult(news)

    provider = Changing()
    failing(stack, provider)
    done = stack.up(lambda: thing(provider, size="large"))
    assert done.changes == {"import": 1, "same": 1, "update": 1}
    assert provider.objects["object-1"]["size"] == "large"
    assert stack.resources()["a"]["outputs"]["size"] == "large"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_without_find_an_unresolved_create_is_created_again_and_named(stack: Stack) -> None:
    provider = Cloud()
    provider.passes_key_on = False
    failing(stack, provider, lambda: None)
    done = stack.up(lambda: thing(provider))
    assert list(provider.objects) == ["object-1", "object-2"]
    [warning] = [text for text in done.messages("warning") if "so it is created again" in text]
    assert "its create returned something that cannot be used" in warning
    assert "there may now be one object too many: look for it" in warning
    assert unresolved_creates(stack) == []


def test_the_operation_key_is_the_same_for_every_attempt_until_one_succeeds(stack: Stack) -> None:
    provider = Cloud()
    failing(stack, provider)
    failing(stack, provider, lambda: None)
    stack.up(lambda: thing(provider))
    assert len(provider.keys) == 3
    assert len(set(provider.keys)) == 1
    stack.up(lambda: (thing(provider), thing(provider, "b")))
    assert len(set(provider.keys)) == 2
    assert current_call().operation_key == ""


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_run_says_at_its_end_what_became_unresolved(stack: Stack) -> None:
    provider = Cloud()
    provider.ending = lambda: None
    done = stack.run("update", lambda: thing(provider))
    beginning = "these creates failed with an unknown outcome"
    [warning] = [text for text in done.messages("warning") if text.startswith(beginning)]
    assert "\n    a: its create returned something that cannot be used" in warning
    later = stack.run("update", lambda: None)
    told = "an earlier create of this resource ended unclearly (its create returned something that cannot be used"
    assert any(told in text for text in later.messages("warning"))


def test_an_id_that_is_no_text_is_looked_up_with_read(stack: Stack) -> None:
    class Readable(Cloud):
        def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
            return ReadResult(id_, {**props, "read": True})

    provider = Readable()
    failing(stack, provider, lambda: CreateResult(42, {}))  # type: ignore[arg-type]
    assert unresolved_creates(stack)[0]["resource"]["id"] == "42"
    stack.up(lambda: thing(provider))
    assert stack.resources()["a"]["id"] == "42"
    assert len(provider.keys) == 1


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_refresh_adopts_what_find_finds_and_a_destroy_deletes_it(stack: Stack) -> None:
    provider = Searchable()
    failing(stack, provider)
    stack.refresh(lambda: thing(provider))
    assert (stack.resources()["a"]["id"], unresolved_creates(stack)) == ("object-1", [])
    other = Stack()
    failing(other, provider)
    assert len(provider.objects) == 2
    other.destroy(lambda: thing(provider))
    assert list(provider.objects) == ["object-1"]
    assert (other.resources(), unresolved_creates(other)) == ({}, [])


def test_a_find_that_raises_creates_nothing(stack: Stack) -> None:
    class Away(Cloud):
        def find(self, _key: str, _props: dict[str, Any]) -> ReadResult | None:
            raise RuntimeError("the service is away")

    provider = Away()
    failing(stack, provider)
    done = stack.run("update", lambda: thing(provider))
    assert done.outcome == "failed"
    assert "find could not tell whether an earlier create made the object" in done.messages("error")[0]
    assert (len(provider.keys), len(unresolved_creates(stack))) == (1, 1)


def test_a_helper_that_is_called_find_and_takes_other_arguments_is_not_asked(stack: Stack) -> None:
    class Helped(Cloud):
        def find(self, *, name: str) -> str:
            raise AssertionError(name)

    provider = Helped()
    failing(stack, provider)
    stack.up(lambda: thing(provider))
    assert len(provider.keys) == 2


def test_find_may_answer_at_once_or_later(stack: Stack) -> None:
    class Async(Cloud):
        async def find(self, key: str, _props: dict[str, Any]) -> ReadResult | None:
            return next((ReadResult(id_, {}) for id_, found in self.objects.items() if found["key"] == key), None)

    provider = Async()
    failing(stack, provider)
    stack.up(lambda: thing(provider))
    assert len(provider.keys) == 1


@dataclass
class Inputs:
    size: str


@dataclass
class Outputs(Inputs):
    url: str = ""


def test_find_of_a_typed_provider_gets_typed_inputs(stack: Stack) -> None:
    seen: list[Inputs] = []

    class Typed(maloko.TypedProvider[Inputs, Outputs]):
        def create(self, _inputs: Inputs) -> CreateResult:
            raise RuntimeError("the service is away")

        def find(self, _key: str, inputs: Inputs) -> ReadResult | None:
            seen.append(inputs)
            return ReadResult("made", Outputs(inputs.size, "https://made"))

    provider = Typed()
    assert stack.run("update", lambda: thing(provider)).outcome == "failed"
    stack.up(lambda: thing(provider))
    assert seen == [Inputs("small")]
    assert stack.resources()["a"]["outputs"]["url"] == "https://made"


LEAKING = """
import os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Leaking(ResourceProvider):
    def create(self, props):
        if os.path.exists("raise"):
            raise RuntimeError("refused with " + props["password"])
        return {"outs": props, "fresh": "a-token-that-nobody-knows"}

class Thing(Resource):
    def __init__(self):
        super().__init__(Leaking(), "a", {"password": pulumi.Output.secret("correct-horse")})

Thing()
"""


def test_no_secret_of_an_error_or_a_result_is_kept_in_plain_text(project: Project) -> None:
    project.write("__main__.py", LEAKING)
    project.write("raise", "")
    project.failing("up", "--yes", "--skip-preview")
    assert "correct-horse" not in project.state()
    [unresolved] = json.loads(project.run("stack", "--json").stdout)["suspects"]
    assert unresolved["error"] == "RuntimeError: refused with [secret]"
    (project.directory / "raise").unlink()
    project.failing("up", "--yes", "--skip-preview")
    assert "a-token-that-nobody-knows" not in project.state()
    assert "a-token-that-nobody-knows" not in project.run("stack").stdout
    [unresolved] = json.loads(project.run("stack", "--json", "--show-secrets").stdout)["suspects"]
    assert "a-token-that-nobody-knows" in unresolved["returned"]
    assert (unresolved["doubt"], unresolved["attempts"]) == ("unreadable", 2)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_unresolved_creates_survive_export_and_import_and_are_forgotten_when_asked(project: Project) -> None:
    project.write("__main__.py", LEAKING)
    project.failing("up", "--yes", "--skip-preview")
    exported = project.run("stack", "export").stdout
    cleared = project.run("refresh", "--yes", "--skip-preview", "--clear-pending-creates")
    assert "Forgot 1 unresolved create:\n  urn:pulumi:dev::" in cleared.stderr
    assert json.loads(project.run("stack", "--json").stdout)["suspects"] == []
    project.write("copy.json", exported)
    project.run("stack", "import", "--file", "copy.json")
    [unresolved] = json.loads(project.run("stack", "--json").stdout)["suspects"]
    assert unresolved["doubt"] == "unreadable"
    project.write("__main__.py", "")
    said = project.failing("destroy", "--yes", "--skip-preview", "--remove")
    assert "it still knows of 1 unresolved create whose objects may exist" in said
    project.run("refresh", "--yes", "--skip-preview", "--clear-pending-creates")
    project.run("destroy", "--yes", "--skip-preview", "--remove")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_object_of_a_create_that_raised_is_taken_over_by_its_id(project: Project) -> None:
    project.write(
        "__main__.py",
        """
from pulumi.dynamic import ReadResult, Resource, ResourceProvider

class Raising(ResourceProvider):
    def create(self, props):
        raise RuntimeError("no answer")

    def read(self, id_, props):
        return ReadResult(id_, props)

class Thing(Resource):
    def __init__(self):
        super().__init__(Raising(), "a", {"size": "small"})

Thing()
""",
    )
    project.failing("up", "--yes", "--skip-preview")
    urn = "urn:pulumi:dev::trial::pulumi-python:dynamic:Resource::a"
    project.run("refresh", "--yes", "--skip-preview", "--import-pending-creates", urn, "--import-pending-creates", "m1")
    project.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert json.loads(project.run("stack", "--json").stdout)["suspects"] == []
