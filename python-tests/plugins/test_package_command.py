"""SDKs of packages, made of what plugins say: `maloko package`, and `maloko install` in a fresh clone."""

import base64
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cli import Project

PLUGINS = Path(__file__).parents[2] / "conformance" / "plugins" / "plugins"
UP = ("up", "--yes", "--skip-preview")

# No pip: the folders of the SDKs are on the path.
PROGRAM = """
import sys
import zipfile
from pathlib import Path

import pulumi

sys.path[:0] = [str(folder) for folder in Path(__file__).parent.glob("sdks/*")]
import pulumi_{package} as package

thing = package.Thing("thing", text="hello", size=3)
pulumi.export("url", thing.url)
pulumi.export("token", thing.token)
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with the plugin `probe` at hand, and the outside world of that."""
    probe = f'#!/bin/sh\nexec "{sys.executable}" "{PLUGINS}/probe.py" "$@"\n'
    project.write("bin/pulumi-resource-probe", probe).chmod(0o755)
    (project.directory / "world").mkdir()
    project.environment |= {
        "PATH": f"{project.directory}/bin:{os.environ['PATH']}",
        "PROBE_WORLD": str(project.directory / "world"),
    }
    return project


def listed(project: Project) -> list[dict[str, object]]:
    return list(json.loads(project.run("package", "ls", "--json").stdout))


def test_a_package_is_added_and_used_and_made_again_in_a_fresh_clone(shop: Project) -> None:
    shop.write("__main__.py", PROGRAM.format(package="probe"))

    said = shop.run("package", "add", "probe", "--no-link").stdout

    assert "added: probe 1.0.0, its SDK is in sdks/probe\nuse it: import pulumi_probe as probe\n" in said
    assert "packages:\n  probe: probe@1.0.0\n" in (shop.directory / "Pulumi.yaml").read_text()
    shop.run(*UP)
    outputs = json.loads(shop.run("stack", "output", "--json", "--show-secrets").stdout)
    assert outputs["url"].startswith("http://")
    assert outputs["token"].startswith("token-")
    shutil.rmtree(shop.directory / "sdks")
    failed = shop.run("preview", code=1)
    help_ = f"{shop.directory}/Pulumi.yaml:4: the SDK of the package 'probe' is not there: `maloko install` makes it"
    assert help_ in failed.stdout
    assert help_ in shop.run("check", code=1).stderr
    assert listed(shop)[0]["sdk"] is None
    assert "2 unchanged" in made_again(shop)


def made_again(project: Project) -> str:
    """What a preview says after `install`, whose tools are not asked: the program finds the SDK by itself."""
    python = project.write("bin/uv", "#!/bin/sh\nexit 0\n")
    python.chmod(0o755)
    text = (project.directory / "Pulumi.yaml").read_text()
    project.write(
        "Pulumi.yaml", text.replace("runtime: python\n", "runtime: {name: python, options: {toolchain: uv}}\n")
    )
    said = project.run("install", "--no-plugins").stdout
    assert "made: the SDK of " in said
    assert "$ uv add --no-workspace ./sdks/" in said
    project.write("Pulumi.yaml", text)
    return project.run("preview").stdout


def test_a_plugin_makes_a_package_of_a_parameter(shop: Project) -> None:
    shop.write("__main__.py", PROGRAM.format(package="fine_things"))

    shop.run("package", "add", "--no-link", "probe@1.0.0", "--", "fine-things", "--red", "3")

    entry = {"name": "fine-things", "source": "probe@1.0.0", "parameters": ["fine-things", "--red", "3"]}
    assert entry.items() <= listed(shop)[0].items()


def test_the_program_uses_what_was_made_of_the_parameter(shop: Project) -> None:
    shop.write("__main__.py", PROGRAM.format(package="fine_things"))
    shop.run("package", "add", "--no-link", "probe", "fine-things", "red")

    shop.run(*UP)

    resources = json.loads(shop.run("stack", "export").stdout)["deployment"]["resources"]
    kinds = [resource["type"] for resource in resources]
    assert "fine-things:index:Thing" in kinds
    assert "pulumi:providers:fine-things" in kinds
    shutil.rmtree(shop.directory / "sdks")
    assert "2 unchanged" in made_again(shop)


IMPORTS = {
    "sdk": {},
    "list": {
        "version": "1.0.0",
        "parameterization": {"pluginName": "probe", "pluginVersion": "1.0.0", "value": "cmVk"},
    },
}


