"""Says which tests of python-tests have no twin of the same title in node-tests, and the other way round, which
twins are in folders of different names.

What both languages would ask of the same Rust code alone is asked once, in Python, where a command is a forked process
and so takes a fraction of the time: those files stand in KEPT_ONCE. That the same can be had from Node shows the smoke
test of the folder, `smoke.test.ts`, in a `describe` for each of them. Their tests have no twins.

`test("a stack's state is kept", ...)` is the twin of `def test_a_stack_s_state_is_kept`. What differs from row to row
of a table (`%s`, `${name}`) stands for anything. A test of which the other language can have none stands below with the
reason; so does one that cannot have the same words.

Each file of tests is in a folder of its topic, which has the same name in both languages: `programs/test_hooks.py` and
`programs/hooks.test.ts`.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = re.compile(r"%[a-zA-Z]|\$\{[^}]*\}|\$[a-zA-Z.]+")
OPENERS, CLOSERS, QUOTES = "([{", ")]}", "\"'`"

# Python's title, and Node's: what is the same in both has words of its own in each.
SAME: list[tuple[str, str]] = [
    (
        "a class of the main module is found again",
        "a removed resource is deleted by an unexported class of the entry file",
    ),
    ("a missing main module is named", "a missing program and a missing SDK are named"),
    (
        "a provider made of functions in instance attributes works",
        "private fields and arrow methods of instances work",
    ),
    ("a run error is shown without a traceback", "a run error is shown without a stack"),
    (
        "an async call that takes too long is cancelled and stays pending",
        "an async call that takes too long is given up and stays pending",
    ),
    (
        "context variables of the caller reach program and provider",
        "async storages of the caller reach program and provider",
    ),
    (
        "locks sockets files clients and cycles are no obstacle",
        "locks, sockets, clients, closures and cycles are no obstacle",
    ),
    (
        "methods that a class lacks are answered as the base class does",
        "methods that a provider lacks are answered as the dynamic server does",
    ),
    ("examples in a list need no hypothesis", "examples in a list need no fast-check"),
    ("none at the top is left out", "undefined members are left out"),
    ("outputs that are no dict are refused", "outputs that are no object are refused"),
    (
        "synchronous methods run at the same time up to parallel",
        "methods of many resources run at the same time up to parallel",
    ),
    ("the sdk never pickles a provider", "the SDK never serialises a provider, and its serialiser is never loaded"),
    ("tuples and subclasses of plain types are taken for them", "instances of classes count as their data"),
    (
        "without the serialiser of providers the error names the sdk and the seam",
        "without one of the two places of the serialiser the other one does",
    ),
]
# The folder, and the files of it that are kept in Python alone.
KEPT_ONCE: dict[str, list[str]] = {
    "command_line": ["bad_input", "control_characters", "page", "reading", "selection"],
    "hostile": ["hostile_plugins"],
    "plugins": ["faults", "install"],
    "state": [
        "backends",
        "canaries",
        "doubted_deletions",
        "import",
        "object_stores",
        "plans_and_history",
        "refresh",
        "refresh_first",
        "shared_directories",
        "targets",
        "unchanged_runs",
        "what_stays",
    ],
}
SMOKE = "smoke.test.ts"
# The reason, and the titles.
PYTHON_ONLY: dict[str, list[str]] = {
    "the same Rust code, asked once; in Node smoke.test.ts and the other tests of the file show that it is there": [
        "a collector that is away or hangs costs a warning alone",
        "a protocol that maloko does not speak is named",
        "calls and waits are measured",
        "each signal may have its own protocol",
        "headers go with what is sent and are never shown",
        "nothing is sent unless somebody asks",
        "the flag sends traces alone",
        "traces and metrics go by grpc",
        "what is sent may be compressed",
        "a backend directory that does not exist is asked about or refused",
        "a reference to a stack that is not there names it and the way to write names",
        "a second ctrl c names the call that it leaves",
        "a sigterm lets the call in flight end and keeps what it made",
        "a wrong key beside another one names both once",
        "functions of packages need their plugins",
        "messages name help topics instead of paths of the repository",
        "new takes a template folder",
        "output json prints one line with the result",
        "output json says what changes and with diff from what to what",
        "secret outputs of another stack stay secret",
        "stack init with a slash explains itself",
        "texts that scripts match are the references",
        "two resources of one urn are refused and the first is kept",
        "yes with preview only works",
    ],
    "in Node a sweep runs the test itself, with the settings of its stacks": [
        "a sweep deletes what real plugins have made",
    ],
    "Python's parser and event loop meet other threads; Node has one thread per program": [
        "a callback that the programs loop has not begun is answered",
        "a callback that goes on at the programs end is answered",
        "a callback that never ends is cancelled when the program has ended",
        "a loop begins a call once and none after its end",
        "threads that parse at once all get their tree",
        "a parser disturbed by another thread is asked again",
        "a parser that always fails is an error that callers expect",
        "an object that another thread changes is read all the same",
        "a task that is cancelled cleans up",
        "a task that lost its cancellation is cancelled again",
        "a task that does not let itself be cancelled is not waited for any longer",
    ],
    "what is made for both languages at once is looked at once: packages, documents, and the pictures of the README": [
        "a dead link is noticed",
        "a request of a page to another host is noticed",
        "blocks and paragraphs per language become tabs",
        "a source package without cargo says what is missing",
        "packages run where people are",
        "the pictures of the readme are true",
        "the sdist has all that cargo needs",
        "the source package of npm has all that cargo needs",
    ],
    "a process that forks takes the engine with it, in Python alone; Celery, gunicorn and sub-interpreters": [
        "a child of any method ends",
        "a child that asks the engine is refused",
        "a child that comes back from a method ends and says so",
        "a child that ends by sys exit has its exit code",
        "a child that goes on with the program ends at its first resource",
        "a run of the library goes on beside its forked children",
        "a sub interpreter is refused clearly",
        "celery workers run stacks",
        "gunicorn workers run a stack per request",
        "multiprocessing by fork does its work beside the run",
        "processes that are forked off run stacks of their own",
        "workers that a server forks beforehand run stacks of their own",
    ],
    "asyncio beside calls that block: in Node everything is awaited": [
        "a notebook runs stacks",
        "a run works where an event loop is running",
        "a stack may be called where an event loop runs",
        "a task that is cancelled cancels its operation",
        "a task that outlives the program is a warning",
        "async methods may return secrets",
        "async methods of many resources run at the same time",
        "async methods share one loop from configure on",
        "async tests await the verbs",
        "async verbs are awaited",
        "no exception of an async method hangs or ends the process",
        "twenty stacks are awaited at once",
    ],
    "threads: a Node program and its providers have one": [
        "a bare thread never sees another run's monitor",
        "a call that cannot be cancelled is given up",
        "a dynamic resource outside of the run is refused",
        "a provider method runs on a thread that python made",
        "classes are found while another thread loads their module",
        "methods run although the programs event loop never comes to rest",
        "threads end with the run",
        "what threads of a method say is on its resource",
    ],
    "sys.stdout is an object that anybody may replace, and pdb reads from the terminal": [
        "a debugger can have the terminal",
        "a debugger gets ctrl c",
        "a debugger of the program gets ctrl c",
        "debugpy stops in a provider beside the display",
        "what is stepped over comes back to the debugger",
        "async methods print on their resource too",
        "the streams are put back unless the program put its own there",
    ],
    "modules, virtual environments and pickling": [
        "a class of a module that the program does not import any more is found again",
        "a class that is local to a function is an error that says so",
        "a program finds name file path and arguments as python sets them",
        "a program is a directory with a main module",
        "a provider of a submodule is called live",
        "a missing virtualenv exits 2",
        "another virtualenv is named when it lacks maloko",
        "destroy without the program finds classes of modules",
        "commands that run no program load no event loop and no sdk",
        "native packages are listed without a run",
        "parts of the sdk that programs hardly use are loaded when they are asked for",
        "setstate is called where a class has it",
        "without a name that maloko imports the error names the sdk and the seam",
        "without the settings of a run the error names the sdk and the seam",
    ],
    "Node takes SIGHUP for one that is not ignored, before any code of ours runs": [
        "under nohup a closed terminal is nothing",
    ],
    "signals and sys.exit are exceptions, which have a class and can be caught": [
        "a program's own exception is raised alone",
        "a signal in the program ends a destroy",
        "an error of a local program has the official class",
        "sys exit 0 ends a program well",
        "sys exit 0 is success and another code is not",
    ],
    "closures take the variable and not its value; Node's `let` gives each turn of a loop its own": [
        "a global that changed is told",
        "an attribute that the program changed is told",
        "the variable of a loop is told once per class",
        "what methods change themselves and what stays is not told",
    ],
    "types at run time: ints, bytes, dataclasses, pydantic; assets, which Pulumi's Node server hands over as data": [
        "a typed provider without types is an error that says how",
        "a member that is none is a missing one",
        "a stack output that is nested too deeply is an error whatever the recursion limit",
        "a second registration of outputs is an error that says so",
        "errors in outputs that the sdk computes name the line",
        "keys of inputs that are no text are errors that name them",
        "a whole number that loses digits is kept with a warning",
        "an id of ascii bytes is taken for its text",
        "an output without a value is refused with a way out",
        "assets arrive as the SDK's objects",
        "assets arrive with their content in every method",
        "inputs that are too large are errors that name resource and property",
        "models that check themselves do so",
        "numbers arrive as floats and as ints where the project says so",
        "what may be none is nothing else",
        "what may be none may be missing and each type of a union fits",
        "whole numbers are ints in every method where the project says so",
    ],
    "pytest and Python's debuggers": [
        "a breakpoint in a method opens pdb",
        "breakpoints of debugpy stop in every method",
        "crash tests do not confuse pytests percentage",
        "pytest reports it when",
        "the plugin loads nothing until it is used",
        "workers of xdist share nothing",
    ],
    "what a test has made is kept in a store of Python's kit, and on one page of Node's": [
        "why a test cannot be torn down is told",
    ],
    "about files of both languages at once": ["a connection of our own is noticed"],
    "the bench of both languages is one program, in Python": [
        "each engine of the bench has each place in turn",
        "the bench tells the growth of a program without its start",
        "the tables of the bench say what maloko costs above the null engine",
    ],
}
NODE_ONLY: dict[str, list[str]] = {
    "Node has two kinds of modules, TypeScript and its paths; Python has one kind": [
        "watch follows files outside of the project $kind",
        "a file that is loaded for one provider has no other one written down as Pulumi stores it",
        "classes are written also where the project has no compiler of TypeScript, and the SDK takes its old one",
    ],
    "`beforeExit` is asked again, round after round, which `atexit` is not": [
        "handlers are asked again only after a round that began something",
    ],
    "npm's peer dependencies: pip takes what the extras of a package ask for": [
        "a tool that may not be used never stops an installation",
        "an old $tool is refused where it is used, with what to install",
    ],
    "worker threads, and copies of the SDK that npm may install twice": [
        "a worker that is ended in the middle leaves the process whole",
        "programs run inside worker threads",
        "stacks run in worker threads",
        "two copies of the SDK in one tree share the run",
        "two copies of the SDK share a run",
    ],
    "listeners of the process and prototypes that any code can take away are Node's": [
        "listeners of the process that are removed are the program's own: %s",
        "what Node needs is taken away, and it ends: %s",
        "what others need is taken away elsewhere: %s: %s",
        "the document has a row for all that is taken away",
    ],
    "`beforeExit` is Node's": [
        "a handler of an ended inline program disturbs neither the next run nor the end of the process",
        "a handler of before the program belongs to no program",
        "an error in a handler of beforeExit fails the program",
        "an error in beforeExit of an inline program fails its run",
        "what a handler of beforeExit registers is part of the program: %s",
        "what an inline program registers in beforeExit is its own, in each of many runs",
    ],
    "the module systems, TypeScript and its compiler": [
        "a breakpoint in TypeScript stands in lines: %s",
        "a module is written by its name: %s",
        "the command is found from wherever the package is installed",
        "TypeScript providers in ESM packages delete: %s, %s, %s",
        "a CommonJS program's exports are the outputs, also of a function",
        "a TypeScript program that is an ES module, with a default export",
        "a TypeScript program without any configuration keeps its declared outputs",
        "a class that its package exports from another file is found again",
        "a function that a CommonJS module exports is called through its namespace",
        "a package is found again where another package manager puts it",
        "a program for the official API compiles with only the import changed: %s",
        "a program that is an ES module compiles",
        "a project of Plug'n'Play says how to run it where that is missing",
        "a tsconfig that targets ES2022 does not lose declared outputs",
        "an ES module program with top-level await",
        "an object of this run serves what was made before packages were known",
        "errors of a compiled package show the lines of its source",
        "errors of a program show the lines of its source",
        "flags of the interpreter are the project's own",
        "main is looked for in the nearest package.json above",
        "nodeargs of the runtime options are in force",
        "providers in packages that yarn lays out delete, whatever its linker",
        "the working directory is the project's whatever package.json names: %s",
        "typecheck: true refuses a program whose types are wrong",
        "what the ES modules of a service declare is found again",
    ],
    "objects without a class, private fields, and the SDK's serialiser of functions": [
        "code that uses the SDK is serialised",
        "a program that reads a WeakMap right after the SDK's option is not disturbed",
        "an object literal is called live",
        "an object literal is found again as the constant that holds it",
        "an object literal is found in a package that was loaded or changed after others were looked for",
        "an object with private fields is an error that says so",
        "other functions are still serialised by the real serialiser",
        "the methods of an object literal are its code",
    ],
    "anything can be thrown, rejected and left to nobody; timers keep a process alive": [
        "a failing component child leaves no unhandled rejection",
        "a listener for uncaught errors is the caller's own",
        "a program that waits for ever says so",
        "a provider that ends the process fails, and a program that does ends",
        "an error in a timer of a program fails its own run only",
        "an error of nobody's run ends the process as ever",
        "resources that are made in timers are registered",
        "synchronous and asynchronous methods work alike",
        "what is thrown need not be an error",
        "what provider calls leave open does not keep a program from ending",
    ],
    "Node's fork begins a fresh process": ["a forked process has no engine and the run goes on beside it"],
    "the same package in jest, as far as it could differ": [
        "a failure is the very error object, and no test is failed by a stray rejection",
        "a failure is the very error object, with its resource and method",
        "a provider is called live, and what it makes is kept",
        "a stack is made, worked on and removed",
        "a stack is planned, made, changed and removed",
    ],
}


def words(title: str) -> str:
    """A title as both languages can write it."""
    plain = " ".join(re.findall(r"[a-z0-9]+", title.lower().replace("'", " ")))
    return re.sub(r" s\b", "s", plain)


def pattern(title: str) -> re.Pattern[str]:
    """What the twin of a title is called, in `words`."""
    return re.compile(".*".join(re.escape(words(part)) for part in PLACEHOLDER.split(title)))


def kept_once() -> Iterator[tuple[Path, Path, Path]]:
    """Each file that is kept in Python alone, what its twin would be, and the smoke test in place of that."""
    for topic, names in KEPT_ONCE.items():
        node = ROOT / "node-tests" / topic
        for name in names:
            yield ROOT / "python-tests" / topic / f"test_{name}.py", node / f"{name}.test.ts", node / SMOKE


def faults_of_kept_once() -> Iterator[str]:
    """What is not as KEPT_ONCE says."""
    for kept, twin, smoke in kept_once():
        name = twin.name.removesuffix(".test.ts")
        if not kept.exists():
            yield f".ci/twins.py: KEPT_ONCE has {kept.relative_to(ROOT)}, and there is no such file"
        if twin.exists():
            yield f"{twin.relative_to(ROOT)}: is kept in Python alone, says .ci/twins.py"
        if not smoke.exists() or f'describe("{name}"' not in smoke.read_text():
            yield f"{smoke.relative_to(ROOT)}: has no `describe` of '{name}', which is kept in Python alone"


def python_titles() -> Iterator[tuple[str, str]]:
    """Title and place of each test in python-tests that has a twin."""
    alone = {kept for kept, _, _ in kept_once()}
    for path in sorted({*(ROOT / "python-tests").rglob("test_*.py")} - alone):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield (
                    words(node.name.removeprefix("test_").replace("_", " ")),
                    f"{path.relative_to(ROOT)}:{node.lineno}",
                )


def node_titles() -> Iterator[tuple[str, str]]:
    """Title and place of each test in node-tests, but for those in place of whole files of Python's."""
    tests = ROOT / "node-tests"
    paths = [*tests.glob("*/*.test.ts"), *tests.glob("*/*.jest.cjs")]
    samples = [*tests.glob("testing_kit/kit-samples/*.sample.ts")]
    for path in sorted(path for path in [*paths, *samples] if path.name != SMOKE):
        text = path.read_text()
        found = [(match.start(), title_at(text, match.end())) for match in CALL.finditer(text)]
        found += [(match.start(), match[1]) for match in CRASHES.finditer(text)]
        for start, title in found:
            # A title that is all of a table's row is there by itself.
            if title is not None and words(PLACEHOLDER.sub("", title)):
                yield title, f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, start) + 1}"


