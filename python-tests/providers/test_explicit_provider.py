"""Explicit providers of the dynamic package: what their inputs are to `configure`."""

from typing import Any, ClassVar

import pulumi
import pytest
from cli import Project
from kit import Thing
from pulumi.dynamic import CreateResult, ResourceProvider, UpdateResult
from stacks import Stack

DIRECTLY = ("--stack", "dev", "--yes", "--skip-preview")


class Api(pulumi.ProviderResource):
    def __init__(self, name: str, inputs: dict[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("pulumi-python", name, inputs, opts)


class Calling(ResourceProvider):
    """Notes under which address each of its methods is called."""

    log: ClassVar[list[str]] = []

    def configure(self, req: Any) -> None:
        self.url = req.config.get("api:url")
        self.log.append(f"configure {self.url}")

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.log.append(f"create {props['name']} at {self.url}")
        return CreateResult(props["name"], props)

    def update(self, _id: str, _olds: Any, news: dict[str, Any]) -> UpdateResult:
        self.log.append(f"update {news['name']} at {self.url}")
        return UpdateResult(news)

    def delete(self, id_: str, _props: Any) -> None:
        self.log.append(f"delete {id_} at {self.url}")

    def close(self) -> None:
        self.log.append(f"close {self.url}")


def calls() -> list[str]:
    """What was called since it was asked for last."""
    noted, Calling.log[:] = sorted(Calling.log), []
    return noted


def setup_function() -> None:
    calls()


def thing(name: str, opts: pulumi.ResourceOptions | None = None, **props: Any) -> Thing:
    return Thing(Calling(), name, {"name": name, **props}, opts)


class Group(pulumi.ComponentResource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__("tests:index:Group", name, {}, opts)
        thing(f"{name}-child", pulumi.ResourceOptions(parent=self))


def test_configure_gets_exactly_the_inputs_of_an_explicit_provider(stack: Stack) -> None:
    seen: list[Any] = []

    class Reading(Calling):
        def configure(self, req: Any) -> None:
            keys = ("api:url", "api:token", "api:retries", "api:tags", "api:on", "own", "project:own")
            seen.append([req.config.get(key) for key in keys])
            self.url = None

    inputs = lambda: {  # noqa: E731 an Output belongs to the run in which it is made
        "api:url": "http://one.example",
        "api:token": pulumi.Output.secret("t0ken-t0ken"),
        "api:retries": 3,
        "api:tags": {"a": [pulumi.Output.secret("b"), None]},
        "api:on": True,
        "project:own": "input",
    }
    stack.config.update({"own": "setting", "api:other": "x"})
    stack.up(lambda: Thing(Reading(), "a", {"name": "a"}, pulumi.ResourceOptions(provider=Api("api", inputs()))))
    assert seen == [["http://one.example", "t0ken-t0ken", 3, {"a": ["b", None]}, True, "input", "input"]]


def test_each_explicit_provider_has_an_object_of_its_own(stack: Stack) -> None:
    stack.config["api:url"] = "the stack"

    def program() -> None:
        one, two = Api("one", {"api:url": "one"}), Api("two", {"api:url": "two"})
        thing("a", pulumi.ResourceOptions(provider=one))
        thing("b", pulumi.ResourceOptions(provider=two))
        thing("c")
        thing("d", pulumi.ResourceOptions(provider=one))
        Group("g", pulumi.ResourceOptions(providers=[two]))

    stack.up(program)
    assert calls() == [
        *("close one", "close the stack", "close two"),
        *("configure one", "configure the stack", "configure two"),
        *("create a at one", "create b at two", "create c at the stack", "create d at one", "create g-child at two"),
    ]
    stack.destroy(lambda: None)
    assert [call for call in calls() if call.startswith("delete")] == [
        *("delete a at one", "delete b at two", "delete c at the stack", "delete d at one", "delete g-child at two"),
    ]


def test_an_object_that_cannot_be_copied_is_refused_for_a_second_explicit_provider(stack: Stack) -> None:
    class Holding(Calling):
        def __init__(self) -> None:
            self.client = iter(())

    provider = Holding()

    def program() -> None:
        for name in ("one", "two"):
            opts = pulumi.ResourceOptions(provider=Api(name, {"api:url": name}))
            Thing(provider, f"at-{name}", {"name": name}, opts)

    result = stack.run("update", program)
    assert result.outcome == "failed"
    assert "the inputs of another provider configure this object of " in (result.error or "")
    assert "give each explicit provider a provider object of its own" in (result.error or "")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_changed_inputs_configure_what_is_called_and_what_is_deleted(stack: Stack) -> None:
    def program(url: str, *names: str, **options: Any) -> None:
        api = Api("api", {"api:url": url}, pulumi.ResourceOptions(**options))
        for name in names:
            thing(name, pulumi.ResourceOptions(provider=api), url=url)

    stack.up(lambda: program("first", "a", "b"))
    before = stack.resources()["a"]["provider"]
    calls()
    stack.up(lambda: program("second", "a"))
    assert calls() == ["close second", "configure second", "delete b at second", "update a at second"]
    assert stack.resources()["a"]["provider"] == before
    # A replacement is another provider: what the old one made stays, and is its own no longer.
    stack.up(lambda: program("third", "a", replace_on_changes=["*"]))
    assert calls() == ["close third", "configure third", "update a at third"]
    assert stack.resources()["a"]["provider"] != before
    providers = [it for it in stack.export()["deployment"]["resources"] if it["urn"].endswith("::api")]
    assert [it["inputs"] for it in providers] == [{"api:url": "third"}]
    # A provider that leaves the program deletes what it made.
    stack.up(lambda: None)
    assert calls() == ["close third", "configure third", "delete a at third"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_preview_calls_nothing_of_a_provider_whose_inputs_are_not_known(stack: Stack) -> None:
    def program(url: str) -> None:
        source = Thing(Making(), "source", {"url": url, "address": None})
        thing("a", pulumi.ResourceOptions(provider=Api("api", {"api:url": source.address})), url=url)

    class Making(ResourceProvider):
        def create(self, props: dict[str, Any]) -> CreateResult:
            return CreateResult("source", {**props, "address": props["url"]})

        def update(self, _id: str, _olds: Any, news: dict[str, Any]) -> UpdateResult:
            return UpdateResult({**news, "address": news["url"]})

    previewed = stack.preview(lambda: program("first"))
    assert (previewed.changes["create"], calls()) == (4, [])
    stack.up(lambda: program("first"))
    assert calls() == ["close first", "configure first", "create a at first"]
    previewed = stack.preview(lambda: program("second"))
    assert (previewed.changes["update"], calls()) == (3, [])
    stack.up(lambda: program("second"))
    assert calls() == ["close second", "configure second", "update a at second"]


@pytest.mark.parametrize("verb", ["refresh", "destroy"])
def test_runs_without_the_program_use_the_inputs_of_the_state(project: Project, verb: str) -> None:
    project.write(
        "__main__.py",
        "import pulumi\n"
        "from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider\n"
        "class Api(pulumi.ProviderResource):\n"
        "    def __init__(self, name, inputs): super().__init__('pulumi-python', name, inputs)\n"
        "class P(ResourceProvider):\n"
        "    def configure(self, req):\n"
        "        self.url, self.token = req.config.require('api:url'), req.config.get('api:token')\n"
        "    def create(self, props): return CreateResult('1', {**props, 'url': self.url})\n"
        "    def read(self, id_, props): print('read at', self.url, len(self.token)); return ReadResult(id_, props)\n"
        "    def delete(self, id_, props): print('delete at', self.url, len(self.token))\n"
        "class Thing(Resource):\n"
        "    url: pulumi.Output[str]\n"
        "    def __init__(self, name, opts): super().__init__(P(), name, {'url': None}, opts)\n"
        "api = Api('api', {'api:url': 'http://one.example', 'api:token': pulumi.Output.secret('t0ken-t0ken')})\n"
        "pulumi.export('url', Thing('thing', pulumi.ResourceOptions(provider=api)).url)\n",
    )
    project.run("up", *DIRECTLY)
    assert project.run("stack", "output", "url", "--stack", "dev").stdout.strip() == "http://one.example"
    assert "t0ken-t0ken" not in project.state()
    said = {"refresh": "read", "destroy": "delete"}[verb]
    assert f"{said} at http://one.example 11" in project.run(verb, *DIRECTLY).stdout
