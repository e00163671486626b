"""Policies that look at what a stack of the testing kit does: objects of the official package, and folders of packs."""

from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.dynamic import CreateResult, Resource, ResourceProvider
from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationPolicy,
)

from maloko import MalokoError
from maloko.testing import SECRET, Kit, RunFailed

PACK = """
from pulumi_policy import *

def look(args, report):
    if args.name == "b":
        report("here, too")

PolicyPack("house", policies=[ResourceValidationPolicy("look", "d", look)])
"""


class Things(ResourceProvider):
    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("1", props)


class Thing(Resource):
    def __init__(self, name: str, **props: Any) -> None:
        super().__init__(Things(), name, props)


def program() -> None:
    Thing("a", text="long enough", password=pulumi.Output.secret("hush"))
    Thing("b", text="short")


def too_short(args: ResourceValidationArgs, report: Any) -> None:
    least = args.get_config().get("least")
    if least is not None and len(args.props.get("text", "x" * 100)) < least:
        report(f"{pulumi.get_project()}: fewer than {least:g} letters")


LEAST = PolicyConfigSchema(properties={"least": {"type": "number", "default": 6}})
SHORT = ResourceValidationPolicy("short", "Texts are long.", too_short, config_schema=LEAST)
MANDATORY = ResourceValidationPolicy("short", "Texts are long.", too_short, EnforcementLevel.MANDATORY, LEAST)


def test_policies_of_a_test_look_at_every_resource(maloko: Kit) -> None:
    s = maloko.stack(program)
    [found] = s.up(policies=[SHORT]).run.violations
    assert (found.policy, found.pack, found.level, found.name) == ("short", "policies", "advisory", "b")
    assert found.message == "Texts are long.\nproject: fewer than 6 letters"


def test_a_mandatory_policy_fails_the_run_and_nothing_is_made(maloko: Kit) -> None:
    s = maloko.stack(program)
    with pytest.raises(RunFailed, match=r"mandatory policies are violated: short \(b\): Texts are long"):
        s.preview(policies=[MANDATORY])
    run = s.run("up", policies=[MANDATORY])
    assert run.outcome == "failed"
    assert [found.name for found in run.violations] == ["b"]
    assert "b" not in s.resources()


def test_policies_of_a_test_are_configured(maloko: Kit) -> None:
    s = maloko.stack(program)
    config = {"short": {"least": 20, "enforcementLevel": "advisory"}}
    assert {found.name for found in s.preview(policies=[MANDATORY], policy_config=config).run.violations} == {"a", "b"}
    assert s.preview(policies=[MANDATORY], policy_config={"all": "disabled"}).run.violations == []
    with pytest.raises(MalokoError, match="names 'shorter', which is none of its policies"):
        s.preview(policies=[SHORT], policy_config={"shorter": "advisory"})


def test_a_policy_rewrites_what_a_stack_makes(maloko: Kit) -> None:
    def longer(args: ResourceValidationArgs) -> dict[str, Any] | None:
        return {**args.props, "text": "long enough"} if args.props.get("text") == "short" else None

    policy = ResourceValidationPolicy("longer", "d", remediate=longer, enforcement_level=EnforcementLevel.REMEDIATE)
    s = maloko.stack(program)
    plan = s.up(policies=[policy], settle=False)
    assert s.outputs("b")["text"] == "long enough"
    [rewritten] = plan.run.remediations
    assert (rewritten.policy, rewritten.name) == ("longer", "b")
    assert (rewritten.before["text"], rewritten.after["text"]) == ("short", "long enough")


def test_a_policy_looks_at_the_whole_stack(maloko: Kit) -> None:
    async def count(args: Any, report: Any) -> None:
        things = [it for it in args.resources if it.resource_type.endswith(":Resource")]
        report(f"{len(things)} things")

    s = maloko.stack(program)
    [found] = s.up(policies=[StackValidationPolicy("count", "d", count)]).run.violations
    assert found.message == "d\n2 things"


def test_a_policy_that_raises_ends_the_run_with_its_words(maloko: Kit) -> None:
    def broken(_args: ResourceValidationArgs, _report: Any) -> None:
        raise ValueError("out of paper")

    run = maloko.stack(program).run("preview", policies=[ResourceValidationPolicy("broken", "d", broken)])
    assert run.outcome == "failed"
    assert "out of paper" in (run.error or "")


def test_policies_see_that_a_value_is_secret_and_tell_nobody(maloko: Kit) -> None:
    def look(args: ResourceValidationArgs, report: Any) -> None:
        if "password" in args.props:
            report(f"its password is {args.props['password']}")

    def same(args: ResourceValidationArgs) -> dict[str, Any] | None:
        return {**args.props, "text": "new"} if "password" in args.props else None

    policies = [
        ResourceValidationPolicy("look", "d", look),
        ResourceValidationPolicy("same", "d", remediate=same, enforcement_level=EnforcementLevel.REMEDIATE),
    ]
    run = maloko.stack(program).preview(policies=policies).run
    assert "hush" not in run.violations[0].message
    assert run.remediations[0].before["password"] is SECRET


def test_folders_of_packs_look_beside_the_policies_of_a_test(maloko: Kit, tmp_path: Path) -> None:
    (tmp_path / "PulumiPolicy.yaml").write_text("runtime: python\n")
    (tmp_path / "__main__.py").write_text(PACK)
    run = maloko.stack(program).preview(policies=[SHORT, tmp_path]).run
    found = {it.pack: (it.name, it.message) for it in run.violations}
    assert found == {
        "policies": ("b", "Texts are long.\nproject: fewer than 6 letters"),
        "house": ("b", "d\nhere, too"),
    }


def test_what_is_no_policy_is_refused(maloko: Kit) -> None:
    s = maloko.stack(program)
    with pytest.raises(MalokoError, match="takes policies of pulumi_policy and folders of packs, not 5"):
        s.preview(policies=[5])
    with pytest.raises(TypeError, match=r"destroy.. has no option 'policies'"):
        s.destroy(policies=[SHORT])
    with pytest.raises(TypeError, match="for no policies"):
        s.preview(policy_config={})
    with pytest.raises(MalokoError, match=r"no PulumiPolicy\.yaml"):
        s.preview(policies=["not-there"])
