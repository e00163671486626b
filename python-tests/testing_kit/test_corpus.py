"""The corpus of providers (`engine-kit/corpus`): the laws judge each as it says, in both languages."""

import threading
from typing import Any

import pytest
from corpus import CASES, INPUTS, PREVIOUS, Box, Props, Shop, provider_of
from night import by_day, rounds

from maloko.testing import ProviderLaws
from maloko.testing._judgement import ask

LAWS = [law["name"] for law in ask("laws")]


def judged(case: Props) -> dict[str, Any]:
    """What the laws say of a case's provider. L14 waits on the machine's clock: only cases that name it try it."""
    provider, settings = provider_of(case), case.get("settings", {})
    no_world = settings.get("world") is False
    attributes = {
        "provider": staticmethod(lambda: provider(Shop())) if no_world else provider,
        "world": None if no_world else Shop,
        "inputs": case.get("inputs", INPUTS),
        "secret": set(settings.get("secret", ())),
        "volatile": set(settings.get("volatile", ())),
        "waive": settings.get("waive", {}),
        "baseline": PREVIOUS,
        # What ends has time for it on a machine that is busy; what does not end is not waited for.
        "grace": 0.2 if case.get("law") == "L14" else 30.0,
        "examples": rounds(1, 2),
        "__module__": __name__,
    }
    Box.let_go.clear()
    try:
        wanted = case.get("laws") or [law for law in LAWS if law != "L14"]
        return type("Box", (ProviderLaws,), attributes).verdicts(*wanted)  # type: ignore[attr-defined,no-any-return]
    finally:
        Box.let_go.set()
        for thread in threading.enumerate():
            if thread.name == "maloko-law-14":
                thread.join()


def lines(text: str) -> list[str]:
    """What is said, without the line that says how it is run again: each language has its own."""
    return [line for line in text.splitlines() if not line.strip().startswith("again: ")]


# The first that breaks each law that Node has not by day (the procedures are in Rust), the first good one, and the
# first that leaves laws out. In `make nightly` all of them.
KINDS = [case.get("law", "left out" if "skips" in case else "good") for case in CASES]
IN_NODE = {law for place, law in enumerate(LAWS) if place % 3 == 0}
TRIED = by_day(CASES, lambda _, place: KINDS[place] not in IN_NODE and KINDS.index(KINDS[place]) == place)


@pytest.mark.parametrize("case", TRIED, ids=[case["name"] for case in CASES])
def test_the_laws_judge_each_provider_of_the_corpus_as_it_says(case: Props) -> None:
    verdicts = judged(case)
    assert [law for law, it in verdicts.items() if it.outcome == "broken"] == case["breaks"]
    if "law" in case:
        assert lines(verdicts[case["law"]].text) == case["says"]
    if "skips" in case:
        skips = {law: it.text for law, it in verdicts.items() if it.outcome in ("needs", "waived")}
        assert skips == case["skips"]


def test_the_corpus_has_forty_faulty_providers_and_ten_good_ones() -> None:
    faulty = [case for case in CASES if "law" in case]
    assert len(faulty) >= 40
    assert len(CASES) - len(faulty) >= 10
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert {case["law"] for case in faulty} == set(LAWS)
