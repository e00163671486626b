"""Plants the bugs of engine-model/bugs in a copy of the tree: `make model-bugs` demands that the tests notice each one.

    plant.py TREE     brings the copy TREE up to date and plants every bug in it
    plant.py          only looks whether every bug can be planted (`make verify`)

Each bug is a patch that stands behind a switch of its own (`planted!`), so that one build has them all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUGS = sorted((ROOT / "engine-model" / "bugs").glob("*.patch"))
# What tests need that is not in the tree.
BESIDE = (".venv", "engine-stores/tests/servers/node_modules")


def plant(tree: Path) -> list[str]:
    """What `git apply` says of each bug that cannot be planted in a tree."""
    faults = []
    for bug in BUGS:
        # One line of context is enough: bugs may be planted close to each other.
        done = subprocess.run(["git", "apply", "-C1", bug], cwd=tree, capture_output=True, text=True)
        if done.returncode:
            faults.append(f"{bug.relative_to(ROOT)} cannot be planted: mend the patch\n{done.stderr}")
    return faults


def touched() -> list[str]:
    """The files that bugs are planted in."""
    lines = (line for bug in BUGS for line in bug.read_text(encoding="utf-8").splitlines())
    return sorted({line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")})


def copied(files: list[str], into: Path) -> None:
    for file in files:
        (into / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, into / file)
    # A repository of its own, so that `git apply` does not leave out what another one ignores.
    subprocess.run(["git", "init", "--quiet", into], check=True)


def renew(planted: Path, tree: Path) -> None:
    """Takes over what changed, and only that, so that only that is compiled again."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [file for file in listed.split("\0") if file and (ROOT / file).is_file()]
    for file in files:
        new = planted / file if (planted / file).exists() else ROOT / file
        old = tree / file
        if not old.exists() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new, old)
            old.chmod(new.stat().st_mode)
    kept = set(files)
    for old in (tree / name for name in ("engine-core", "engine-cli", "engine-stores", "engine-test-support")):
        for file in old.rglob("*.rs"):
            if str(file.relative_to(tree)) not in kept:
                file.unlink()
    for name in BESIDE:
        link = tree / name
        if not os.path.lexists(link):
            link.symlink_to(ROOT / name)


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        copied(touched(), Path(place))
        faults = plant(Path(place))
        if not faults and len(sys.argv) > 1:
            renew(Path(place), Path(sys.argv[1]))
    print(*faults or [f"{len(BUGS)} patches can be planted"], sep="\n")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
