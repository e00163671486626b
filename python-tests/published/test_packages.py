"""What is published: which glibc it needs, and that its sources are whole."""

# All in Python alone: what is made for both languages at once is looked at once

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import maloko

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(it) for it in command], cwd=cwd, capture_output=True, text=True)


def unpacked(package: Path, to: Path) -> Path:
    with tarfile.open(package) as file:
        file.extractall(to, filter="data")
    (only,) = to.iterdir()
    return only


def crates_of(workspace: Path, *options: str) -> set[str]:
    """The crates of a workspace of which no part is missing."""
    asked = run("cargo", "metadata", *options, "--format-version", "1", cwd=workspace)
    assert asked.returncode == 0, asked.stderr
    told = json.loads(asked.stdout)
    for package in told["packages"]:
        if package["source"] is None:
            assert Path(package["manifest_path"]).is_relative_to(workspace)
            assert all(Path(target["src_path"]).is_file() for target in package["targets"])
    return {package["name"] for package in told["packages"] if package["source"] is None}


def test_packages_run_where_people_are(tmp_path: Path) -> None:
    (library,) = Path(maloko.__file__).parent.glob("_maloko*.so")
    told = run(".ci/glibc", "2.99", library)
    assert told.returncode == 0, told.stderr
    assert "needs glibc 2." in told.stdout
    # What is newer is refused, wherever it lies.
    package = tmp_path / "package.tgz"
    with tarfile.open(package, "w:gz", compresslevel=0) as file:
        file.add(library, "package/maloko.linux-x64-gnu.node")
    refused = run(".ci/glibc", "2.2", package)
    assert refused.returncode == 1
    assert "package.tgz: that is newer than 2.2" in refused.stderr


def assert_topics(source: Path) -> None:
    """The documents that `maloko help` shows are files there, and no links out of the package."""
    for topic in sorted((ROOT / "engine-cli" / "topics").iterdir()):
        packed = source / "engine-cli" / "topics" / topic.name
        assert not packed.is_symlink()
        assert packed.read_bytes() == topic.read_bytes()


@pytest.mark.nightly
def test_the_sdist_has_all_that_cargo_needs(tmp_path: Path) -> None:
    maturin = Path(sys.executable).with_name("maturin")
    made = run(maturin, "sdist", "--manifest-path", "py-binding/Cargo.toml", "--out", tmp_path)
    assert made.returncode == 0, made.stderr
    source = unpacked(next(tmp_path.glob("*.tar.gz")), tmp_path / "sdist")
    assert crates_of(source) == {
        "maloko-core",
        "maloko-fleet",
        "maloko-isolated",
        "maloko-packages",
        "maloko-passphrase-key",
        "maloko-plugins",
        "maloko-rpc",
        "maloko-stores",
        "maloko-telemetry",
        # What others depend on for their tests: cargo reads it all the same.
        "maloko-test-support",
        "maloko-cli",
        "maloko-kit",
        "maloko-py",
    }
    assert (source / "python" / "maloko" / "__init__.py").is_file()
    assert_topics(source)


@pytest.mark.nightly
def test_the_source_package_of_npm_has_all_that_cargo_needs(tmp_path: Path) -> None:
    made = run("node", "node-binding/scripts/pack.mjs", tmp_path, "--source")
    assert made.returncode == 0, made.stderr
    package = unpacked(Path(made.stdout.strip()), tmp_path / "npm")
    assert crates_of(package / "source", "--locked") == {
        "maloko-core",
        "maloko-fleet",
        "maloko-isolated",
        "maloko-packages",
        "maloko-passphrase-key",
        "maloko-plugins",
        "maloko-rpc",
        "maloko-stores",
        "maloko-telemetry",
        # What others depend on for their tests: cargo reads it all the same.
        "maloko-test-support",
        "maloko-cli",
        "maloko-kit",
        "maloko-node",
    }
    assert_topics(package / "source")
    about = json.loads((package / "package.json").read_text(encoding="utf-8"))
    assert about["scripts"] == {"install": "node bin/build.js"}
    assert not list(package.glob("*.node"))


def test_a_source_package_without_cargo_says_what_is_missing(tmp_path: Path) -> None:
    package = tmp_path / "maloko"
    shutil.copytree(ROOT / "node-binding" / "bin", package / "bin")
    build = package / "bin" / "build.js"
    no_source = run("node", build)
    assert no_source.returncode == 1
    assert "this package has no source to build one from" in no_source.stderr
    (package / "source").mkdir()
    (package / "source" / "Cargo.toml").write_bytes((ROOT / "Cargo.toml").read_bytes())
    no_cargo = subprocess.run(
        ["node", str(build)],
        env={"PATH": "/nowhere", "CARGO": "no-such-cargo"},
        capture_output=True,
        text=True,
        executable=run("node", "-p", "process.execPath").stdout.strip(),
    )
    assert no_cargo.returncode == 1
    assert "is built from source, and no-such-cargo cannot be run" in no_cargo.stderr
    assert "Install Rust 1.90 or newer and a C compiler" in no_cargo.stderr


def test_the_pictures_of_the_readme_are_true() -> None:
    checked = run(sys.executable, "docs/pictures/make.py", "--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
