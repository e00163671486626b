// Builds the package for this platform: the addon with cargo, the TypeScript part with tsc.
//   MALOKO_PROFILE=dev   a quick build of the addon, for work on it (default: release)
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const profile = process.env.MALOKO_PROFILE ?? "release";
const libraries = { linux: "libmaloko_node.so", darwin: "libmaloko_node.dylib", win32: "maloko_node.dll" };

function platformKey() {
    if (process.platform !== "linux") {
        return `${process.platform}-${process.arch}`;
    }
    const { header } = process.report.getReport();
    return `linux-${process.arch}-${header.glibcVersionRuntime === undefined ? "musl" : "gnu"}`;
}

function run(command, args, options = {}) {
    execFileSync(command, args, { cwd: here, stdio: ["ignore", "inherit", "inherit"], ...options });
}

const cargo = process.env.CARGO ?? "cargo";
const flags = ["build", "--quiet", "-p", "maloko-node", "--profile", profile];
run(cargo, flags);
const metadata = JSON.parse(
    execFileSync(cargo, ["metadata", "--no-deps", "--format-version", "1"], { cwd: here, maxBuffer: 1 << 26 }),
);
const library = join(metadata.target_directory, profile === "dev" ? "debug" : profile, libraries[process.platform]);
const addon = join(here, `maloko.${platformKey()}.node`);
// Beside first, then moved: a process that has the old addon loaded keeps it.
copyFileSync(library, `${addon}.new`);
renameSync(`${addon}.new`, addon);

rmSync(join(here, "dist"), { recursive: true, force: true });
run(process.execPath, [join(here, "node_modules", "typescript", "lib", "tsc.js"), "-p", "tsconfig.json"]);
for (const name of ["LICENSE", "README.md"]) {
    try {
        writeFileSync(join(here, name), readFileSync(join(dirname(here), name)));
    } catch (error) {
        if (error.code !== "ENOENT") {
            throw error;
        }
    }
}
