// A program's tsconfig.json, as far as the loader has to know it.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

interface TsConfig {
    extends?: string | string[];
    compilerOptions?: { useDefineForClassFields?: boolean };
}

/**
 * The configuration to load a program's TypeScript with. Class fields must not be re-initialised after `super()`, or the
 * declared outputs of a resource vanish: unless the user's own file decides that, ours says so and extends it.
 */
export function loaderConfig(directory: string, named: string | undefined): string | undefined {
    const file = named === undefined ? findUp(directory) : path.resolve(directory, named);
    if (file !== undefined && decidesClassFields(file, new Set())) {
        return file;
    }
    const ours = {
        ...(file === undefined ? {} : { extends: file }),
        compilerOptions: { ...(file === undefined ? { target: "es2022" } : {}), useDefineForClassFields: false },
        include: [`${directory.split(path.sep).join("/")}/**/*`],
    };
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "maloko-"));
    process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
    const written = path.join(folder, "tsconfig.json");
    fs.writeFileSync(written, JSON.stringify(ours));
    return written;
}

/** A file by its name, or its path from there: in a directory or one above. */
export function findUp(directory: string, name = "tsconfig.json"): string | undefined {
    for (let current = directory; ; current = path.dirname(current)) {
        const file = path.join(current, name);
        if (fs.existsSync(file)) {
            return file;
        }
        if (path.dirname(current) === current) {
            return undefined;
        }
    }
}

function decidesClassFields(file: string, seen: Set<string>): boolean {
    if (seen.has(file)) {
        return false;
    }
    seen.add(file);
    const config = readConfig(file);
    if (config === undefined) {
        return false;
    }
    if (config.compilerOptions?.useDefineForClassFields !== undefined) {
        return true;
    }
    const bases = config.extends === undefined ? [] : [config.extends].flat();
    return bases.some((base) => {
        const found = resolveBase(base, file);
        return found !== undefined && decidesClassFields(found, seen);
    });
}

function resolveBase(base: string, file: string): string | undefined {
    const candidates = base.startsWith(".") || path.isAbsolute(base) ? [path.resolve(path.dirname(file), base)] : [];
    for (const candidate of candidates.flatMap((it) => [it, `${it}.json`])) {
        if (fs.existsSync(candidate) && fs.statSync(candidate).isFile()) {
            return candidate;
        }
    }
    for (const name of [base, `${base}.json`, `${base}/tsconfig.json`]) {
        try {
            return require.resolve(name, { paths: [path.dirname(file)] });
        } catch {
            // Not under this name.
        }
    }
    return undefined;
}

// Comments and trailing commas are allowed there. A file that cannot be read is left for the loader to complain about.
function readConfig(file: string): TsConfig | undefined {
    try {
        const text = fs.readFileSync(file, "utf8");
        const bare = text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
            part.startsWith('"') ? part : "",
        );
        return JSON.parse(
            bare.replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (part) => (part.startsWith('"') ? part : "")),
        ) as TsConfig;
    } catch {
        return undefined;
    }
}