CALL = re.compile(r"^ *(?:test|it|plain|nightly)(?:\.(?:each|for|skipIf|runIf|fails|concurrent))?(?=[(<])", re.M)
CRASHES = re.compile(r"\{ title: \"([^\"]+)\", world")


def title_at(text: str, at: int) -> str | None:
    """The title of the call whose arguments begin there; `test.each(rows)` has it in the second ones."""
    while True:
        quote = re.compile(r"(?:<[^(]*>)?\(\s*([\"'`])").match(text, at)
        if quote is not None:
            end = text.index(quote[1], quote.end())
            return text[quote.end() : end]
        at = text.index("(", at)
        at = end_of(text, at)
        if text[at : at + 1] != "(":
            return None


def end_of(text: str, at: int) -> int:
    """The place after the bracket that closes the one there."""
    depth = 0
    while True:
        char = text[at]
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif char in QUOTES:
            at += 1
            while text[at] != char:
                at += 2 if text[at] == "\\" else 1
        elif char in OPENERS:
            depth += 1
        elif char in CLOSERS:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1


def folder(place: str) -> str:
    """The topic of a file of tests."""
    return place.split("/")[1]


def files_by_name() -> dict[str, list[str]]:
    """The files of tests of both languages, by the name that twins share."""
    found: dict[str, list[str]] = {}
    for path in sorted([*ROOT.glob("python-tests/**/test_*.py"), *ROOT.glob("node-tests/*/*.test.ts")]):
        name = path.name.removeprefix("test_").removesuffix(".py").removesuffix(".test.ts")
        if path.name != SMOKE:
            found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return found


