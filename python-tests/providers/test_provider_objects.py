"""Any object is called live: nothing is pickled, nothing is copied."""

import json
import socket
import threading

import dill
import pulumi
import pytest
from cli import Project
from kit import Thing
from pulumi.dynamic import CheckResult, CreateResult, ResourceProvider
from sample_package.providers import Shipped
from stacks import Stack


# In Python alone: modules, virtual environments and pickling
def test_a_provider_of_a_submodule_is_called_live(stack: Stack) -> None:
    provider = Shipped("sub")
    stack.up(lambda: Thing(provider, "a"))
    assert stack.resources()["a"]["id"] == "sub-1"


def test_a_provider_that_is_local_to_a_function_is_called_live(stack: Stack) -> None:
    made = []

    class Local(ResourceProvider):
        def create(self, props):
            made.append((self, props))
            return CreateResult("local", {})

    provider = Local()
    stack.up(lambda: Thing(provider, "a", {"x": "y"}))
    assert made == [(provider, {"x": "y"})]
    assert made[0][0] is provider


# In Node: locks, sockets, clients, closures and cycles are no obstacle
def test_locks_sockets_files_clients_and_cycles_are_no_obstacle(stack: Stack, tmp_path) -> None:
    class Holding(ResourceProvider):
        def __init__(self):
            self.lock = threading.Lock()
            self.socket = socket.socket()
            self.file = (tmp_path / "log").open("w")
            self.itself = self
            self.generator = (n for n in range(3))

        def create(self, props):
            with self.lock:
                self.file.write("created")
                return CreateResult(str(self.socket.fileno() > 0 and next(self.generator)), {})

    provider = Holding()
    stack.up(lambda: Thing(provider, "a"))
    assert stack.resources()["a"]["id"] == "0"
    provider.file.close()
    provider.socket.close()
    assert (tmp_path / "log").read_text() == "created"


# In Node: private fields and arrow methods of instances work
def test_a_provider_made_of_functions_in_instance_attributes_works(stack: Stack) -> None:
    class Bare:
        pass

    provider = Bare()
    provider.create = lambda props: CreateResult("bare", dict(props))
    provider.delete = lambda id_, props: gone.append(id_)
    gone = []
    stack.up(lambda: Thing(provider, "a"))
    stack.destroy(lambda: Thing(provider, "a"))
    assert gone == ["bare"]


# In Node: the SDK never serialises a provider, and its serialiser is never loaded
def test_the_sdk_never_pickles_a_provider(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args, **_kwargs):
        raise AssertionError("dill.dumps was called")

    monkeypatch.setattr(dill, "dumps", fail)
    stack.up(lambda: [Thing(Shipped(f"p{n}"), f"r{n}") for n in range(50)])
    assert len(stack.resources()) == 50


def test_one_object_shared_by_many_resources_stays_one_object(stack: Stack) -> None:
    class Counting(ResourceProvider):
        def __init__(self):
            self.count = 0

        def create(self, props):
            self.count += 1
            return CreateResult(str(self.count), {})

    provider = Counting()

    def program() -> None:
        previous = None
        for n in range(5):
            previous = Thing(provider, f"r{n}", opts=pulumi.ResourceOptions(depends_on=previous and [previous]))

    stack.up(program)
    assert provider.count == 5
    assert sorted(resource["id"] for resource in stack.resources().values()) == ["1", "2", "3", "4", "5"]


# In Python alone: threads: a Node program and its providers have one
def test_a_provider_method_runs_on_a_thread_that_python_made(stack: Stack) -> None:
    seen = []

    class Looking(ResourceProvider):
        def create(self, props):
            seen.append(threading.current_thread())
            return CreateResult("x", {})

    stack.up(lambda: Thing(Looking(), "a"))
    assert isinstance(seen[0], threading.Thread)
    assert not isinstance(seen[0], threading._DummyThread)


def test_output_get_answers_inside_a_provider_method(stack: Stack) -> None:
    class Getting(ResourceProvider):
        def __init__(self, captured):
            self.captured = captured

        def create(self, props):
            return CreateResult(f"got-{self.captured.get()}", {})

    class Slow(ResourceProvider):
        def create(self, props):
            return CreateResult("slow", {"answer": "42"})

    def program() -> None:
        first = Thing(Slow(), "first", {"answer": None})
        Thing(Getting(first.answer), "second")

    stack.up(program)
    assert stack.resources()["second"]["id"] == "got-42"


