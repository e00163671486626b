#!/usr/bin/env node
// Builds the engine from the source that came with the package, with cargo alone; nothing where there is one already.
"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { LIBRARIES, platformKey } = require("./platform.js");

const root = path.dirname(__dirname);
const source = path.join(root, "source");

function fail(...lines) {
    process.stderr.write(`${lines.join("\n")}\n`);
    process.exit(1);
}

const key = platformKey();
const addon = path.join(root, `maloko.${key}.node`);
if (fs.existsSync(addon)) {
    process.exit(0);
}
if (!fs.existsSync(source)) {
    fail(
        `maloko has no engine for ${key}, and this package has no source to build one from.`,
        "Install maloko-VERSION-source.tgz in its place, on a machine with Rust.",
    );
}
const rust = /^rust-version = "(.*)"$/m.exec(fs.readFileSync(path.join(source, "Cargo.toml"), "utf8"))?.[1];
const cargo = process.env.CARGO ?? "cargo";
const found = spawnSync(cargo, ["--version"], { cwd: source, encoding: "utf8" });
if (found.error !== undefined || found.status !== 0) {
    const why = found.error?.message ?? found.stderr.trim().split("\n")[0];
    fail(
        `maloko's engine for ${key} is built from source, and ${cargo} cannot be run: ${why}.`,
        `Install Rust ${rust} or newer and a C compiler, then repeat this: ${process.execPath} ${__filename}`,
    );
}
process.stderr.write(`maloko: building the engine for ${key} with ${found.stdout.trim()}; this takes some minutes\n`);
const given = process.env.CARGO_TARGET_DIR;
const target = given === undefined ? path.join(source, "target") : path.resolve(given);
const args = ["build", "--release", "--locked", "--quiet", "-p", "maloko-node", "--target-dir", target];
const built = spawnSync(cargo, args, { cwd: source, stdio: ["ignore", "inherit", "inherit"] });
if (built.status !== 0) {
    fail(
        `maloko's engine for ${key} could not be built: cargo's messages stand above.`,
        `It needs Rust ${rust} or newer and a C compiler. To repeat this: ${process.execPath} ${__filename}`,
    );
}
fs.copyFileSync(path.join(target, "release", LIBRARIES[process.platform] ?? LIBRARIES.linux), `${addon}.new`);
fs.renameSync(`${addon}.new`, addon);
if (given === undefined) {
    fs.rmSync(target, { recursive: true, force: true });
}
