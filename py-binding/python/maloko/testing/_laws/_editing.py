"""Laws of check, diff, create and update: 1, 2, 4 to 7."""

from __future__ import annotations

import copy
import re
from typing import Any

from maloko.testing._direct import Direct, _bag
from maloko.testing._laws._compare import NOTHING, Difference, differences, without_id
from maloko.testing._laws._trial import NAME, Broken, Inputs, PassOver, Refused, Trial, entry_of, set_inputs
from maloko.testing._plan import PlanEntry
from maloko.testing._stack import Stack

AN_UPDATE = "inputs whose change makes an update"
A_REPLACEMENT = "inputs whose change makes a replacement"


def check_is_pure(trial: Trial, inputs: Inputs) -> None:
    """L1."""
    trial.need("check", "without one the inputs stay as they are")
    with Direct(trial.provider, config=trial.settings.config_for(trial.world)) as direct:
        _check_is_pure(trial, direct, inputs)


def _check_is_pure(trial: Trial, direct: Direct, inputs: Inputs) -> None:
    olds: dict[str, Any] = {}
    news = _bag(inputs, "inputs")
    checked = _checked(direct, olds, news)
    once = _bag(checked, "what check returned")
    for what, bag, kept in (("olds", olds, {}), ("news", news, _bag(inputs, "inputs"))):
        for difference in differences(kept, bag):
            trial.breaks(
                difference,
                expected="as it was given",
                found=f"in `{what}`, after check",
                advice="check changed its own argument: build a new dict, as in {**news, ...}",
            )
    twice = _bag(_checked(direct, copy.deepcopy(once), copy.deepcopy(once)), "what check returned")
    for difference in differences(once, twice):
        trial.breaks(
            difference,
            expected="what check returned first",
            found="after check of that",
            advice="check must leave alone what it has already brought into its form",
        )
    again = _bag(_checked(direct, copy.deepcopy(once), _bag(inputs, "inputs")), "what check returned")
    for difference in differences(once, again):
        trial.breaks(
            difference,
            expected="what check returned first",
            found="from the same inputs, with that as `olds`",
            advice="check must return the same for the same inputs: what it makes up is to be taken from `olds` later",
        )


def _checked(direct: Direct, olds: dict[str, Any], news: dict[str, Any]) -> Any:
    _, inputs, failures = direct._call("check", olds, news)
    if failures:
        raise Refused("; ".join(f"{name}: {reason}" for name, reason in failures))
    return inputs or {}


def second_up_does_nothing(trial: Trial, inputs: Inputs) -> None:
    """L2."""
    stack = trial.made(inputs)
    stays(trial, stack, "the same inputs, after create")


def stays(trial: Trial, stack: Stack, when: str) -> None:
    """Fails unless a plan for the same inputs is empty."""
    entry = entry_of(stack.preview())
    if entry.action == "same":
        return
    advice = (
        "diff is handed the outputs as `olds`: let create and update return every input that diff compares, "
        "as it was given"
    )
    for path, change in entry.changes.items():
        trial.breaks(
            Difference(path, change.new, NOTHING if change.old is None else change.old),
            expected=f"no change: {when}",
            found="in the state, so that the next up would " + entry.action,
            advice=advice,
        )
    raise Broken("(none that diff names)", f"no change: {when}", f"the next up would {entry.action}", advice)


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
    stays(trial, stack, "the same inputs, after update")


def _overlooked_nothing(trial: Trial, stack: Stack, first: Inputs, then: Inputs) -> None:
    """Where diff sees no change, update is never called: so what differs in the inputs must make no difference."""
    changed = {key for key in {**first, **then} if first.get(key, NOTHING) != then.get(key, NOTHING)}
    kept = _outs_of(stack)
    trial.renew()
    fresh = _outs_of(trial.made(then))
    for difference in differences(fresh, kept, trial.settings.volatile):
        if re.split(r"[.\[]", difference.path)[0] in changed:
            trial.breaks(
                difference,
                expected="what create makes of the new inputs, so that diff must see a change",
                found="still, because diff sees none",
                advice="let diff compare this property of `olds` and `news`",
            )


def update_ends_where_create_does(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L5."""
    stack = trial.made(first)
    if updated(stack, first, then).action == "same":
        raise PassOver(AN_UPDATE)
    edited_outs = _outs_of(stack)
    trial.renew()
    created = trial.made(then)
    for difference in differences(_outs_of(created), edited_outs, trial.settings.volatile):
        trial.breaks(
            difference,
            expected="what create makes of the same inputs",
            found="after an update to them",
            advice="let diff see every property that can change, let update pass it on, and return all outputs; or "
            "name what changes by itself in `volatile`",
        )


def _outs_of(stack: Stack) -> dict[str, Any]:
    outs: dict[str, Any] = without_id(stack.outputs(NAME), stack.id(NAME))
    return outs


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
            raise Broken(
                "id",
                "a new one, because " + (", ".join(entry.replaces) or "diff") + " replaces the resource",
                f"{after!r}, the one that it had",
                "the old object is deleted by its id after the new one was made: give the new one an id of its own, "
                "or return delete_before_replace=True",
            )
        return
    changed = ", ".join(entry.changes) or "diff"
    advice = (
        f"update must keep the object; where it cannot, let diff return replaces=[...] with what forces it ({changed})"
    )
    ids = trial.ids()
    if ids is not None and before not in ids:
        raise Broken("id", f"{before!r}, before and after an update", f"only {ids} in the world", advice)
    if trial.has("read"):
        stack.refresh()
        rows = stack.resources()
        found = rows[NAME]["id"] if NAME in rows else "nothing"
        if found != before:
            raise Broken("id", f"{before!r}, before and after an update", f"{found!r}, from read", advice)


def replaced_beside_the_old(trial: Trial, first: Inputs, then: Inputs) -> None:
    """L7."""
    if trial.world is None:
        from maloko.testing._laws._worlds import Needs

        raise Needs("`world`, to see what is left of a replacement")
    stack = trial.made(first)
    before = stack.id(NAME)
    if first == then:
        raise PassOver("two inputs that differ")
    entry = edited(stack, then)
    if entry.action != "replace":
        raise PassOver(A_REPLACEMENT)
    run = stack.run("up")
    reasons = ", ".join(entry.replaces) or "(none that diff names)"
    if run.outcome != "succeeded":
        if _refused_anyway(trial, then):
            raise PassOver(A_REPLACEMENT)
        order = "after the old one" if entry.delete_before_replace else "beside the old one"
        raise Broken(
            reasons,
            f"a replacement that works, with the new object made {order}",
            f"{type(run.failure()).__name__}: {run.failure()}",
            "let diff return delete_before_replace=True where both objects cannot exist at once",
        )
    ids = trial.ids()
    if stack.id(NAME) == before:
        raise PassOver(A_REPLACEMENT)  # law 6 has more to say of an id that stays
    if ids != [stack.id(NAME)]:
        raise Broken(
            reasons,
            f"the new object alone, ['{stack.id(NAME)}']",
            f"{ids} in the world after the replacement",
            "delete must remove the old object by its own id, and no other",
        )


def _refused_anyway(trial: Trial, inputs: Inputs) -> bool:
    """Does the provider refuse these inputs in an empty world, too?"""
    trial.renew()
    return trial.stack(inputs).run("up").outcome != "succeeded"