@pytest.mark.parametrize("told_by", IMPORTS)
def test_an_object_of_a_package_that_is_made_of_a_parameter_is_imported(shop: Project, told_by: str) -> None:
    (shop.directory / "world" / "mine.json").write_text('{"text": "hello", "size": 3}')
    if told_by == "sdk":
        shop.run("package", "add", "--no-link", "probe", "parts", "red")
    entry = {"type": "parts:index:Thing", "name": "thing", "id": "mine", **IMPORTS[told_by]}
    file = shop.write("list.json", json.dumps({"resources": [entry]}))
    shop.run("import", "--file", str(file), "--yes")
    resources = json.loads(shop.run("stack", "export").stdout)["deployment"]["resources"]
    (provider,) = [it for it in resources if it["type"] == "pulumi:providers:parts"]
    internal = provider["inputs"]["__internal"]
    assert (internal["name"], internal["version"]) == ("probe", "1.0.0")
    assert "red" in base64.b64decode(internal["parameterization"]).decode()
    shop.run("package", "add", "--no-link", "probe", "parts", "red")
    shop.write("__main__.py", PROGRAM.format(package="parts"))
    if told_by == "sdk":
        assert "2 unchanged" in shop.run(*UP).stdout


def test_a_list_with_a_parameter_that_is_no_base64_says_so(shop: Project) -> None:
    made = {"pluginName": "probe", "value": "?"}
    entry = {"type": "parts:index:Thing", "name": "thing", "id": "mine", "parameterization": made}
    file = shop.write("list.json", json.dumps({"resources": [entry]}))
    said = shop.run("import", "--file", str(file), "--yes", code=2).stderr
    assert "list.json: resource 'thing': its parameterization is no base64" in said


def test_pip_gets_the_sdk_and_loses_it_again(shop: Project) -> None:
    shop.write("Pulumi.yaml", "name: trial\nruntime: {name: python, options: {virtualenv: own}}\n")
    # Instead of an environment of its own, which takes seconds to make: it writes down what it is asked.
    shop.write("own/bin/python", '#!/bin/sh\necho "$@" >> "$PROBE_WORLD/../asked"\n').chmod(0o755)

    shop.run("package", "add", "probe")

    asked = (shop.directory / "asked").read_text()
    assert asked == "-m pip install --quiet --disable-pip-version-check ./sdks/probe\n"
    assert (shop.directory / "requirements.txt").read_text() == "./sdks/probe\n"
    shop.run("package", "add", "probe")
    assert (shop.directory / "requirements.txt").read_text() == "./sdks/probe\n", "once is enough"
    said = shop.run("package", "rm", "probe").stdout
    assert said.endswith("removed: probe\n")
    assert (shop.directory / "asked").read_text().endswith("-m pip uninstall --quiet --yes pulumi_probe\n")
    assert not (shop.directory / "sdks" / "probe").exists()
    assert listed_text(shop) == "The project lists no packages: `maloko package add SOURCE` adds one\n"


def listed_text(project: Project) -> str:
    return project.run("package", "ls").stdout


def test_another_parameter_in_the_project_file_makes_the_sdk_anew(shop: Project) -> None:
    shop.run("package", "add", "--no-link", "probe", "parts", "red")
    text = (shop.directory / "Pulumi.yaml").read_text()
    shop.write("Pulumi.yaml", text.replace("red", "blue"))

    told = shop.run("check", code=1).stderr

    assert "the SDK of the package 'parts' was not made of 'probe@1.0.0 parts blue': `maloko install` makes it" in told
    made_again(shop)
    manifest = json.loads((shop.directory / "sdks/parts/pulumi_parts/pulumi-plugin.json").read_text())
    assert base64.b64decode(manifest["parameterization"]["value"]) == b"parts blue"
    assert "parts blue" not in shop.run("check", code=None).stderr
    said = shop.run("package", "add", "--no-link", "probe", "parts", "green").stderr
    assert "the package 'parts' was made of 'probe@1.0.0 parts blue'; it takes that one's place" in said
    shop.write("other.json", '{"name": "parts", "version": "9.9.9"}')
    failed = shop.run("package", "add", "--no-link", "other.json", code=2)
    assert "the package 'parts' is listed there, made of 'probe@1.0.0 parts green'" in failed.stderr


