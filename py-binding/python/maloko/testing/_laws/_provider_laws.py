"""`ProviderLaws`: the laws that every provider is to keep, one test each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maloko.testing._laws._runner import Verdict, judge, laws
from maloko.testing._laws._settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest


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
    def verdicts(cls, *names: str, seed: int | None = None) -> dict[str, Verdict]:
        """Tries the laws of these names (`L5`), or all, outside of a test; raises `MalokoError` for settings that make
        no sense."""
        known = laws()
        settings = Settings.of(cls, known)
        return {name: judge(known[name], settings, seed) for name in names or known}

    def _try(self, law: str, request: pytest.FixtureRequest) -> None:
        import pytest

        seed, known = request.config.getoption("--maloko-seed", None), laws()
        verdict = judge(known[law], Settings.of(type(self), known), seed, f"pytest '{request.node.nodeid}'")
        if verdict.outcome in ("needs", "waived"):
            pytest.skip(verdict.text)
        if verdict.error is not None:
            __tracebackhide__ = True
            raise LawBroken(verdict.text) from verdict.error
        if verdict.outcome == "broken":
            pytest.fail(verdict.text, pytrace=False)

    def test_l1_check_is_idempotent_and_pure(self, request: pytest.FixtureRequest) -> None:
        """L1."""
        self._try("L1", request)

    def test_l2_a_second_up_does_nothing(self, request: pytest.FixtureRequest) -> None:
        """L2."""
        self._try("L2", request)

    def test_l3_read_equals_the_outs(self, request: pytest.FixtureRequest) -> None:
        """L3."""
        self._try("L3", request)

    def test_l4_diff_and_update_agree(self, request: pytest.FixtureRequest) -> None:
        """L4."""
        self._try("L4", request)

    def test_l5_an_update_ends_where_a_create_does(self, request: pytest.FixtureRequest) -> None:
        """L5."""
        self._try("L5", request)

    def test_l6_a_new_id_comes_with_a_replacement_only(self, request: pytest.FixtureRequest) -> None:
        """L6."""
        self._try("L6", request)

    def test_l7_a_replacement_is_made_beside_the_old_object(self, request: pytest.FixtureRequest) -> None:
        """L7."""
        self._try("L7", request)

    def test_l8_what_is_deleted_is_gone_also_twice(self, request: pytest.FixtureRequest) -> None:
        """L8."""
        self._try("L8", request)

    def test_l9_an_import_needs_no_change(self, request: pytest.FixtureRequest) -> None:
        """L9."""
        self._try("L9", request)

    def test_l10_planning_touches_nothing(self, request: pytest.FixtureRequest) -> None:
        """L10."""
        self._try("L10", request)

    def test_l11_drift_is_seen(self, request: pytest.FixtureRequest) -> None:
        """L11."""
        self._try("L11", request)

    def test_l12_secrets_stay_secret(self, request: pytest.FixtureRequest) -> None:
        """L12."""
        self._try("L12", request)

    def test_l13_a_create_that_is_cut_off_makes_one_object(self, request: pytest.FixtureRequest) -> None:
        """L13."""
        self._try("L13", request)

    def test_l14_a_cancelled_call_ends(self, request: pytest.FixtureRequest) -> None:
        """L14."""
        self._try("L14", request)

    def test_l15_results_are_portable(self, request: pytest.FixtureRequest) -> None:
        """L15."""
        self._try("L15", request)

    def test_l16_outs_of_the_previous_release_still_fit(self, request: pytest.FixtureRequest) -> None:
        """L16."""
        self._try("L16", request)

    def test_l17_resources_do_not_mix(self, request: pytest.FixtureRequest) -> None:
        """L17."""
        self._try("L17", request)


class LawBroken(AssertionError):  # noqa: N818 it is what has become of the law
    """A law does not hold for a provider; the message says where, and with which inputs."""

    __module__ = "maloko.testing"
