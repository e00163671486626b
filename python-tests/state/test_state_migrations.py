"""The SDK's `state_migrations`: functions of the program that rewrite the state before it is compared."""

import json

import pulumi
from kit import Echo, Thing
from stacks import Stack


class Group(pulumi.ComponentResource):
    def __init__(self, name, opts=None):
        super().__init__("tests:index:Group", name, None, opts)


def migrated(stack: Stack, program, migration, **expected):
    """Runs a program whose first resource has the migration; the plan of the run."""

    def with_migration() -> None:
        program(pulumi.ResourceOptions(state_migrations=[migration]))

    preview = stack.run("update", with_migration, dry_run=True)
    result = stack.up(with_migration)
    assert preview.changes == result.changes == expected
    return result


def test_a_migration_rewrites_inputs_before_they_are_compared(stack: Stack) -> None:
    stack.up(lambda: Thing(Echo(), "a", {"size": 1, "token": pulumi.Output.secret("s3cret")}))
    seen = []

    def rename(args):
        seen.append(args.urn)
        (resource,) = args.old_state
        if "size" not in resource["inputs"]:
            return None
        resource["inputs"]["width"] = resource["inputs"].pop("size")
        resource["outputs"]["width"] = resource["outputs"].pop("size")
        assert "s3cret" in json.dumps(resource["inputs"]["token"])
        return pulumi.StateMigrationResult(new_state=[resource])

    def program(opts) -> None:
        Thing(Echo(), "a", {"width": 1, "token": pulumi.Output.secret("s3cret")}, opts)

    migrated(stack, program, rename, same=2)
    assert stack.resources()["a"]["inputs"]["width"] == 1
    assert "size" not in stack.resources()["a"]["inputs"]
    assert seen[0].endswith("::a")
    # It is called again, finds nothing to do, and leaves everything alone.
    migrated(stack, program, rename, same=2)
    assert len(seen) == 4
    assert "1b47061264138c4ac30d75fd1eb44270" in json.dumps(stack.resources()["a"]["inputs"]["token"])


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_migration_moves_a_child_and_references_follow(stack: Stack) -> None:
    def before() -> None:
        team = Group("team")
        child = Thing(Echo(), "child", {"n": 1}, pulumi.ResourceOptions(parent=team))
        Thing(Echo(), "after", {"n": 2}, pulumi.ResourceOptions(depends_on=[child]))

    stack.up(before)
    made = stack.resources()["child"]["id"]

    def rename(args):
        resources = args.old_state
        successors = {}
        for resource in resources:
            if resource["urn"].endswith("::child"):
                renamed = resource["urn"].removesuffix("child") + "renamed"
                successors[resource["urn"]] = renamed
                resource["urn"] = renamed
        return pulumi.StateMigrationResult(new_state=resources, successors=successors) if successors else None

    def program(opts) -> None:
        team = Group("team", opts)
        child = Thing(Echo(), "renamed", {"n": 1}, pulumi.ResourceOptions(parent=team))
        Thing(Echo(), "after", {"n": 2}, pulumi.ResourceOptions(depends_on=[child]))

    migrated(stack, program, rename, same=4)
    assert set(stack.resources()) == {"team", "renamed", "after"}
    assert stack.resources()["renamed"]["id"] == made


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_migration_that_forgets_an_object_is_refused(stack: Stack) -> None:
    stack.up(lambda: Thing(Echo(), "a", {"n": 1}))
    before = stack.resources()

    def forget(args):
        return pulumi.StateMigrationResult(new_state=[])

    result = stack.run(
        "update", lambda: Thing(Echo(), "a", {"n": 2}, pulumi.ResourceOptions(state_migrations=[forget]))
    )
    assert result.outcome == "failed"
    said = "".join(result.messages("error"))
    assert "the option `stateMigrations` of" in said
    assert "is left out: return it, or name what succeeds it" in said
    assert stack.resources() == before


def test_a_migration_that_raises_fails_the_run_with_its_error(stack: Stack) -> None:
    stack.up(lambda: Thing(Echo(), "a", {"n": 1}))

    def broken(args):
        raise ValueError("no such shape")

    result = stack.run(
        "update", lambda: Thing(Echo(), "a", {"n": 2}, pulumi.ResourceOptions(state_migrations=[broken]))
    )
    assert result.outcome == "failed"
    said = "".join(result.messages("error"))
    assert "a state migration of 'a' failed" in said
    assert "no such shape" in said
    assert stack.resources()["a"]["inputs"]["n"] == 1