def test_an_sdk_that_is_linked_and_not_there_is_missed_although_it_can_be_imported(shop: Project) -> None:
    shop.write("lib/pulumi_parts/pulumi-plugin.json", '{"resource": true, "name": "parts"}')
    shop.environment["PYTHONPATH"] = str(shop.directory / "lib")
    shop.run("package", "add", "--no-link", "probe", "parts")
    shutil.rmtree(shop.directory / "sdks")
    shop.write("requirements.txt", "./sdks/parts\n")

    assert "the SDK of the package 'parts' is not there" in shop.run("check", code=1).stderr
    shop.write("own/bin/python", "#!/bin/sh\n").chmod(0o755)
    text = (shop.directory / "Pulumi.yaml").read_text()
    shop.write("Pulumi.yaml", text.replace("python\n", "{name: python, options: {virtualenv: own}}\n"))
    assert "made: the SDK of parts in sdks/parts" in shop.run("install", "--no-plugins").stdout


def test_an_sdk_of_a_schema_in_a_file_is_told_of_and_can_be_removed(shop: Project) -> None:
    shop.write("schema.json", shop.run("package", "get-schema", "probe", "parts").stdout)

    said = shop.run("package", "add", "--no-link", "schema.json").stdout

    assert "its schema is in a file, so it is not in Pulumi.yaml: keep the folder with your program" in said
    shop.write("own/bin/python", "#!/bin/sh\n").chmod(0o755)
    shop.write("Pulumi.yaml", "name: trial\nruntime: {name: python, options: {virtualenv: own}}\n")
    assert shop.run("package", "rm", "parts").stdout.endswith("removed: parts\n")
    assert not (shop.directory / "sdks" / "parts").exists()


def test_an_sdk_that_was_changed_by_hand_is_kept_with_a_diff(shop: Project) -> None:
    shop.run("package", "add", "--no-link", "probe")
    file = shop.directory / "sdks" / "probe" / "README.md"
    file.write_text("mine\n")

    refused = shop.run("package", "add", "--no-link", "probe", code=1)

    assert "sdks/probe was changed by hand: README.md; it is kept, and `--force` replaces it" in refused.stderr
    assert "-mine\n" in refused.stderr
    assert file.read_text() == "mine\n"
    assert "`--force` removes it" in shop.run("package", "rm", "probe", code=1).stderr
    shop.run("package", "add", "--no-link", "--force", "probe")
    assert file.read_text() != "mine\n"


def test_a_schema_in_a_file_makes_sdks_for_both_languages(shop: Project) -> None:
    schema = shop.run("package", "get-schema", "probe", "parts").stdout
    shop.write("schema.json", schema)

    shop.run("package", "gen-sdk", "--language", "all", "--out", "made", "schema.json")

    assert (shop.directory / "made/python/pulumi_parts/__init__.py").is_file()
    manifest = json.loads((shop.directory / "made/nodejs/package.json").read_text())
    assert manifest["name"] == "@pulumi/parts"
    assert manifest["pulumi"]["parameterization"]["name"] == "parts"
    told = shop.run("package", "info", "schema.json", "--resource", "Thing").stdout
    assert [line.split() for line in told.splitlines() if line.startswith("token")] == [
        ["token", "string", "required,", "secret"]
    ]
    assert "did you mean Thing?" in shop.run("package", "info", "schema.json", "--resource", "Thin", code=2).stderr


REPOSITORY = "git.example.com/acme/parts"


@pytest.fixture
def repository(project: Project) -> Path:
    """A repository with a component plugin in a folder of it; git finds it under an address of the internet."""
    root = project.directory / "remote" / "acme" / "parts.git"
    (root / "comp").mkdir(parents=True)
    shutil.copy(PLUGINS / "pycomp" / "__main__.py", root / "comp")
    options = {"name": "python", "options": {"virtualenv": sys.prefix}}
    (root / "comp" / "PulumiPlugin.yaml").write_text(json.dumps({"name": "pycomp", "runtime": options}))
    instead = f"url.file://{project.directory}/remote/.insteadOf"
    project.environment |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": instead,
        "GIT_CONFIG_VALUE_0": "https://git.example.com/",
    }
    git(root, "init", "--quiet")
    commit(root)
    return root


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: Path) -> str:
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "a change")
    return git(root, "rev-parse", "HEAD")


