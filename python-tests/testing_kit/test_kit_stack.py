"""The testing kit's stacks: plans as data, what settles, what is there, what must hold at the end."""

from typing import Any, ClassVar

import pulumi
import pytest
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

from maloko import MalokoError
from maloko.testing import (
    ANY,
    SECRET,
    UNKNOWN,
    Kit,
    RunFailed,
    Secret,
    assert_no_deletes,
    assert_no_replacements,
    capture,
)


class Shelf(ResourceProvider):
    """Keeps boxes in a dict that tests look into."""

    boxes: ClassVar[dict[str, dict[str, Any]]] = {}

    def create(self, props: dict[str, Any]) -> CreateResult:
        id_ = f"box-{len(self.boxes) + 1}"
        self.boxes[id_] = dict(props)
        return CreateResult(id_, {**props, "place": f"shelf/{id_}"})

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        changed = [key for key in news if olds.get(key) != news[key]]
        return DiffResult(changes=bool(changed), replaces=[key for key in changed if key == "kind"])

    def read(self, id_: str, _props: dict[str, Any]) -> ReadResult:
        if id_ not in self.boxes:
            return ReadResult("", {})
        found = self.boxes[id_]
        return ReadResult(id_, {**found, "place": f"shelf/{id_}"})

    def update(self, id_: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        self.boxes[id_] = dict(news)
        return UpdateResult({**news, "place": f"shelf/{id_}"})

    def delete(self, id_: str, _props: dict[str, Any]) -> None:
        self.boxes.pop(id_, None)


class Box(Resource):
    """A box on the shelf."""

    place: pulumi.Output[str]

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None, **props: Any) -> None:
        super().__init__(Shelf(), name, {"place": None, **props}, opts)


@pytest.fixture(autouse=True)
def _empty_shelf() -> None:
    Shelf.boxes.clear()


def one_box() -> None:
    config = pulumi.Config()
    box = Box("b", kind=config.get("kind") or "wood", size=config.get_int("size") or 1)
    pulumi.export("place", box.place)


def test_a_stack_is_previewed_and_deployed(maloko: Kit) -> None:
    s = maloko.stack(one_box)
    assert s.preview() == {"b": "create"}
    assert Shelf.boxes == {}
    assert s.up() == {"b": "create"}
    assert Shelf.boxes == {"box-1": {"kind": "wood", "size": 1}}
    assert s.outputs("b") == {"kind": "wood", "size": 1, "place": "shelf/box-1"}
    assert s.outputs() == {"place": "shelf/box-1"}
    assert s.up() == {}
    assert s.destroy() == {"b": "delete"}
    assert Shelf.boxes == {}


def test_a_plan_tells_of_changes_and_replacements(maloko: Kit) -> None:
    s = maloko.stack(one_box, config={"size": 1})
    s.up()
    s.config["size"] = 2
    plan = s.preview()
    assert plan == {"b": "update"}
    assert plan["b"].changes == {"size": (1, 2)}
    assert plan["b"].replaces == []
    assert_no_replacements(plan)
    assert_no_deletes(plan)
    s.set(kind="steel")
    plan = s.preview()
    assert plan["b"].action == "replace"
    assert plan["b"].replaces == ["kind"]
    assert plan == {"b": {"action": "replace", "replaces": ["kind"], "delete_before_replace": False}}
    with pytest.raises(AssertionError, match="replaces nothing; it has\n  replace b because of kind"):
        assert_no_replacements(plan)
    with pytest.raises(AssertionError, match="deletes nothing; it has\n  replace b because of kind"):
        assert_no_deletes(plan)
    s.up()
    assert s.history("b").actions == ["create", "replace"]
    assert s.history("b").ids == ["box-1", "box-2"]


