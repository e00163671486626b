#!/usr/bin/env python3
"""Fails where duties depend on each other in a circle.

A duty is a folder, or a file that stands alone, of a crate's `src`, of `py-binding/python/maloko` or of
`node-binding/ts`. A duty depends on another one where a file of it names something of the other: `use
crate::state::Session` in Rust, `from maloko._sdk import load` in Python, `import { Run } from "./run"` in TypeScript.
Imports for types alone count as well: a reader follows them all the same. Tests may name anything.

In a folder of a Rust crate the files are compared as well, but for its `mod.rs`, which belongs to all of them.

A run (`engine-core/src/driver` without `outside`) has no thread, lock, clock, host or disk: it may not even name them.

    module_graph.py             prints each circle with the lines that close it, and exits with 1 if there is one
    module_graph.py --dot       prints the graph of duties for Graphviz
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = (
    "engine-core",
    "engine-stores",
    "engine-cli",
    "engine-kit",
    "engine-plugins",
    "engine-telemetry",
    "engine-model",
    "py-binding",
    "node-binding",
)

COMMENT = re.compile(r"//[^\n]*")
TEXT = re.compile(r'r#+"(?:.|\n)*?"#+|"(?:\\(?:.|\n)|[^"\\])*"')
USE = re.compile(r"\b(?:pub(?:\([^)]*\))? )?use ([^;]+);")
PATH = re.compile(r"\b(crate|super)((?:::\w+)+)")
IS_TEST = re.compile(r"(^|/)(tests?|testing|fixtures|bin)(/|\.rs$)|_tests?\.rs$|scripted\.rs$")
RUN = ROOT / "engine-core" / "src" / "driver"
AROUND_A_RUN = re.compile(
    r"\b(?:tokio|Mutex|RwLock|Condvar|std::thread|Instant::now|Timestamp::now|SystemTime|ProviderHost|Session)\b"
)
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']*)["']""")

Edge = tuple[str, str]
Places = dict[Edge, list[str]]
"""From one duty to another: the places that name the other."""


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


def without_tests(text: str) -> str:
    """Source without comments, texts, and what stands below `#[cfg(test)]` at the end of a file; lines stay lines."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731
    text = COMMENT.sub(blank, TEXT.sub(blank, text))
    return re.sub(r"#\[cfg\((?:all\()?test.*?\n(?=\S*mod )(.*\n)", lambda found: "\n" * found[0].count("\n"), text)


def folders(crate: str) -> Iterator[tuple[str, ...]]:
    """The folders of a crate's `src` whose files are compared with each other, by their parts."""
    source = ROOT / crate / "src"
    for folder in sorted({file.parent.relative_to(source) for file in source.rglob("*.rs")}):
        if folder.parts and not IS_TEST.search(f"{folder.as_posix()}/"):
            yield folder.parts


def rust(crate: str, inside: tuple[str, ...] = ()) -> Places:
    """The dependencies of a crate's duties, or of the files and folders inside one of its folders."""
    source = ROOT / crate / "src"
    within = source.joinpath(*inside)
    files = [file for file in within.rglob("*.rs") if not IS_TEST.search(file.relative_to(source).as_posix())]
    depth = len(inside)
    # A folder's `mod.rs` and its children belong together.
    duties = {file.relative_to(within).parts[0].removesuffix(".rs") for file in files} - {"lib", "mod"}
    places: Places = defaultdict(list)
    for file in files:
        parts = file.relative_to(source).with_suffix("").parts
        module = parts[:-1] if parts[-1] in ("mod", "lib") else parts
        own = parts[depth]
        if own not in duties:
            continue
        text = without_tests(file.read_text(encoding="utf-8"))
        paths = [(found.start(), branch) for found in USE.finditer(text) for branch in branches(found[1])]
        paths += [(found.start(), found[0]) for found in PATH.finditer(text)]
        for start, path in paths:
            steps = path.split("::")
            if steps[0] == "super":
                ups = next(index for index, step in enumerate([*steps, ""]) if step != "super")
                full = (*module[: len(module) - ups], *steps[ups:])
            elif steps[0] == "crate":
                full = tuple(steps[1:])
            else:
                continue
            if full[:depth] != inside or len(full) == depth:
                continue
            other = full[depth]
            if other in duties and other != own:
                place = f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, start) + 1}"
                if place not in places[own, other]:
                    places[own, other].append(place)
    return places


