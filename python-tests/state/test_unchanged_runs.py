"""Runs that change nothing."""

from pathlib import Path

from cli import Project
from night import rounds

# Registers its resources in another order each time, and with lists in another order: as the program of many async
# functions does whose services answer now sooner and now later.
PROGRAM = """
import asyncio, os, random
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

random.seed(int(os.environ["SEED"]))


class Things(ResourceProvider):
    def create(self, props):
        return CreateResult(props["name"], props)


class Thing(Resource):
    of: pulumi.Output[str]

    def __init__(self, name, inputs, **options):
        super().__init__(Things(), name, {"name": name, **inputs}, pulumi.ResourceOptions(**options))


def shuffled(items):
    return random.sample(list(items), k=len(items))


async def pause():
    for _ in range(random.randrange(40)):
        await asyncio.sleep(0)


async def make(name, parent, needed):
    await pause()
    names = pulumi.Output.all(*(each.of for each in shuffled(needed))).apply(sorted)
    return Thing(name, {"of": name, "names": names}, parent=parent, depends_on=shuffled(needed))


async def main():
    groups = await asyncio.gather(*(make(f"group-{number}", None, []) for number in range(4)))
    firsts = await asyncio.gather(*(make(f"first-{number}", groups[number % 4], []) for number in range(12)))
    needed = [[firsts[number], firsts[number - 1], firsts[number - 2]] for number in range(12)]
    await asyncio.gather(*(make(f"second-{number}", groups[number % 4], needed[number]) for number in range(12)))
    for name in shuffled(["a", "b", "c"]):
        pulumi.export(name, name)


pulumi.export("done", pulumi.Output.from_input(main()))
"""

UP = ("up", "--yes", "--skip-preview", "--stack", "dev")


def files(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file: which one it is, when it was written, and its bytes. What says who is at work aside."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.name not in ("lease", "gate"):
            told = path.stat()
            found[str(path.relative_to(directory))] = (told.st_ino, told.st_mtime_ns, path.read_bytes())
    return found


def test_a_run_that_changes_nothing_writes_nothing(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    state = project.directory / ".maloko"
    assert "29 created" in project.run(*UP, SEED="0").stdout
    before = files(state)
    for seed in range(1, rounds(3, 11)):
        done = project.run(*UP, SEED=str(seed), PYTHONHASHSEED=str(seed))
        assert "29 unchanged" in done.stdout, done.stdout
        assert files(state) == before
    project.run("refresh", *UP[1:], SEED="11")
    assert files(state) == before
