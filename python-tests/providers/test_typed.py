"""Providers whose inputs and outputs have declared types."""

import dataclasses
import enum
from typing import Any, Optional

import pydantic
import pytest
from kit import Thing
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, UpdateResult
from stacks import Stack

import maloko
from maloko import TypedProvider


class Kind(enum.Enum):
    FIFO = "fifo"
    PLAIN = "plain"


@dataclasses.dataclass
class Consumer:
    host: str
    port: int | None = None


@dataclasses.dataclass
class QueueInputs:
    title: str
    retention: int = 60
    kind: Kind = Kind.PLAIN
    consumers: list[Consumer] = dataclasses.field(default_factory=list)
    labels: dict[str, str] | None = None


@dataclasses.dataclass
class QueueOutputs(QueueInputs):
    url: str = ""


class QueueProvider(TypedProvider[QueueInputs, QueueOutputs]):
    def create(self, inputs: QueueInputs) -> CreateResult:
        seen.append(inputs)
        return CreateResult(inputs.title, QueueOutputs(**vars(inputs), url="made"))

    def diff(self, _id, olds, news):
        seen.append((olds, news))
        return DiffResult(changes=olds.retention != news.retention)

    async def update(self, _id, olds, news):
        return UpdateResult(QueueOutputs(**vars(news), url=olds.url + "!"))

    def read(self, id_, props):
        return ReadResult(id_, dataclasses.replace(props, url="read"))

    def delete(self, id_, props):
        seen.append(("deleted", id_, props.url))


seen: list = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    seen.clear()


def test_a_typed_provider_gets_and_returns_objects(stack: Stack) -> None:
    def program(retention):
        props = {"title": "q", "retention": retention, "kind": "fifo", "consumers": [{"host": "h", "port": 1}]}
        return lambda: Thing(QueueProvider(), "a", {**props, "url": None}) and None

    stack.up(program(5))
    made = QueueInputs("q", 5, Kind.FIFO, [Consumer("h", 1)])
    assert seen == [made]
    assert type(seen[0].retention) is int
    stack.up(program(6))
    assert seen[1] == (QueueOutputs(**vars(made), url="made"), dataclasses.replace(made, retention=6))
    assert stack.resources()["a"]["outputs"]["url"] == "made!"
    assert stack.resources()["a"]["outputs"]["kind"] == "fifo"
    stack.refresh(program(6))
    assert stack.resources()["a"]["outputs"]["url"] == "read"
    stack.destroy(program(6))
    assert seen[-1] == ("deleted", "q", "read")


@pytest.mark.parametrize(
    ("props", "reasons"),
    [
        ({}, ["title", "is missing"]),
        ({"title": 1}, ["title", "is a number; it must be a text"]),
        ({"title": "q", "retention": 1.5}, ["retention", "is a number with a fraction; it must be a whole number"]),
        ({"title": "q", "retention": True}, ["retention", "is true or false; it must be a whole number"]),
        ({"title": "q", "kind": "odd"}, ["kind", "must be one of 'fifo', 'plain'"]),
        ({"title": "q", "consumers": [{"host": "h"}, {"port": 2}]}, ["consumers[1].host", "is missing"]),
        ({"title": "q", "labels": {"a": 1}}, ["labels.a", "is a number; it must be a text"]),
        ({"title": "q", "colour": "red"}, ["colour", "QueueInputs has no such field"]),
    ],
)
def test_inputs_that_do_not_fit_are_refused_with_their_property(stack: Stack, props, reasons) -> None:
    result = stack.run("update", lambda: Thing(QueueProvider(), "a", props))
    assert result.outcome == "failed"
    said = "\n".join(result.messages("error"))
    assert all(reason in said for reason in reasons), said
    assert seen == []


def test_a_typed_method_can_be_called_with_objects(stack: Stack) -> None:
    result = QueueProvider().create(QueueInputs("q"))
    assert isinstance(result, CreateResult)
    assert result.outs == QueueOutputs("q", url="made")