def python(package: Path) -> Places:
    """The dependencies of the duties of a Python package."""
    files = sorted(package.rglob("*.py"))
    duties = {file.relative_to(package).parts[0].removesuffix(".py") for file in files} - {"__init__", "__main__"}
    places: Places = defaultdict(list)
    for file in files:
        own = file.relative_to(package).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package.name:
                rest = node.module.split(".")[1:]
                names = rest[:1] or [alias.name for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name.split(".")[1] for alias in node.names if alias.name.startswith(f"{package.name}.")]
            for name in names:
                if name in duties and name != own and isinstance(node, ast.Import | ast.ImportFrom):
                    places[own, name].append(f"{file.relative_to(ROOT)}:{node.lineno}")
    return places


def typescript(source: Path) -> Places:
    """The dependencies of the duties of the TypeScript sources."""
    files = sorted(file for file in source.rglob("*.ts") if not file.name.endswith(".d.ts"))
    places: Places = defaultdict(list)
    for file in files:
        own = file.relative_to(source).parts[0].removesuffix(".ts")
        if own == "index":
            continue
        text = file.read_text(encoding="utf-8")
        for found in IMPORT.finditer(text):
            target = (file.parent / found[1]).resolve()
            if source not in target.parents:
                continue
            other = target.relative_to(source).parts[0].removesuffix(".js").removesuffix(".ts")
            if other not in (own, "index"):
                places[own, other].append(f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}")
    return places


def circles(edges: Iterable[Edge]) -> list[list[str]]:
    """The groups of duties that can each reach all others of their group."""
    follows: dict[str, set[str]] = defaultdict(set)
    for one, other in edges:
        follows[one].add(other)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for following in follows[waiting.pop()] - seen:
                seen.add(following)
                waiting.append(following)
        return seen

    reach = {duty: reached(duty) for duty in sorted({duty for edge in edges for duty in edge})}
    groups = {tuple(sorted(other for other in reach[duty] if duty in reach[other])) for duty in reach}
    return sorted(list(group) for group in groups if group)


def named_by_a_run() -> Iterator[str]:
    """Where a run names what is around it."""
    for file in sorted(RUN.rglob("*.rs")):
        inside = file.relative_to(RUN).as_posix()
        if IS_TEST.search(inside) or inside.startswith("outside/"):
            continue
        text = without_tests(file.read_text(encoding="utf-8"))
        for found in AROUND_A_RUN.finditer(text):
            yield f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}: a run names {found[0]}"


def graphs() -> Iterator[tuple[str, Places]]:
    for crate in CRATES:
        yield f"{crate}/src", rust(crate)
        for inside in folders(crate):
            yield "/".join((crate, "src", *inside)), rust(crate, inside)
    yield "py-binding/python/maloko", python(ROOT / "py-binding" / "python" / "maloko")
    yield "node-binding/ts", typescript(ROOT / "node-binding" / "ts")


def main() -> int:
    """Prints the circles, or the graph; gives the exit code."""
    failed = False
    for name, places in graphs():
        if "--dot" in sys.argv:
            lines = [f'  "{one}" -> "{other}" [label={len(at)}];' for (one, other), at in sorted(places.items())]
            print(f'digraph "{name}" {{', *lines, "}", sep="\n")
            continue
        for group in circles(list(places)):
            failed = True
            print(f"{name}: a circle of {', '.join(group)}")
            for (one, other), at in sorted(places.items(), key=lambda item: len(item[1])):
                if one in group and other in group:
                    print(f"  {one} -> {other}: {', '.join(at[:3])}{f' and {len(at) - 3} more' if len(at) > 3 else ''}")
    for place in [] if "--dot" in sys.argv else named_by_a_run():
        failed = True
        print(place)
    if not failed and "--dot" not in sys.argv:
        print("no duty depends on itself by way of others")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
