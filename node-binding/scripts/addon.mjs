// Builds the addon alone, for a platform that may be another one: node scripts/addon.mjs TARGET DIRECTORY
// TARGET is Rust's name of it. `x86_64-unknown-linux-gnu.2.17` runs with glibc 2.17 and newer; that, and any other Linux, needs
// zig and cargo-zigbuild.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import platform from "../bin/platform.js";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const cargo = process.env.CARGO ?? "cargo";
const [wanted, directory] = process.argv.slice(2);
if (wanted === undefined || directory === undefined) {
    throw new Error("usage: node scripts/addon.mjs TARGET DIRECTORY");
}
const [, target, machine, system, libc] =
    /^((x86_64|aarch64)-(?:unknown|apple|pc)-(linux|darwin|windows)(?:-(gnu|musl|msvc))?)(?:\.[\d.]+)?$/.exec(wanted) ??
    [];
if (target === undefined) {
    throw new Error(`no way is known to build for ${wanted}`);
}
const linux = system === "linux";
const nodeSystem = system === "windows" ? "win32" : system;
const key = [nodeSystem, { aarch64: "arm64", x86_64: "x64" }[machine], ...(linux ? [libc] : [])].join("-");

// A library for musl's loader is linked with musl, not made to contain it.
const flags = [process.env.RUSTFLAGS, libc === "musl" ? "-C target-feature=-crt-static" : ""].filter(Boolean).join(" ");
execFileSync(
    cargo,
    [
        linux ? "zigbuild" : "build",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "maloko-node",
        "--target",
        linux ? wanted : target,
    ],
    {
        cwd: here,
        stdio: ["ignore", "inherit", "inherit"],
        env: { ...process.env, ...(flags === "" ? {} : { RUSTFLAGS: flags }) },
    },
);
const { target_directory: built } = JSON.parse(
    execFileSync(cargo, ["metadata", "--no-deps", "--format-version", "1"], { cwd: here, maxBuffer: 1 << 26 }),
);
mkdirSync(resolve(directory), { recursive: true });
const addon = join(resolve(directory), `maloko.${key}.node`);
copyFileSync(join(built, target, "release", platform.LIBRARIES[nodeSystem]), addon);
process.stdout.write(`${addon}\n`);