BOXES = """
import sys
import zipfile
from pathlib import Path

import pulumi

sys.path[:0] = [str(folder) for folder in Path(__file__).parent.glob("sdks/*")]
import pulumi_pycomp as pycomp

box = pycomp.Box("box", text="hello")
pulumi.export("text", box.text)
"""


def test_a_component_package_from_a_repository_is_pinned_and_made_again(shop: Project, repository: Path) -> None:
    shop.write("__main__.py", BOXES)
    first = git(repository, "rev-parse", "HEAD")

    said = shop.run("package", "add", "--no-link", f"{REPOSITORY}/comp").stdout

    plugin = f"resource-git.example.com_acme_parts.git_comp-v0.0.0-x{first}"
    assert said.startswith(f"installed: resource git.example.com_acme_parts.git_comp-0.0.0-x{first}\nadded: pycomp ")
    assert (shop.directory / "home/.pulumi/plugins" / plugin / "comp/__main__.py").is_file()
    assert listed(shop)[0]["source"] == f"https://{REPOSITORY}/comp@{first}"
    shop.run(*UP)
    assert json.loads(shop.run("stack", "output", "--json").stdout)["text"].startswith("hello of http://")
    # What comes later is nobody's business before it is asked for.
    (repository / "comp" / "__main__.py").write_text("raise SystemExit('not this one')\n")
    commit(repository)
    shutil.rmtree(shop.directory / "sdks")
    shutil.rmtree(shop.directory / "home/.pulumi/plugins")
    assert "unchanged" in made_again(shop)
    assert "has neither" not in shop.run("preview").stdout


def test_a_tag_of_a_repository_is_its_version(shop: Project, repository: Path) -> None:
    git(repository, "tag", "v1.2.0")
    (repository / "comp" / "__main__.py").write_text("raise SystemExit('not this one')\n")
    commit(repository)

    shop.run("package", "add", "--no-link", f"https://{REPOSITORY}/comp")

    assert listed(shop)[0]["source"] == f"https://{REPOSITORY}/comp@1.2.0"
    failed = shop.run("package", "add", "--no-link", f"https://{REPOSITORY}/comp@1.3.0", code=1)
    assert "has no tag 1.3.0: its tags are 1.2.0" in failed.stderr


def test_the_official_generator_is_that_of_the_languages_host(shop: Project) -> None:
    failed = shop.run("package", "add", "probe", "--no-link", "--generator", "official", code=1)
    assert "no language plugin 'pulumi-language-python' found" in failed.stderr
    host = Path(__file__).with_name("generating_host.py")
    shop.write("bin/pulumi-language-python", f'#!/bin/sh\nexec "{sys.executable}" "{host}" "$@"\n').chmod(0o755)

    said = shop.run("package", "add", "probe", "--no-link", "--generator", "official")

    assert "warning: an old schema" in said.stderr
    sdk = shop.directory / "sdks" / "probe"
    made = "made = {'version': '1.0.0', 'resources': ['probe:index:Thing'], 'local': True}\n"
    assert (sdk / "pulumi_probe" / "__init__.py").read_text() == made
    assert listed(shop)[0]["sdk"] == str(sdk)
    shop.write("faulty.json", '{"name": "faulty", "version": "1.0.0"}')
    failed = shop.run("package", "add", "faulty.json", "--no-link", "--generator", "official", code=1)
    assert "faulty package: it is so" in failed.stderr
    assert not (shop.directory / "sdks" / "faulty").exists()


