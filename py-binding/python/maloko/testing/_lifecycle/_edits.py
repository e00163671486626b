"""What an edit makes of a resource's inputs; which of them change is the engine's side's to say
(`engine-kit/src/lifecycle/edits.rs`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from maloko.testing._judgement import ask
from maloko.testing._laws._words import plain


def edited(
    now: Mapping[str, Any], drawn: Mapping[str, Any], extent: str, pick: int, unique: Collection[str] = ()
) -> dict[str, Any]:
    """The inputs `now` with as many of the drawn properties as the extent says; `pick` says which."""
    taken = ask("edit", edit=_edit(now, drawn, extent, pick, unique))
    then = {}
    for key in {**now, **drawn}:
        source = drawn if str(plain(key)) in taken else now
        if key in source:
            then[key] = source[key]
    return then


def nearest(
    now: Mapping[str, Any],
    examples: Sequence[Mapping[str, Any]],
    drawn: Mapping[str, Any],
    extent: str,
    pick: int,
    unique: Collection[str] = (),
) -> dict[str, Any]:
    """The same of examples that an author wrote down: they are taken whole."""
    number = ask("nearest_example", edit=_edit(now, drawn, extent, pick, unique), examples=plain(examples))
    return dict(drawn if number is None else examples[number])


def _edit(
    now: Mapping[str, Any], drawn: Mapping[str, Any], extent: str, pick: int, unique: Collection[str]
) -> dict[str, Any]:
    edit: dict[str, Any] = plain({"now": now, "drawn": drawn, "extent": extent, "pick": pick, "unique": sorted(unique)})
    return edit