def test_a_typed_failure_in_part_keeps_the_object(stack: Stack) -> None:
    class Starting(QueueProvider):
        def create(self, inputs):
            raise maloko.PartialFailure("half", QueueOutputs("q", url="none"), ["no answer"])

    assert stack.run("update", lambda: Thing(Starting(), "a", {"title": "q"})).outcome == "failed"
    assert stack.resources()["a"]["outputs"]["url"] == "none"


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_a_typed_provider_without_types_is_an_error_that_says_how(stack: Stack) -> None:
    class Bare(TypedProvider):
        def create(self, inputs):
            return CreateResult("made", {})

    result = stack.run("update", lambda: Thing(Bare(), "a"))
    assert "class Bare(TypedProvider[In, Out])" in "\n".join(result.messages("error"))
    with pytest.raises(TypeError, match="is neither a dataclass nor a pydantic model"):

        class Odd(TypedProvider[dict, QueueOutputs]):
            pass


class Model(pydantic.BaseModel):
    title: str
    retention: int = pydantic.Field(60, ge=60)


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_models_that_check_themselves_do_so(stack: Stack) -> None:
    class Modelled(TypedProvider[Model, Model]):
        def create(self, inputs):
            seen.append(inputs)
            return CreateResult("made", inputs)

    stack.up(lambda: Thing(Modelled(), "a", {"title": "q"}))
    assert seen == [Model(title="q")]
    assert stack.resources()["a"]["outputs"]["retention"] == 60
    result = stack.run("update", lambda: Thing(Modelled(), "b", {"title": "q", "retention": 5}))
    said = "\n".join(result.messages("error"))
    assert "retention" in said
    assert "greater than or equal to 60" in said


class Settings(pydantic.BaseModel):
    size: int
    label: str


class Later(Model):
    settings: Settings
    owner: str


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_stored_outputs_that_lack_fields_of_a_model_are_converted_all_the_same(stack: Stack) -> None:
    class Earlier(maloko.TypedProvider[Model, Model]):
        def create(self, inputs):
            return CreateResult("made", {"title": inputs.title, "settings": {"size": 2.0}, "retention": 61.0})

    class Present(maloko.TypedProvider[Model, Later]):
        def diff(self, id_, outputs, inputs):
            seen.append((outputs.owner, outputs.settings.size, outputs.settings.label, type(outputs.retention)))
            return DiffResult(changes=False)

    stack.up(lambda: Thing(Earlier(), "a", {"title": "q"}))
    stack.up(lambda: Thing(Present(), "a", {"title": "p"}))
    assert seen == [(None, 2, None, int)]


@dataclasses.dataclass
class Loose:
    """What may be missing, by each way to say so."""

    owner: str | None
    colour: Optional[str]  # noqa: UP045  the other way to write it
    extra: Any
    sizes: list[int | None]
    either: int | list[str]


class LooseProvider(TypedProvider[Loose, Loose]):
    def create(self, inputs):
        seen.append(inputs)
        return CreateResult("made", inputs)


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_what_may_be_none_may_be_missing_and_each_type_of_a_union_fits(stack: Stack) -> None:
    stack.up(lambda: Thing(LooseProvider(), "a", {"sizes": [1, None], "either": ["x"]}))
    full = {"owner": "o", "colour": "red", "extra": {"n": 1.5}, "sizes": [], "either": 2}
    stack.up(lambda: Thing(LooseProvider(), "b", full))
    assert seen == [Loose(None, None, None, [1, None], ["x"]), Loose(**full)]


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
@pytest.mark.parametrize(
    ("props", "reason"),
    [
        ({"owner": 1}, "owner: is a number; it must be a text"),
        ({"colour": 1}, "colour: is a number; it must be a text"),
        ({"sizes": [1, "x"]}, "sizes[1]: is a text; it must be a whole number"),
        ({"either": "x"}, "either: is a text; it must be a whole number or a list"),
    ],
)
def test_what_may_be_none_is_nothing_else(props, reason) -> None:
    checked = LooseProvider().check({}, {"sizes": [], "either": 1, **props})
    assert [f"{failure.property}: {failure.reason}" for failure in checked.failures] == [reason]


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_a_member_that_is_none_is_a_missing_one(stack: Stack) -> None:
    QueueProvider().create({"title": "q", "retention": None, "gone": None})
    QueueProvider().diff("q", {"retention": 5}, {"title": "q"})
    assert seen == [QueueInputs("q"), (QueueOutputs(None, 5), QueueInputs("q"))]

    class Modelled(TypedProvider[Model, Model]):
        def create(self, inputs):
            return CreateResult("made", inputs)

    assert Modelled().create({"title": "q", "retention": None}).outs == {"title": "q", "retention": 60}