def test_a_type_that_a_schema_lacks_may_be_anything(shop: Project) -> None:
    gone = {"type": "array", "items": {"$ref": "#/types/lax:index:Gone"}}
    properties = {"parts": gone, "part": gone["items"]}
    shop.write(
        "lax.json", json.dumps({"name": "lax", "resources": {"lax:index:Thing": {"inputProperties": properties}}})
    )

    said = shop.run("package", "gen-sdk", "lax.json", "--language", "all", "--out", "made")

    place = "resources/lax:index:Thing/properties/parts"
    assert (
        f"lacks types that it names, and takes anything there: {place} refers to '#/types/lax:index:Gone'"
        in said.stderr
    )
    assert ", and 1 more do so" in said.stderr
    assert "part?: any;" in (shop.directory / "made" / "nodejs" / "thing.d.ts").read_text()
    assert "part: Any = None" in (shop.directory / "made" / "python" / "pulumi_lax" / "thing.pyi").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["./nowhere"], "there is nothing at"),
        (["terraform-provider"], "maloko package add terraform-provider hashicorp/random 3.6.0"),
        (["probe@x"], "'x' is no version of the package 'probe'"),
        (["wrong.json"], "wrong.json: the schema, at resources/wrong: 'wrong' is no token: PACKAGE:MODULE:NAME"),
        (["cut.json"], "cut.json: the schema ends in the middle"),
        (["none.json"], "there is no schema"),
        (["wrong.json", "parameter"], "a schema takes no parameters"),
        (["github.com/acme/parts@main"], "'main' is neither a version such as 1.2.3 nor a commit"),
        (["https://git.example.com/acme/none"], "cannot be cloned"),
    ],
)
def test_bad_input_is_named_and_leaves_nothing_behind(shop: Project, words: list[str], said: str) -> None:
    shop.write("wrong.json", '{"name": "wrong", "resources": {"wrong": {}}}')
    shop.write("cut.json", '{"name": "cut", "resources": {')
    shop.environment |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{shop.directory}/remote/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://git.example.com/",
    }
    before = (shop.directory / "Pulumi.yaml").read_text()

    failed = shop.run("package", "add", *words, code=None)

    assert failed.returncode != 0
    assert said in failed.stderr
    assert (shop.directory / "Pulumi.yaml").read_text() == before
    assert not (shop.directory / "sdks").exists()


def test_a_provider_of_terraform_is_put_into_the_cache_and_named(shop: Project) -> None:
    shop.write(
        "Pulumi.yaml",
        """name: trial
runtime: python
packages:
  random:
    source: terraform-provider
    parameters: [hashicorp/random, ~> 3.5]
""",
    )
    shop.write("__main__.py", "")
    shop.environment["PULUMI_DYNAMIC_TF_PLUGIN_CACHE_DIR"] = str(shop.directory / "cache")
    assert "hashicorp/random, the plugin downloads it when it is first needed" in shop.run("check", code=None).stdout
    with zipfile.ZipFile(shop.directory / "random.zip", "w") as archive:
        archive.writestr("terraform-provider-random_v3.6.0", "#!/bin/sh\n")
    install = ("plugin", "install", "terraform-provider", "--parameter", "hashicorp/random@3.6.0", "--file")

    said = shop.run(*install, "random.zip").stdout

    place = next((shop.directory / "cache/registry.opentofu.org/hashicorp/random/3.6.0").iterdir())
    assert said == f"installed: hashicorp/random 3.6.0 in {place}\n"
    assert shop.run(*install, "random.zip").stdout.startswith("already installed: ")
    assert f"of hashicorp/random, 3.6.0 is in {place}" in shop.run("check", code=None).stdout
    assert json.loads(shop.run("about", "--json").stdout)["Terraform providers"] == "hashicorp/random 3.6.0"
    wrong = shop.run(
        "plugin", "install", "resource", "probe", "--parameter", "x", "--file", "random.zip", code=2
    ).stderr
    assert "--parameter is for providers of Terraform" in wrong


def test_an_sdk_for_another_pulumi_is_named_with_what_helps(shop: Project) -> None:
    shop.write("pulumi_old/__init__.py", "import pulumi\n\nThing = pulumi.no_longer_there\n")
    shop.write("__main__.py", "import pulumi_old\n")

    failed = shop.run("preview", code=1)

    help_ = "the SDK pulumi_old was made for another version of Pulumi's: install its newest version"
    assert help_ in failed.stdout


def test_an_sdk_that_the_program_does_not_import_may_lack_its_plugin(shop: Project) -> None:
    shop.write("lib/pulumi_idle/pulumi-plugin.json", '{"resource": true, "name": "idle", "version": "1.0.0"}')
    shop.write("lib/pulumi_idle/__init__.py", "")
    # No server is asked: there is no such scheme.
    shop.environment["PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"] = ".*=nowhere://x"
    shop.environment["PYTHONPATH"] = str(shop.directory / "lib")
    shop.write("__main__.py", "")

    said = shop.run("install", "--no-dependencies").stderr

    assert said.startswith("warning: ")
    assert "needs idle 1.0.0, and the program does not import it" in said
    shop.write("__main__.py", "import pulumi_idle\n")
    assert "error: " in shop.run("install", "--no-dependencies", code=1).stderr
