"""The SDKs for Python that are made here, beside what is on record of those of the official generator."""

import subprocess
import sys
from pathlib import Path

import pytest
from cli import MALOKO

CHECKS = Path(__file__).parents[2] / "engine-packages" / "tests"
PACKAGES = {"features": "features-python", "bridged": "features-python-bridged", "neighbour": "neighbour"}
PROGRAMS = {"features": "features_program.py", "bridged": "bridged_program.py"}


@pytest.fixture(scope="module")
def sdks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of the SDKs, by package."""
    made = {}
    for package, schema in PACKAGES.items():
        out = tmp_path_factory.mktemp(package)
        command = ["package", "gen-sdk", f"{CHECKS}/schemas/{schema}.json", "--language", "python", "--out", str(out)]
        subprocess.run([*MALOKO, *command], check=True, capture_output=True, cwd=out)
        made[package] = out / "python"
    return made


def checked(script: str, *arguments: object, path: Path) -> str:
    """The last line of a check that must succeed."""
    command = [sys.executable, str(CHECKS / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(path), "PATH": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


# In Python alone: what an SDK is in Python; Node's are checked by programs of Node.
@pytest.mark.parametrize("package", PROGRAMS)
def test_an_sdk_has_every_name_and_type_of_the_official_one(package: str, sdks: dict[str, Path]) -> None:
    recorded = CHECKS / "recorded" / f"{PACKAGES[package]}-names.json"

    told = checked("compare_python.py", f"pulumi_{package}", recorded, sdks[package], path=sdks["neighbour"])

    assert told.endswith("0 missing, 0 different, 0 additional")


# In Python alone: what an SDK is in Python; Node's are checked by programs of Node.
@pytest.mark.parametrize("package", PROGRAMS)
def test_a_program_asks_for_the_same_and_gets_the_same_as_with_the_official_sdk(
    package: str, sdks: dict[str, Path]
) -> None:
    recorded = CHECKS / "recorded" / f"{PACKAGES[package]}-behaviour.json"
    program = CHECKS / "programs_python" / PROGRAMS[package]

    told = checked("behaviour_python.py", program, recorded, sdks[package], path=sdks["neighbour"])

    assert told.endswith(" values: 0 different")


# In Python alone: there is one type checker for TypeScript, which Node's test asks.
def test_the_programs_pass_mypy(sdks: dict[str, Path], tmp_path: Path) -> None:
    where = ":".join(str(folder) for folder in sdks.values())
    programs = [str(CHECKS / "programs_python" / program) for program in PROGRAMS.values()]
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", *programs]

    done = subprocess.run(command, capture_output=True, text=True, env={"MYPYPATH": where, "PATH": ""}, cwd=tmp_path)

    assert done.returncode == 0, done.stdout
