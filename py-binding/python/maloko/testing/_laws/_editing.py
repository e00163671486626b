"""Laws of diff, create and update: 4 to 7."""

from __future__ import annotations

import re

from maloko.testing._laws._compare import NOTHING, differences_of
from maloko.testing._laws._trial import NAME, Broken, Inputs, PassOver, Refused, Trial, entry_of, made_of, set_inputs
from maloko.testing._laws._words import error_text
from maloko.testing._laws._worlds import Needs
from maloko.testing._operations._plan import PlanEntry
from maloko.testing._operations._stack import Stack

AN_UPDATE = "inputs whose change makes an update"
A_REPLACEMENT = "inputs whose change makes a replacement"


def stays(trial: Trial, stack: Stack, after: str) -> None:
    """Fails unless a plan for the same inputs is empty."""
    entry = entry_of(stack.preview())
    if entry.action == "same":
        return
    for path, change in sorted(entry.changes.items()):
        raise Broken("not-settled", after=after, action=entry.action, property=path, wanted=change.new, kept=change.old)
    raise Broken("not-settled", after=after, action=entry.action)


def edited(stack: Stack, inputs: Inputs) -> PlanEntry:
    """Edits the program; says what an up would do."""
    set_inputs(stack, inputs)
    run = stack.run("preview")
    if run.outcome != "succeeded":
        raise Refused(f"{run.error}") from run.failure()
    return entry_of(run.plan)


def updated(stack: Stack, first: Inputs, then: Inputs) -> PlanEntry:
    """Edits the program and deploys it. Passes over what replaces the resource."""
    if first == then:
        raise PassOver("two inputs that differ")
    entry = edited(stack, then)
    if entry.action == "replace":
        raise PassOver(AN_UPDATE)
    stack.up(settle=False)
    return entry


def diff_and_update_agree(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L4."""
    stack = trial.made(first)
    entry = updated(stack, first, then)
    if entry.action == "same":
        _overlooked_nothing(trial, stack, first, then)
        raise PassOver(AN_UPDATE)
    stays(trial, stack, "update")


def _overlooked_nothing(trial: Trial, stack: Stack, first: Inputs, then: Inputs) -> None:
    """Where diff sees no change, update is never called: so what differs in the inputs must make no difference."""
    changed = {key for key in {**first, **then} if first.get(key, NOTHING) != then.get(key, NOTHING)}
    kept = made_of(stack)
    trial.renew()
    fresh = made_of(trial.made(then))
    for difference in differences_of(fresh, kept, trial.settings.volatile):
        if re.split(r"[.\[]", difference.path)[0] in changed:
            raise Broken("overlooked", property=difference.path, fresh=difference.expected, kept=difference.found)


def update_ends_where_create_does(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L5."""
    stack = trial.made(first)
    if updated(stack, first, then).action == "same":
        raise PassOver(AN_UPDATE)
    found = made_of(stack)
    trial.renew()
    created = made_of(trial.made(then))
    for path, of_create, of_update in differences_of(created, found, trial.settings.volatile):
        raise Broken("ends-elsewhere", property=path, created=of_create, updated=of_update)


def new_id_only_with_replacement(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L6."""
    stack = trial.made(first)
    if first == then:
        raise PassOver("two inputs that differ")
    before = stack.id(NAME)
    entry = edited(stack, then)
    if entry.action == "same":
        raise PassOver(f"{AN_UPDATE}, or a replacement")
    run = stack.run("up")
    if run.outcome != "succeeded":
        # That a replacement fails is law 7's, that an update does is law 4's.
        raise PassOver(f"{AN_UPDATE}, or a replacement")
    after = stack.id(NAME)
    if entry.action == "replace":
        if before == after and not entry.delete_before_replace:
            raise Broken("same-id", replaces=entry.replaces, id=after)
        return
    changed = sorted(entry.changes)
    ids = trial.ids()
    if ids is not None and before not in ids:
        raise Broken("another-object", id=before, ids=ids, changed=changed)
    if trial.has("read"):
        stack.refresh()
        rows = stack.resources()
        found = rows[NAME]["id"] if NAME in rows else None
        if found != before:
            raise Broken("another-id", id=before, found=found, changed=changed)


def replaced_beside_the_old(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L7."""
    if trial.world is None:
        raise Needs("`world`, to see what is left of a replacement")
    stack = trial.made(first)
    before = stack.id(NAME)
    if first == then:
        raise PassOver("two inputs that differ")
    entry = edited(stack, then)
    if entry.action != "replace":
        raise PassOver(A_REPLACEMENT)
    run = stack.run("up")
    if run.outcome != "succeeded":
        if _refused_anyway(trial, then):
            raise PassOver(A_REPLACEMENT)
        raise Broken(
            "replacement-fails",
            replaces=entry.replaces,
            oldFirst=entry.delete_before_replace,
            error=error_text(run.failure()),
        )
    ids = trial.ids()
    if stack.id(NAME) == before:
        raise PassOver(A_REPLACEMENT)  # law 6 has more to say of an id that stays
    if ids != [stack.id(NAME)]:
        raise Broken("replacement-leaves", replaces=entry.replaces, id=stack.id(NAME), ids=ids)


def _refused_anyway(trial: Trial, inputs: Inputs) -> bool:
    """Does the provider refuse these inputs in an empty world, too?"""
    trial.renew()
    return trial.stack(inputs).run("up").outcome != "succeeded"