def test_output_get_of_a_closed_over_output_answers_too(stack: Stack) -> None:
    def program() -> None:
        first = Thing(Shipped("one"), "first")

        # What a method closes over is looked at for Outputs; here it is the resource's id.
        captured = first.id

        class Capturing(ResourceProvider):
            def create(self, props):
                return CreateResult(f"after-{captured.get()}", {})

        Thing(Capturing(), "second")

    stack.up(program)
    assert stack.resources()["second"]["id"] == "after-one-1"


def test_output_get_in_the_program_is_still_an_error(stack: Stack) -> None:
    def program() -> None:
        Thing(Shipped("one"), "first").id.get()

    with pytest.raises(Exception, match=r"Cannot call '\.get'"):
        stack.up(program)


def test_a_class_that_gets_a_method_while_the_program_runs_has_it_for_the_objects_made_later(stack: Stack) -> None:
    checked = []

    class Growing(ResourceProvider):
        def create(self, props):
            return CreateResult(props["name"], {})

    def check(_self, _olds, news):
        checked.append(news["name"])
        return CheckResult(news, [])

    def program() -> None:
        Thing(Growing(), "a", {"name": "a"})
        Growing.check = check
        Thing(Growing(), "b", {"name": "b"})

    stack.up(program)
    assert "b" in checked
    assert {name: it["id"] for name, it in stack.resources().items() if name in ("a", "b")} == {"a": "a", "b": "b"}


def test_an_object_may_have_a_method_of_its_own_that_others_of_its_class_lack(stack: Stack) -> None:
    checked = []

    class Plain(ResourceProvider):
        def create(self, props):
            return CreateResult(props["name"], {})

    def check(_olds, news):
        checked.append(news["name"])
        return CheckResult(news, [])

    def program() -> None:
        for name in ("a", "b", "c"):
            provider = Plain()
            if name == "b":
                provider.check = check
            Thing(provider, name, {"name": name})

    stack.up(program)
    assert checked == ["b"]


LOCKED = """
import os, threading
from pulumi.dynamic import Resource, ResourceProvider, CreateResult


class P(ResourceProvider):
    def __init__(self):
        self.lock = threading.Lock()

    def create(self, props):
        return CreateResult("t", props)


class R(Resource):
    pass


if not os.environ.get("GONE"):
    R(P(), "upload", {})
"""


@pytest.mark.parametrize("command", [["up", "--yes"], ["destroy", "--yes"]])
def test_what_has_no_delete_is_removed_although_its_provider_is_gone(project: Project, command: list[str]) -> None:
    project.write("__main__.py", LOCKED)
    project.run("up", "--yes", "--skip-preview")
    project.run(*command, GONE="1")
    assert "::upload" not in project.state()


GENERATED = """
import os, random
from pulumi import ResourceOptions
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider


class Gen(ResourceProvider):
    def __init__(self, make):
        self.make = make

    def create(self, props):
        return CreateResult("g", {**props, "value": self.make()})

    def diff(self, id, olds, news):
        changes = any(olds.get(key) != value for key, value in news.items() if key not in ("__provider", "value"))
        return DiffResult(changes=changes, replaces=["trigger"], delete_before_replace=True)


class Generated(Resource):
    def __init__(self, name, make, trigger):
        options = ResourceOptions(additional_secret_outputs=["value"])
        super().__init__(Gen(make), name, {"value": None, "trigger": trigger}, options)


if not os.environ.get("GONE"):
    Generated("salt", lambda: random.random(), os.environ.get("T", "1"))
"""


def test_a_provider_that_holds_the_programs_function_and_has_no_delete(project: Project) -> None:
    """It is made, kept, replaced and removed."""

    def value() -> str | None:
        exported = json.loads(project.run("stack", "export", "--show-secrets").stdout)
        values = [it["outputs"]["value"] for it in exported["deployment"]["resources"] if it["urn"].endswith("::salt")]
        return values[0]["plaintext"] if values else None

    flags = ("--yes", "--skip-preview")
    project.write("__main__.py", GENERATED)
    project.run("up", *flags)
    first = value()
    assert first is not None
    assert float(first) < 1
    project.run("up", *flags, "--expect-no-changes")
    assert value() == first
    said = project.run("up", *flags, T="2").stdout
    assert said.index("salt original deleted") < said.index("salt replacement created")
    assert value() != first
    assert "- 1 deleted" in project.run("up", *flags, GONE="1").stdout
    assert value() is None
