"""`fleet adopt`: gives stacks that exist the key of the fleet."""

from __future__ import annotations

from maloko._errors import MalokoError
from maloko.fleet._beside import adopt_key
from maloko.fleet._commands.request import Request, fleet_of
from maloko.fleet._commands.texts import say

_NAMED = 3


def run(asked: Request) -> int:
    """Goes round the stacks one by one; what fails is named at the end, and the others have the key."""
    plan = fleet_of(asked).plan("up")
    if plan["key"] != "fleet":
        raise MalokoError("the fleet's stacks have keys of their own: write `key: fleet` into the fleet's file first")
    if not asked.get("yes"):
        raise MalokoError(
            f"one passphrase will open all {len(plan['stacks'])} stacks: add --yes if that is what you want"
        )
    failed = []
    for stack in plan["stacks"]:
        message = adopt_key(stack, plan)
        if message:
            failed.append(f"{stack['id']}: {message}")
    say(f"{len(plan['stacks']) - len(failed)} of {len(plan['stacks'])} stacks have the key of the fleet")
    for text in failed[:_NAMED]:
        say(f"  {text}")
    return 1 if failed else 0