def elsewhere(place: str, twins: Iterable[str]) -> str | None:
    """Where the twins of a test are, if none of them is in the folder of its topic."""
    folders = {folder(twin) for twin in twins}
    return None if folder(place) in folders else f"is in {folder(place)}, and its twin in {', '.join(sorted(folders))}"


def main() -> int:
    """Prints every fault with its place; gives 1 when there is one."""
    python, node = list(python_titles()), list(node_titles())
    faults: list[str] = []
    for name, known, titles in (("PYTHON_ONLY", PYTHON_ONLY, python), ("NODE_ONLY", NODE_ONLY, node)):
        there = {words(title) for title, _ in titles}
        gone = [title for listed in known.values() for title in listed if words(title) not in there]
        faults += [f".ci/twins.py: {name} has '{title}', and there is no such test" for title in gone]
    excepted_python = {words(title) for listed in PYTHON_ONLY.values() for title in listed}
    excepted_node = {words(title) for listed in NODE_ONLY.values() for title in listed}
    for its, other in SAME:
        places = [place for title, place in python if title == words(its)]
        twins = [place for title, place in node if words(title) == words(other)]
        if not places or not twins:
            faults.append(f".ci/twins.py: SAME has '{its}' and '{other}', and there is no such pair of tests")
        faults += [f"{place}: '{its}' {why}" for place in places if twins and (why := elsewhere(place, twins))]
        excepted_python.add(words(its))
        excepted_node.add(words(other))
    patterns = [(pattern(title), place) for title, place in node]
    for title, place in python:
        twins = [other for it, other in patterns if it.fullmatch(title)]
        if (title in excepted_python) == bool(twins):
            why = "is excepted, and has a twin" if title in excepted_python else "has no twin in node-tests"
            faults.append(f"{place}: '{title}' {why}")
        elif twins and (apart := elsewhere(place, twins)):
            faults.append(f"{place}: '{title}' {apart}")
    for (title, place), (its_pattern, _) in zip(node, patterns, strict=True):
        twins = [other for it, other in python if its_pattern.fullmatch(it)]
        if (words(title) in excepted_node) == bool(twins):
            why = "is excepted, and has a twin" if words(title) in excepted_node else "has no twin in python-tests"
            faults.append(f"{place}: '{title}' {why}")
        elif twins and (apart := elsewhere(place, twins)):
            faults.append(f"{place}: '{title}' {apart}")
    files = files_by_name()
    for name, places in files.items():
        languages = [place.split("/")[0] for place in places]
        if len(set(languages)) < len(languages) or len({folder(place) for place in places}) > 1:
            faults.append(f"{' and '.join(places)}: files of tests called '{name}' must be in one folder")
    faults += faults_of_kept_once()
    print("\n".join(faults) or "the tests of both languages are twins")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
