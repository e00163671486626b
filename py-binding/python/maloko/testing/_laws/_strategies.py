"""Examples from Hypothesis strategies. Loaded only where a strategy was given."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def examples_of(inputs: st.SearchStrategy[Any], arity: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """The inputs of one example."""
    if arity == 1:
        return st.tuples(inputs)
    if arity == 2:
        return edits(inputs)
    return st.lists(inputs, min_size=2, max_size=arity).map(tuple)


@st.composite
def edits(draw: Any, inputs: st.SearchStrategy[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs, and what an edit of some of their properties makes of them."""
    first, other = draw(inputs), draw(inputs)
    keys = sorted({*first, *other})
    if not keys:
        return first, other
    # One property more often than all: where every edit changed everything, each would replace the resource.
    changed = draw(st.sets(st.sampled_from(keys), min_size=1, max_size=len(keys)))
    then = {}
    for key in keys:
        source = other if key in changed else first
        if key in source:
            then[key] = source[key]
    return first, then
