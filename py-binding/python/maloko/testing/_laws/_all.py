"""The laws, in order."""

from __future__ import annotations

from maloko.testing._laws import _conduct, _editing, _reading
from maloko.testing._laws._host import tried_by_engine
from maloko.testing._laws._runner import Law

LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        Law("L1", "check is idempotent and pure", 1, tried_by_engine("L1"), 3),
        Law("L2", "a second up does nothing", 1, tried_by_engine("L2")),
        Law("L3", "read equals the outs", 2, _reading.read_equals_the_outs),
        Law("L4", "diff and update agree", 2, _editing.diff_and_update_agree),
        Law("L5", "an update ends where a create does", 2, _editing.update_ends_where_create_does),
        Law("L6", "a new id comes with a replacement only", 2, _editing.new_id_only_with_replacement),
        Law("L7", "a replacement is made beside the old object", 2, _editing.replaced_beside_the_old),
        Law("L8", "what is deleted is gone, also twice", 1, tried_by_engine("L8"), 0.5),
        Law("L9", "an import needs no change", 1, _reading.import_needs_no_change),
        Law("L10", "planning touches nothing", 2, _conduct.planning_touches_nothing, 0.5),
        Law("L11", "drift is seen", 1, _conduct.drift_is_seen, 0.5),
        Law("L12", "secrets stay secret", 2, _conduct.secrets_stay_secret, 0.5),
        Law("L13", "a create that is cut off makes one object", 1, _conduct.one_object_after_all, 0.5),
        Law("L14", "a cancelled call ends", 1, _conduct.cancelled_call_ends, 0.3),
        Law("L15", "results are portable", 1, _reading.results_are_portable),
        Law(
            "L16",
            "outs of the previous release still fit",
            1,
            _reading.previous_outs_still_fit,
            0.1,
            shows_inputs=False,
        ),
        Law("L17", "resources do not mix", 8, _conduct.resources_do_not_mix, 0.5),
    )
}
