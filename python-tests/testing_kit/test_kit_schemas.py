"""Stubs of packages that go by a schema: what does not fit is refused as the plugin would refuse it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from maloko import MalokoError
from maloko.testing import Kit

pytest_plugins = ["pytester"]

BED = "garden:index:Bed"
LOOK = "garden:index:look"
FENCE = "garden:index:Fence"
SCHEMA = {
    "name": "garden",
    "resources": {
        BED: {
            "inputProperties": {
                "length": {"type": "integer"},
                "plants": {"type": "array", "items": {"type": "string"}},
            },
            "requiredInputs": ["length"],
            "properties": {"length": {"type": "integer"}, "area": {"type": "number"}},
        },
        FENCE: {
            "isComponent": True,
            "inputProperties": {"height": {"type": "number"}},
            "methods": {"paint": f"{FENCE}/paint"},
        },
    },
    "functions": {
        LOOK: {
            "inputs": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
            "outputs": {"properties": {"legs": {"type": "integer"}}},
        },
        f"{FENCE}/paint": {
            "inputs": {
                "properties": {"__self__": {"$ref": f"#/resources/{FENCE}"}, "colour": {"type": "string"}},
                "required": ["__self__", "colour"],
            },
            "outputs": {"properties": {"litres": {"type": "number"}}},
        },
    },
}


class Bed(pulumi.CustomResource):
    area: pulumi.Output[float]

    def __init__(self, name: str, **props: Any) -> None:
        super().__init__(BED, name, {**props, "area": None})


class Fence(pulumi.ComponentResource):
    def __init__(self, name: str, **props: Any) -> None:
        super().__init__(FENCE, name, props, remote=True)


@pytest.fixture
def schema(tmp_path: Path) -> str:
    file = tmp_path / "garden.json"
    file.write_text(json.dumps(SCHEMA), encoding="utf-8")
    return str(file)


def test_what_fits_its_schema_is_stubbed_as_ever(maloko: Kit, schema: str) -> None:
    def program() -> None:
        bed = Bed("bed", length=pulumi.Output.secret(2), plants=["fern"])
        pulumi.export("area", bed.area)
        pulumi.export("look", dict(pulumi.runtime.invoke(LOOK, {"name": "cat"}).value))
        fence = Fence("fence", height=1.5)
        pulumi.export("paint", pulumi.runtime.call(f"{FENCE}/paint", {"colour": "red"}, res=fence))

    stubs = {
        BED: lambda inputs: {"area": inputs["length"] * 1.5},
        LOOK: lambda _arguments: {"legs": 4},
        f"{FENCE}/paint": lambda _arguments: {"litres": 2},
    }
    s = maloko.stack(program, schemas=[schema], stubs=stubs)
    s.up()
    assert s.outputs() == {"area": 3, "look": {"legs": 4}, "paint": {"litres": 2}}


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (lambda: Bed("bed", length=2, lenght=3), r"property lenght is not valid.* did you mean 'length'\?"),
        (lambda: Bed("bed"), "property length is not valid: it is missing"),
        (lambda: Bed("bed", length="two"), "property length is not valid: it is a string, .* wants a whole number"),
        (lambda: Bed("bed", length=2, plants=[1]), r"property plants\[0\] is not valid: it is a number"),
        (lambda: pulumi.runtime.invoke(LOOK, {"nme": "cat"}), "no such property; did you mean 'name'"),
        (lambda: Fence("fence", height="high"), "'height': it is a string, .* wants a number"),
        (
            lambda: Bets("bet"),
            "the schema of 'garden' has no such resource or function; did you mean 'garden:index:Bed'",
        ),
    ],
)
def test_what_a_plugin_would_refuse_is_refused(maloko: Kit, schema: str, program: Callable[[], Any], told: str) -> None:
    s = maloko.stack(lambda: program() and None, schemas=[schema])
    for operation in (s.preview, s.up):
        with maloko.fails(match=told):
            operation()
    assert s.resources() == {}


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            lambda: pulumi.runtime.invoke("garden:index:lok", {}),
            r"invoke of garden:index:lok failed: .* did you mean 'garden:index:look'\?(?! \()",
        ),
        (
            lambda: pulumi.runtime.call(f"{FENCE}/pant", {}, res=Fence("fence", height=1.5)),
            r"call to function 'garden:index:Fence/pant' failed: .* did you mean 'garden:index:Fence/paint'\?(?! \()",
        ),
    ],
)
def test_a_function_that_fails_of_no_property_names_none(
    maloko: Kit, schema: str, program: Callable[[], Any], told: str
) -> None:
    with maloko.fails(match=told):
        maloko.stack(lambda: program() and None, schemas=[schema]).up()


class Bets(pulumi.CustomResource):
    def __init__(self, name: str) -> None:
        super().__init__("garden:index:Bet", name, {})


def test_what_a_stub_returns_has_to_fit_as_well(maloko: Kit, schema: str) -> None:
    s = maloko.stack(lambda: Bed("bed", length=2) and None, schemas=[schema], stubs={BED: lambda _inputs: {"aera": 3}})
    with maloko.fails("bed", match=r"the stub of 'garden:index:Bed' returned what does not fit: 'aera'.* 'area'\?"):
        s.up()
    with pytest.raises(MalokoError, match=r"a stub is for 'garden:index:Beds'.* did you mean 'garden:index:Bed'\?"):
        maloko.stack(lambda: None, schemas=[schema], stubs={f"{BED}s": lambda _inputs: {}}).up()


def test_secrets_are_looked_into_and_not_told(maloko: Kit, schema: str) -> None:
    s = maloko.stack(lambda: Bed("bed", length=pulumi.Output.secret("hunter2")) and None, schemas=[schema])
    with maloko.fails("bed", match="it is a string") as failure:
        s.up()
    assert "hunter2" not in str(failure.error)


def test_schemas_of_all_stacks_are_those_that_the_run_names(
    pytester: pytest.Pytester, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile("""
        import pulumi

        class Bed(pulumi.CustomResource):
            def __init__(self, name):
                super().__init__("garden:index:Bed", name, {})

        def test_it(maloko):
            maloko.stack(lambda: Bed("bed") and None).up()

        def test_its_own_word_counts(maloko):
            maloko.stack(lambda: Bed("bed") and None, schemas=[]).up()
    """)
    told = pytester.runpytest_inprocess(f"--maloko-schemas={schema}")
    told.assert_outcomes(passed=1, failed=1)
    told.stdout.fnmatch_lines(["*property length is not valid*"])
    pytester.makeini(f"[pytest]\nmaloko_schemas = {Path(schema).parent}\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)
    pytester.makeini("[pytest]\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=2)
    for place in (schema, os.pathsep.join(["", str(Path(schema).parent)])):
        monkeypatch.setenv("MALOKO_SCHEMAS", place)
        pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)
    told = pytester.runpytest_inprocess("--maloko-schemas=nowhere.json")
    told.stdout.fnmatch_lines(["*nowhere.json cannot be read*"])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"schemas": "garden.json"}, "no list"),
        ({"schemas": ["garden.json"], "plugins": "real"}, "leave one of the two out"),
        ({"schemas": ["nowhere.json"]}, "nowhere.json cannot be read"),
    ],
)
def test_schemas_that_make_no_sense_are_refused(maloko: Kit, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(MalokoError, match=told):
        maloko.stack(lambda: None, **settings).up()
