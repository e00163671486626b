"""Resources and functions of packages in tests: stubbed by default, or as the test says."""

import traceback
from typing import Any

import pulumi
import pytest
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult

from maloko import MalokoError
from maloko.testing import Kit, crash_everywhere

PET = "random:index/randomPet:RandomPet"
LOOKUP = "random:index:lookup"
VPC = "awsx:ec2:Vpc"


class RandomPet(pulumi.CustomResource):
    text: pulumi.Output[str]
    size: pulumi.Output[int]

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None, **props: Any) -> None:
        super().__init__(PET, name, {"text": None, "size": None, **props}, opts)


class Greetings(ResourceProvider):
    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("greeting-1", {**props, "length": len(props["pet"])})

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult({**news, "length": len(news["pet"])})


class Greeting(Resource):
    length: pulumi.Output[int]

    def __init__(self, name: str, pet: Any) -> None:
        super().__init__(Greetings(), name, {"pet": pet, "length": None})


def test_a_resource_of_a_package_gives_its_inputs_back(maloko: Kit) -> None:
    sizes = {"size": 2}

    def program() -> None:
        pet = RandomPet("pet", **sizes)
        Greeting("greeting", pet.id)
        pulumi.export("size", pet.size)

    s = maloko.stack(program)
    assert s.preview() == {"pet": "create", "greeting": "create"}
    s.up()
    made = s.id("pet")
    assert made.startswith("pet-")
    assert s.outputs("pet") == {"size": 2}
    assert s.outputs("greeting")["length"] == len(made)
    assert s.outputs() == {"size": 2}
    sizes["size"] = 3
    assert s.preview()["pet"].action == "update"
    s.up()
    assert s.id("pet") == made
    assert s.outputs("pet") == {"size": 3}
    made_or_changed = [call.method for call in s.calls if call.name == "pet" and call.method in ("create", "update")]
    assert made_or_changed == ["create", "update"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_ids_of_stubs_are_the_same_in_every_run_and_differ_by_resource(maloko: Kit) -> None:
    def program() -> None:
        parent = RandomPet("pet")
        RandomPet("pet", pulumi.ResourceOptions(parent=parent))

    ids = []
    for _ in range(2):
        s = maloko.stack(program)
        s.up()
        ids.append(
            sorted(resource["id"] for resource in s.export()["deployment"]["resources"] if resource["type"] == PET)
        )
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2


def test_a_stub_of_a_function_of_the_inputs_makes_outputs(maloko: Kit) -> None:
    sizes = {"size": 2}
    s = maloko.stack(
        lambda: Greeting("greeting", RandomPet("pet", **sizes).text),
        stubs={PET: lambda inputs: {"text": "x" * int(inputs["size"])}},
    )
    s.up()
    assert s.outputs("pet") == {"size": 2, "text": "xx"}
    assert s.outputs("greeting")["length"] == 2
    sizes["size"] = 3
    s.up()
    assert s.outputs("greeting")["length"] == 3


def test_a_stub_with_methods_stands_in_for_a_plugin(maloko: Kit) -> None:
    class Pets:
        def __init__(self) -> None:
            self.pets: dict[str, Any] = {}

        def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
            return {"size": news.get("size", 7)}

        def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> Any:
            from pulumi.dynamic import DiffResult

            return DiffResult(changes=olds["size"] != news["size"], replaces=["size"])

        async def create(self, inputs: dict[str, Any]) -> CreateResult:
            id_ = f"pet-of-size-{inputs['size']:g}"
            self.pets[id_] = inputs
            return CreateResult(id_, {"text": "made"})

        def read(self, id_: str, _props: dict[str, Any]) -> Any:
            return {**self.pets[id_], "text": "made"} if id_ in self.pets else None

        def delete(self, id_: str, _props: dict[str, Any]) -> None:
            del self.pets[id_]

    pets, sizes = Pets(), {}
    s = maloko.stack(lambda: RandomPet("pet", **sizes) and None, stubs={PET: pets})
    s.up()
    assert s.id("pet") == "pet-of-size-7"
    assert s.outputs("pet") == {"size": 7, "text": "made"}
    sizes["size"] = 8
    assert s.preview()["pet"].replaces == ["size"]
    s.up()
    assert list(pets.pets) == ["pet-of-size-8"]
    pets.pets.clear()
    s.refresh()
    assert "pet" not in s.resources()
    s.up()
    s.destroy()
    assert not pets.pets


def test_secrets_stay_secret_in_a_stub(maloko: Kit) -> None:
    seen: list[Any] = []

    def stub(inputs: dict[str, Any]) -> dict[str, Any]:
        seen.append(inputs["text"])
        return {"text": inputs["text"], "size": 1}

    def program() -> None:
        RandomPet("plain", text=pulumi.Output.secret("hunter2"))

    for stubs in ({}, {PET: stub}):
        s = maloko.stack(program, stubs=stubs)
        s.up()
        assert s.resources()["plain"]["secret"] == ["text"]
    assert seen == ["hunter2"]


def test_a_function_of_a_package_returns_its_arguments_or_what_its_stub_does(maloko: Kit) -> None:
    def program() -> None:
        result = pulumi.runtime.invoke(LOOKUP, {"name": "cat"})
        pulumi.export("found", dict(result.value))

    s = maloko.stack(program)
    s.up()
    assert s.outputs()["found"] == {"name": "cat"}
    s = maloko.stack(program, stubs={LOOKUP: lambda arguments: {"legs": 4, "of": arguments["name"]}})
    s.up()
    assert s.outputs()["found"] == {"legs": 4, "of": "cat"}


class Vpc(pulumi.ComponentResource):
    block: pulumi.Output[str]
    place: pulumi.Output[str]

    def __init__(self, name: str, block: Any) -> None:
        super().__init__(VPC, name, {"block": block, "place": None}, remote=True)


def test_a_component_of_a_package_is_stubbed_without_children(maloko: Kit) -> None:
    def program() -> None:
        vpc = Vpc("vpc", pulumi.Output.secret("10.0.0.0/8"))
        Greeting("greeting", vpc.place)
        pulumi.export("block", vpc.block)
        pulumi.export("zones", pulumi.runtime.call(f"{VPC}/zones", {"count": 2}, res=vpc))

    s = maloko.stack(program, stubs={VPC: lambda _inputs: {"place": "here"}})
    assert s.preview() == {"vpc": "create", "greeting": "create"}
    s.up()
    assert s.outputs("greeting")["pet"] == "here"
    assert s.outputs() == {"block": "10.0.0.0/8", "zones": {"count": 2}}
    s = maloko.stack(program, stubs={VPC: lambda _inputs: {"place": ""}, f"{VPC}/zones": lambda _arguments: {"a": 1}})
    s.up()
    assert s.outputs()["zones"] == {"a": 1}


def test_what_a_stub_raises_is_raised_as_it_is(maloko: Kit) -> None:
    raised: list[TypeError] = []

    def stub(_inputs: dict[str, Any]) -> dict[str, Any]:
        raised.append(TypeError("no pet today"))
        raise raised[-1]

    s = maloko.stack(lambda: RandomPet("pet") and None, stubs={PET: stub})
    with maloko.fails("pet", method="create", raises=TypeError) as failure:
        s.up()
    assert failure.error is raised[-1]
    assert "in stub" in "".join(traceback.format_exception(failure.error))

    s = maloko.stack(lambda: pulumi.runtime.invoke(LOOKUP, {}) and None, stubs={LOOKUP: stub})
    with pytest.raises(TypeError) as caught:
        s.up()
    assert caught.value is raised[-1]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_faults_strike_resources_of_packages(maloko: Kit) -> None:
    s = maloko.stack(lambda: RandomPet("pet", size=1) and None)
    with (
        s.stub(resource="pet", method="create", raises=ConnectionError("cut off")),
        maloko.fails("pet", method="create", match="cut off"),
    ):
        s.up()
    s.up()
    assert s.outputs("pet") == {"size": 1}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_an_object_of_a_package_is_imported_and_looked_up(maloko: Kit) -> None:
    def program() -> None:
        RandomPet("taken", pulumi.ResourceOptions(import_="there"), size=2)
        found = RandomPet("found", pulumi.ResourceOptions(id="here"), size=3)
        pulumi.export("size", found.size)

    s = maloko.stack(program)
    s.up()
    assert s.id("taken") == "there"
    assert s.outputs("taken") == {"size": 2}
    assert s.outputs() == {"size": 3}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"stubs": {"RandomPet": dict}}, "no token"),
        ({"stubs": {PET: 3}}, "give a function of the inputs"),
        ({"plugins": "reel"}, "no choice"),
        ({"plugins": "real", "stubs": {PET: lambda _inputs: {}}}, "leave one of the two out"),
    ],
)
def test_stubs_that_make_no_sense_are_refused(maloko: Kit, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(MalokoError, match=told):
        maloko.stack(lambda: None, **settings)


def test_a_stub_that_returns_no_outputs_is_named(maloko: Kit) -> None:
    s = maloko.stack(lambda: RandomPet("pet") and None, stubs={PET: lambda _inputs: "cat"})
    with maloko.fails("pet", match="the stub of 'random:index/randomPet:RandomPet' returned 'cat'"):
        s.up()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@crash_everywhere(["kill", "raise_after"], sample=20)
def test_a_stack_with_a_package_survives_being_cut_off(maloko: Kit) -> None:
    def program() -> None:
        Greeting("greeting", RandomPet("pet", text="cat").text)

    s = maloko.stack(program)
    s.up()
    assert s.outputs("pet") == {"text": "cat"}
    assert s.outputs("greeting")["length"] == 3
