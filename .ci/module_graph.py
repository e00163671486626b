#!/usr/bin/env python3
"""Fails where the duties of a Rust crate depend on each other in a circle, or a run names what is around it.

A duty is a folder, or a file that stands alone, of a crate's `src`. In a folder the files are compared as well, but for
its `mod.rs`, which belongs to all of them. A duty depends on another one where a file of it names something of the
other (`use crate::state::Session`), or calls a method that the other adds to a type whose `impl` blocks lie in several
files (`self.settle()` there, and `context.settle()` where that type is `Context`). Tests may name anything.

A run (`engine-core/src/driver` without `outside`) has no thread, lock, clock, host or disk: it may not even name them.

Python and TypeScript have libraries for this: `.importlinter` and `node-binding/.dependency-cruiser.cjs`.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

COMMENT = re.compile(r"//[^\n]*")
TEXT = re.compile(r'r#+"(?:.|\n)*?"#+|"(?:\\(?:.|\n)|[^"\\])*"')
USE = re.compile(r"\b(?:pub(?:\([^)]*\))? )?use ([^;]+);")
PATH = re.compile(r"\b(crate|super)((?:::\w+)+)")
IMPL = re.compile(r"^impl(?:<[^{;]*?>)? (\w+)(?:<[^{]*?>)?(?:\s+where[^{]*)?\s*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
METHOD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?(?:async |const |unsafe )*fn (\w+)", re.MULTILINE)
CALL = re.compile(r"\b(\w+)\s*(?:\.|::)\s*(\w+)(?:::<[^()]*>)?\(")
IS_TEST = re.compile(r"(^|/)(tests?|testing|fixtures|bin)(/|\.rs$)|_tests?\.rs$|scripted\.rs$")
AROUND_A_RUN = re.compile(
    r"\b(?:tokio|Mutex|RwLock|Condvar|std::thread|Instant::now|Timestamp::now|SystemTime|ProviderHost|Session)\b"
)

Module = tuple[str, ...]
"""A file by its path in `src`, or what a path of Rust names: `("state", "session", "Session")`."""
Edge = tuple[str, str]
Places = dict[Edge, list[str]]
"""From one duty in a folder to another: the places that name the other."""


class File(NamedTuple):
    path: Path
    module: Module
    text: str

    def place(self, start: int) -> str:
        line = self.text.count("\n", 0, start) + 1
        return f"{self.path.relative_to(ROOT)}:{line}"


class Reference(NamedTuple):
    by: Module
    to: Module
    place: str


def without_tests(text: str) -> str:
    """Source without comments, texts, and what stands below `#[cfg(test)]` at the end of a file; lines stay lines."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731
    text = COMMENT.sub(blank, TEXT.sub(blank, text))
    return re.sub(r"#\[cfg\((?:all\()?test.*?\n(?=\S*mod )(.*\n)", lambda found: "\n" * found[0].count("\n"), text)


def files_of(source: Path) -> list[File]:
    """The files of a crate without its tests."""
    paths = ((path, path.relative_to(source)) for path in sorted(source.rglob("*.rs")))
    return [
        File(path, inside.with_suffix("").parts, without_tests(path.read_text(encoding="utf-8")))
        for path, inside in paths
        if not IS_TEST.search(inside.as_posix())
    ]


def branches(tree: str) -> Iterator[str]:
    """The paths of a `use` tree: `a::{b, c::d}` has `a::b` and `a::c::d`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield tree.strip().split(" as ")[0].strip()
        return
    depth, at = 0, 0
    inner = rest[: rest.rindex("}")] if "}" in rest else rest
    for place, letter in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part := inner[at:place].strip():
                for branch in branches(part):
                    yield head.strip() + branch
            at = place + 1


def named(file: File) -> Iterator[Reference]:
    """What a file names by a path."""
    paths = [(found.start(), branch) for found in USE.finditer(file.text) for branch in branches(found[1])]
    paths += [(found.start(), found[0]) for found in PATH.finditer(file.text)]
    above = file.module[:-1] if file.module[-1] in ("mod", "lib") else file.module
    for start, path in paths:
        steps = path.split("::")
        if steps[0] == "super":
            ups = next(index for index, step in enumerate([*steps, ""]) if step != "super")
            yield Reference(file.module, (*above[: len(above) - ups], *steps[ups:]), file.place(start))
        elif steps[0] == "crate":
            yield Reference(file.module, tuple(steps[1:]), file.place(start))


def called(files: list[File]) -> Iterator[Reference]:
    """The methods of types that a file calls: its own by `self`, those of others by a variable with the type's name."""
    blocks = {file: list(IMPL.finditer(file.text)) for file in files}
    homes: dict[tuple[str, str], set[Module]] = defaultdict(set)
    for file, impls in blocks.items():
        for impl in impls:
            for method in METHOD.finditer(impl[0]):
                homes[impl[1], method[1]].add(file.module)
    for file, impls in blocks.items():
        known = {reference.to[-1] for reference in named(file)}
        for call in CALL.finditer(file.text):
            kind = call[1].title().replace("_", "")
            if kind == "Self":
                kind = next((impl[1] for impl in impls if impl.start() < call.start() < impl.end()), "")
            elif kind not in known or kind == call[1]:
                continue
            # Where two files give a type of that name such a method, it is not known whose this is.
            if len(home := homes[kind, call[2]]) == 1:
                yield Reference(file.module, next(iter(home)), file.place(call.start()))


def dependencies(references: list[Reference], files: list[File], inside: Module) -> Places:
    """The dependencies among the duties in a folder."""
    depth = len(inside)
    duties = {module[depth] for _, module, _ in files if module[:depth] == inside != module} - {"lib", "mod"}
    places: Places = defaultdict(list)
    for by, to, place in references:
        if by[:depth] == to[:depth] == inside and inside not in (by, to):
            one, other = by[depth], to[depth]
            if one != other and {one, other} <= duties:
                places[one, other].append(place)
    return places


def faults(name: str, places: Places) -> Iterator[str]:
    """The circle among the duties of a folder, with the lines that close it."""
    graph: dict[str, set[str]] = defaultdict(set)
    for one, other in places:
        graph[one].add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        yield f"{name}: a circle of {', '.join(sorted(set(circle)))}"
        for edge in pairwise(circle):
            yield f"  {' -> '.join(edge)}: {', '.join(list(dict.fromkeys(places[edge]))[:3])}"


def named_by_a_run(files: list[File]) -> Iterator[str]:
    """Where a run names what is around it."""
    for file in files:
        if file.module[0] == "driver" and file.module[1] != "outside":
            for found in AROUND_A_RUN.finditer(file.text):
                yield f"{file.place(found.start())}: a run names {found[0]}"


def main() -> int:
    found: list[str] = []
    graphs: dict[str, Places] = {}
    for manifest in sorted(ROOT.glob("*/Cargo.toml")):
        source = manifest.parent / "src"
        files = files_of(source)
        references = [*called(files), *(it for file in files for it in named(file))]
        for inside in sorted({file.module[:depth] for file in files for depth in range(len(file.module))}):
            graphs["/".join((manifest.parent.name, "src", *inside))] = dependencies(references, files, inside)
        if manifest.parent.name == "engine-core":
            found += named_by_a_run(files)
    found += [fault for name, places in graphs.items() for fault in faults(name, places)]
    print("\n".join(found) or "no duty depends on itself by way of others")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
