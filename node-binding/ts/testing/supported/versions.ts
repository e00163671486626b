// The versions of the user's own tools that the testing kit works with. They are optional peers of any version: npm refuses a
// whole installation because of one, also where the kit is never used.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The tools, the oldest version that the kit works with, and the one to install. */
const TOOLS = {
    jest: { oldest: [28, 0], install: "jest@30" },
    vitest: { oldest: [1, 0], install: "vitest@4" },
    "fast-check": { oldest: [3, 0], install: "fast-check@4" },
    "@mswjs/interceptors": { oldest: [0, 39], install: "@mswjs/interceptors" },
} as const;

/** A tool of the user's. */
export type Tool = keyof typeof TOOLS;

/** The command that installs a tool in a version that works. */
export function installation(tool: Tool): string {
    return `npm install --save-dev ${TOOLS[tool].install}`;
}

/** Throws an error that says what to do where a tool that is installed is too old for `user`, a part of the kit. */
export function requireSupported(tool: Tool, user: string): void {
    const found = installed(tool);
    if (found === undefined) {
        return;
    }
    const [oldest, part] = TOOLS[tool].oldest;
    const [major = 0, minor = 0] = found.version.split(".").map(Number);
    if (major < oldest || (major === oldest && minor < part)) {
        const needed = part === 0 ? oldest : `${oldest}.${part}`;
        throw new Error(
            `${user} works with ${tool} ${needed} and newer; the version here is ${found.version} (${found.folder}). ` +
                `Install a newer one: \`${installation(tool)}\``,
        );
    }
}

// Not every package exports its package.json, so it is read from where Node would find it. Undefined where the layout of packages
// has no such folder: the tool then runs as it can.
function installed(tool: Tool): { version: string; folder: string } | undefined {
    for (const begin of [process.cwd(), __dirname]) {
        for (let place = begin, above = ""; place !== above; above = place, place = dirname(place)) {
            const folder = join(place, "node_modules", tool);
            try {
                const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
                    version: string;
                };
                return { version, folder };
            } catch {
                // Perhaps further up.
            }
        }
    }
    return undefined;
}
