"""`ProviderLaws`: the laws that every provider is to keep, one test each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maloko.testing._laws._runner import LawResult, judge, laws
from maloko.testing._laws._settings import Settings
from maloko.testing._laws._words import error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest


def _test_of(law: str) -> Callable[[ProviderLaws, pytest.FixtureRequest], None]:
    def test(self: ProviderLaws, request: pytest.FixtureRequest) -> None:
        self._try(law, request)

    test.__doc__ = f"{law}."
    return test


class ProviderLaws:
    """Laws of a provider. A class that derives from it, and is called `Test...`, has one test for each law.

    A law that is waived, or lacks what it needs, is skipped, and says why. Tests are deterministic: `--maloko-seed=N`
    draws other examples.
    """

    provider: Any = None
    """The provider's class, or a function that makes a provider object. It is called with the world when it has a
    parameter without default, or one called `world`; else without arguments. Or a `Plugin`."""
    inputs: Any = None
    """Inputs of the resource: a Hypothesis strategy that makes dicts, or a list of dicts."""
    world: Any = None
    """What the provider talks to: a class or object with `objects()` (the ids of all that is there), and, for the laws
    that need them, `mutate_remote(id)`, `delete_remote(id)`, `reset()`, `calls` (a number of requests), `start()` and
    `stop()`."""
    config: Any = None
    """What `configure` is given: a dict (`Secret(value)` for what is secret), or a function of the world that makes
    one."""
    volatile: Any = frozenset()
    """Names of outputs that change by themselves, or that nobody can read back."""
    secret: Any = None
    """Names of inputs that are secret (law 12); an empty set says that there are none."""
    baseline: Any = None
    """What the previous release has left in a state (law 16): a file, beside the test's, or data. An exported
    deployment, or a list of `{"id": ..., "inputs": {...}, "outputs": {...}}`."""
    waive: Mapping[str, str] = {}
    """Laws that are not to hold, with the reason: `{"L13": "the API has no idempotency key"}`."""
    grace: float = 5.0
    """How long, in seconds, a method may go on after it was cancelled (law 14)."""
    examples: int = 10
    """How many examples most laws are tried on; some take a part or a multiple of it."""

    @classmethod
    def verdicts(cls, *names: str, seed: int | None = None) -> dict[str, LawResult]:
        """Tries the laws of these names (`L5`), or all, outside of a test; raises `MalokoError` for settings that make
        no sense."""
        known = laws()
        settings = Settings.of(cls, known)
        return {name: judge(known[name], settings, seed) for name in names or known}

    def _try(self, law: str, request: pytest.FixtureRequest) -> None:
        import pytest

        from maloko.testing.plugin import LAW_CAUSE

        seed, known = request.config.getoption("--maloko-seed", None), laws()
        result = judge(known[law], Settings.of(type(self), known), seed, f"pytest '{request.node.nodeid}'")
        if result.outcome in ("needs", "waived"):
            pytest.skip(result.text)
        if result.cause is not None:
            request.node.user_properties.append((LAW_CAUSE, error_text(result.cause)))
        if result.error is not None:
            __tracebackhide__ = True
            raise LawBroken(result.text) from result.error
        if result.outcome == "broken":
            pytest.fail(result.text, pytrace=False)

    test_l1_check_is_idempotent_and_pure = _test_of("L1")
    test_l2_a_second_up_does_nothing = _test_of("L2")
    test_l3_read_equals_the_outs = _test_of("L3")
    test_l4_diff_and_update_agree = _test_of("L4")
    test_l5_an_update_ends_where_a_create_does = _test_of("L5")
    test_l6_a_new_id_comes_with_a_replacement_only = _test_of("L6")
    test_l7_a_replacement_is_made_beside_the_old_object = _test_of("L7")
    test_l8_what_is_deleted_is_gone_also_twice = _test_of("L8")
    test_l9_an_import_needs_no_change = _test_of("L9")
    test_l10_planning_touches_nothing = _test_of("L10")
    test_l11_drift_is_seen = _test_of("L11")
    test_l12_secrets_stay_secret = _test_of("L12")
    test_l13_a_create_that_is_cut_off_makes_one_object = _test_of("L13")
    test_l14_a_cancelled_call_ends = _test_of("L14")
    test_l15_results_are_portable = _test_of("L15")
    test_l16_outs_of_the_previous_release_still_fit = _test_of("L16")
    test_l17_resources_do_not_mix = _test_of("L17")


class LawBroken(AssertionError):  # noqa: N818 it is what has become of the law
    """A law does not hold for a provider; the message says where, and with which inputs."""

    __module__ = "maloko.testing"