def test_a_plan_names_what_is_unknown_and_what_is_secret(maloko: Kit) -> None:
    def program() -> None:
        first = Box("first", password=pulumi.Output.secret("hunter22"))
        Box("second", beside=first.place)

    s = maloko.stack(program)
    plan = s.preview()
    assert plan["first"].secret == ["password"]
    assert plan["first"].inputs == {"password": SECRET}
    assert plan["second"].unknown == ["beside"]
    assert plan["second"].inputs["beside"] is UNKNOWN
    s.up()
    assert s.outputs("first")["password"] == "hunter22"
    assert "hunter22" not in repr(s.calls)
    assert s.calls.create["first"].args == {"props": {"password": "[secret]"}}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_plan_that_is_not_as_expected_is_explained(maloko: Kit) -> None:
    s = maloko.stack(one_box)
    plan = s.preview()
    assert plan != {"b": "update"}
    assert plan.differences({"b": "update", "c": "create"}) == [
        '  b: expected "update", got "create"',
        '- c: expected "create", but nothing is done to it',
    ]
    assert plan.differences({}) == ["+ b: create, which is not expected"]
    with pytest.raises(KeyError, match="the plan has no resource 'c'; those that it has: b"):
        plan["c"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_resources_of_the_same_name_are_told_apart(maloko: Kit) -> None:
    class Crate(Resource, module="crates", name="Crate"):
        pass

    def program() -> None:
        Box("b")
        Crate(Shelf(), "b", {})

    plan = maloko.stack(program).preview()
    assert plan == {"pulumi-python:dynamic:Resource::b": "create", "pulumi-python:dynamic/crates:Crate::b": "create"}
    with pytest.raises(KeyError, match="several resources are called 'b'"):
        plan["b"]


def test_what_never_settles_is_named(maloko: Kit) -> None:
    class Forgetful(Shelf):
        def create(self, props: dict[str, Any]) -> CreateResult:
            return CreateResult("forgotten", {"size": props["size"]})

    s = maloko.stack(Forgetful, inputs={"size": 1, "colour": "red"})
    with pytest.raises(AssertionError, match="never settles: planned again right after `up` it is not left") as caught:
        s.up()
    assert '  update it\n      colour: nothing -> "red"\n' in str(caught.value)
    assert s.up(settle=False) == {"it": "update"}


def test_drift_that_read_makes_up_is_named(maloko: Kit) -> None:
    class Vague(Shelf):
        def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
            return ReadResult(id_, {**props, "size": 7})

    s = maloko.stack(Vague, inputs={"size": 1})
    with pytest.raises(AssertionError, match="right after `up`, with a refresh, it is not left as it is") as caught:
        s.up()
    assert "size: 1 -> 7" in str(caught.value)


def test_a_bare_provider_has_one_resource(maloko: Kit) -> None:
    s = maloko.stack(Shelf(), inputs={"size": 1}, resource="b")
    assert s.up() == {"b": "create"}
    s.set(size=2)
    assert s.up() == {"b": "update"}
    assert s.outputs("b")["size"] == 2


def test_a_class_of_resources_is_a_program(maloko: Kit) -> None:
    s = maloko.stack(Box, inputs={"size": 1})
    assert s.up() == {"it": "create"}


def test_configuration_secrets_and_other_stacks_are_given(maloko: Kit) -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        config = pulumi.Config()
        network = pulumi.StackReference("organization/network/dev")
        Box(
            "b",
            key=config.require_secret("key"),
            subnet=network.get_output("subnet"),
            token=network.get_output("token"),
        )
        seen.update(flag=config.require_bool("flag"), region=pulumi.Config("cloud").require("region"))

    s = maloko.stack(
        program,
        config={"flag": True, "cloud:region": "here"},
        secrets={"key": "s3cret-key"},
        references={"organization/network/dev": {"subnet": "10.0.0.0/8", "token": Secret("t0ken-t0ken")}},
    )
    s.up()
    assert seen == {"flag": True, "region": "here"}
    assert s.outputs("b")["subnet"] == "10.0.0.0/8"
    assert s.preview()["b"].secret == ["key", "token"]
    assert "t0ken-t0ken" not in repr(list(s.calls))


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_stack_that_is_not_given_cannot_be_read(maloko: Kit) -> None:
    def reading() -> None:
        pulumi.export("x", pulumi.StackReference("organization/other/dev").get_output("x"))

    s = maloko.stack(reading)
    with maloko.fails(match="the test gives no outputs of it"):
        s.up()


def test_the_check_after_an_up_is_about_its_targets_and_no_call_of_the_test(maloko: Kit) -> None:
    sizes = {"a": 1, "b": 1}

    def two_boxes() -> None:
        for name, size in sizes.items():
            Box(name, size=size)

    s = maloko.stack(two_boxes)
    s.up()
    assert [call.method for call in s.calls] == ["create", "create"]
    sizes.update(a=2, b=2)
    assert s.up(targets=["**a"]) == {"a": "update"}
    assert [call.method for call in s.calls.all("a")] == ["create", "diff", "update"]
    assert s.preview() == {"b": "update"}


def test_refresh_tells_of_drift(maloko: Kit) -> None:
    s = maloko.stack(one_box)
    s.up()
    Shelf.boxes["box-1"]["size"] = 5
    plan = s.refresh()
    assert plan == {"b": "update"}
    assert plan["b"].changes["size"] == (1, 5)
    Shelf.boxes.clear()
    assert s.refresh() == {"b": "delete"}
    assert s.up() == {"b": "create"}


def test_an_object_is_imported(maloko: Kit) -> None:
    Shelf.boxes["old"] = {"kind": "wood", "size": 1}
    s = maloko.stack(one_box)
    assert s.import_("b", "old") == {"b": "import"}
    assert s.id("b") == "old"
    assert s.up() == {}


def test_imports_are_verified(maloko: Kit) -> None:
    s = maloko.stack(one_box)
    s.up()
    s.imports_cleanly("b")

    class HalfRead(Shelf):
        def read(self, id_: str, _props: dict[str, Any]) -> ReadResult:
            return ReadResult(id_, {"size": self.boxes[id_]["size"]})

    half = maloko.stack(HalfRead, inputs={"size": 1, "colour": "red"})
    half.up(settle=False)
    with pytest.raises(AssertionError, match="does not import cleanly") as caught:
        half.imports_cleanly("it")
    assert 'outputs.colour: nothing when imported, "red" in the state' in str(caught.value)
    half.imports_cleanly("it", ignore=["colour", "place"])


def test_imports_that_differ_in_a_secret_do_not_tell_it(maloko: Kit) -> None:
    class Reset(Shelf):
        def read(self, id_: str, _props: dict[str, Any]) -> ReadResult:
            return ReadResult(id_, {**self.boxes[id_], "colour": "unknown"})

    class Crate(Resource):
        """A box with a provider of its own."""

    def program() -> None:
        Crate(Reset(), "it", {"place": None, "size": 1, "colour": pulumi.Output.secret("well-kept")})

    s = maloko.stack(program)
    s.up(settle=False)
    with pytest.raises(AssertionError, match="does not import cleanly") as caught:
        s.imports_cleanly("it")
    assert "outputs.colour" in str(caught.value)
    assert "well-kept" not in str(caught.value)


def test_calls_are_logged_and_matched(maloko: Kit) -> None:
    s = maloko.stack(one_box)
    s.up()
    size = capture()
    assert s.calls.create["b"].args == {"props": {"kind": ANY, "size": size}}
    assert size.value == 1
    s.calls.create["b"].assert_args(props={"kind": "wood"})
    with pytest.raises(AssertionError, match=r"props.kind is 'wood', not 'steel'"):
        s.calls.create["b"].assert_args(props={"kind": "steel"})
    assert len(s.calls.update) == 0
    with pytest.raises(KeyError, match="update of 'b' was not called"):
        s.calls.update["b"]
    assert s.calls.create["b"].result == {"id": "box-1", "outs": {"kind": "wood", "size": 1, "place": "shelf/box-1"}}


def test_the_provider_s_own_exception_is_raised(maloko: Kit) -> None:
    error = OSError("the shelf is full")

    class Full(Shelf):
        def create(self, props: dict[str, Any]) -> CreateResult:
            raise error

    s = maloko.stack(Full, inputs={"size": 1})
    with pytest.raises(OSError, match="the shelf is full") as caught:
        s.up()
    assert caught.value is error
    assert s.runs[-1].calls[-1].error == "OSError: the shelf is full"


# In Python alone: signals and sys.exit are exceptions, which have a class and can be caught
def test_a_program_s_own_exception_is_raised_alone(maloko: Kit) -> None:
    s = maloko.stack(lambda: pulumi.export("size", pulumi.Config().require("size")), config={"siez": 1})
    with pytest.raises(pulumi.ConfigMissingError, match="project:size") as caught:
        s.up()
    assert caught.value.__context__ is None


def test_expected_failures_name_resource_and_method(maloko: Kit) -> None:
    class Full(Shelf):
        def create(self, props: dict[str, Any]) -> CreateResult:
            raise OSError("the shelf is full")

    s = maloko.stack(Full, inputs={"size": 1}, resource="b")
    with maloko.fails("b", method="create", match="is full") as failure:
        s.up()
    assert isinstance(failure.error, OSError)
    with (
        pytest.raises(AssertionError, match="expected delete of 'b' to fail; what failed: create of 'b'"),
        maloko.fails("b", method="delete"),
    ):
        s.up()
    with pytest.raises(AssertionError, match="to fail, and nothing failed"), maloko.fails("b"):
        s.preview()
    with pytest.raises(AssertionError, match="expected a failure that matches 'empty'"), maloko.fails(match="empty"):
        s.up()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_what_the_engine_refuses_fails_the_run(maloko: Kit) -> None:
    def twice() -> None:
        Box("b")
        Box("b")

    s = maloko.stack(twice)
    with pytest.raises(RunFailed, match="b"):
        s.up()


# In Python alone: asyncio beside calls that block: in Node everything is awaited
def test_async_verbs_are_awaited(maloko: Kit) -> None:
    import asyncio

    async def story() -> None:
        s = maloko.stack(one_box)
        assert await s.aio.preview() == {"b": "create"}
        assert await s.aio.up() == {"b": "create"}
        assert s.outputs("b")["size"] == 1
        # The sync forms work where a loop is running, too.
        assert s.preview() == {}
        assert await s.aio.destroy() == {"b": "delete"}

    asyncio.run(story())


def test_two_stacks_know_nothing_of_each_other(maloko: Kit) -> None:
    first, second = maloko.stack(one_box), maloko.stack(one_box, config={"size": 3})
    first.up()
    assert second.preview() == {"b": "create"}
    second.up()
    assert first.outputs("b")["size"] == 1
    assert second.outputs("b")["size"] == 3


def test_automatic_teardown_deletes_what_is_left() -> None:
    kit = Kit("a test")
    kit.stack(one_box).up()
    assert kit.close() == []
    assert Shelf.boxes == {}


def test_what_cannot_be_deleted_is_named() -> None:
    class Sticky(Shelf):
        def delete(self, id_: str, _props: dict[str, Any]) -> None:
            raise OSError("it sticks")

    kit = Kit("a test")
    kit.stack(Sticky, inputs={"size": 1}, resource="b").up()
    (problem,) = kit.close()
    assert "left over: 'b' (pulumi-python:dynamic:Resource, id 'box-1')" in problem
    assert "it sticks" in problem


def test_what_is_protected_is_deleted_at_the_end_all_the_same() -> None:
    def program() -> None:
        Box("b", pulumi.ResourceOptions(protect=True), size=1)

    kit = Kit("a test")
    kit.stack(program).up()
    assert kit.close() == []
    assert Shelf.boxes == {}


def test_what_is_left_in_the_world_is_named() -> None:
    class Careless(Shelf):
        def delete(self, id_: str, _props: dict[str, Any]) -> None:
            pass

    kit = Kit("a test")
    kit.stack(Careless, inputs={"size": 1}, world=Shelf.boxes).up()
    assert kit.close() == ["objects that no stack knows of are left in the world: 'box-1'"]
    with pytest.raises(MalokoError, match="the world int does not say what is in it"):
        Kit("a test").stack(Careless, world=3)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_second_writer_is_told_who_holds_the_stack(maloko: Kit) -> None:
    first = maloko.stack(one_box)
    second = first.another(one_box)
    refused = []

    def meanwhile(props: dict[str, Any]) -> CreateResult:
        with pytest.raises(Exception, match="is locked by") as caught:
            second.up()
        refused.append(str(caught.value))
        return Shelf().create(props)

    with first.stub(Shelf.create, returns=meanwhile):
        first.up()
    assert len(refused) == 1
    assert "'dev' is locked by" in refused[0]
    assert second.up() == {}
    assert list(Shelf.boxes) == ["box-1"]
    assert second not in maloko.stacks


def test_a_stack_can_be_left_on_purpose() -> None:
    kit = Kit("a test")
    s = kit.stack(one_box)
    s.up()
    s.leave("its objects are the next test's")
    assert kit.close() == []
    assert list(Shelf.boxes) == ["box-1"]


def test_a_setting_that_there_is_not_is_refused(maloko: Kit) -> None:
    with pytest.raises(TypeError, match="a stack has no setting 'confg'; there are inputs, config, secrets,"):
        maloko.stack(one_box, confg={"size": 3})
