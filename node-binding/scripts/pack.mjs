// Packs the package, after `npm run build:ts`:
//   node scripts/pack.mjs DIRECTORY ADDON...   with these engines, each made by scripts/addon.mjs
//   node scripts/pack.mjs DIRECTORY --source   without one, with the source that bin/build.js builds it from at its installation
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const workspace = dirname(here);
const cargo = process.env.CARGO ?? "cargo";
const [directory = ".", ...engines] = process.argv.slice(2);
const out = resolve(directory);
const fromSource = engines[0] === "--source";

function output(command, args, cwd) {
    return execFileSync(command, args, { cwd, encoding: "utf8", maxBuffer: 1 << 26 });
}

/** The folders of the crate, and of those of this workspace that it is made of. */
function cratesOf(name) {
    const { packages } = JSON.parse(output(cargo, ["metadata", "--no-deps", "--format-version", "1"], workspace));
    const seen = new Set();
    const visit = (wanted) => {
        const found = packages.find((it) => it.name === wanted);
        if (found === undefined || seen.has(found)) {
            return;
        }
        seen.add(found);
        for (const dependency of found.dependencies.filter(({ path }) => path !== undefined)) {
            visit(dependency.name);
        }
    };
    visit(name);
    return [...seen].map((it) => ({ name: it.name, folder: dirname(it.manifest_path).slice(workspace.length + 1) }));
}

/** Copies the crates and the workspace around them: all that cargo needs, and that its lock file names. */
function addSource(source) {
    const crates = cratesOf("maloko-node");
    for (const { name, folder } of crates) {
        const listed = output(cargo, ["package", "--list", "--allow-dirty", "--quiet", "-p", name], workspace).split(
            "\n",
        );
        for (const file of listed.filter((it) =>
            /^(src|templates|topics|benches|tests|examples|build\.rs|Cargo\.toml$)/.test(it),
        )) {
            mkdirSync(dirname(join(source, folder, file)), { recursive: true });
            // The topics of `maloko help` are links to the documents.
            cpSync(join(workspace, folder, file), join(source, folder, file), { dereference: true });
        }
    }
    const folders = crates.map(({ folder }) => `"${folder}"`).join(", ");
    const manifest = readFileSync(join(workspace, "Cargo.toml"), "utf8")
        .replace(/^members = .*$/m, `members = [${folders}]`)
        .replace(/^default-members = .*$/m, 'default-members = ["node-binding"]');
    writeFileSync(join(source, "Cargo.toml"), manifest);
    cpSync(join(workspace, "Cargo.lock"), join(source, "Cargo.lock"));
    // Takes what the other crates need out of the lock file, which is then complete: the build is `--locked`.
    output(cargo, ["metadata", "--format-version", "1"], source);
}

const staged = mkdtempSync(join(tmpdir(), "maloko-package-"));
try {
    const about = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
    about.scripts = {};
    if (fromSource) {
        addSource(join(staged, "source"));
        about.files = [...about.files.filter((it) => it !== "*.node"), "source"];
        about.scripts.install = "node bin/build.js";
    }
    for (const engine of fromSource ? [] : engines) {
        cpSync(engine, join(staged, basename(engine)));
    }
    writeFileSync(join(staged, "package.json"), `${JSON.stringify(about, null, 2)}\n`);
    for (const name of ["bin", "dist", "native.d.ts"]) {
        cpSync(join(here, name), join(staged, name), { recursive: true });
    }
    for (const name of ["LICENSE", "README.md"]) {
        cpSync(join(workspace, name), join(staged, name));
    }
    mkdirSync(out, { recursive: true });
    output(process.platform === "win32" ? "npm.cmd" : "npm", ["pack", "--silent", "--pack-destination", out], staged);
    const packed = join(out, `maloko-${about.version}${fromSource ? "-source" : ""}.tgz`);
    if (fromSource) {
        renameSync(join(out, `maloko-${about.version}.tgz`), packed);
    }
    process.stdout.write(`${packed}\n`);
} finally {
    rmSync(staged, { recursive: true, force: true });
}
