// The packages of the server, which only those need who drive runs or work on them: they are loaded when they are asked for, as the
// user's project has them. They are optional peers of any version: npm refuses a whole installation because of one.
import * as path from "node:path";
import { FleetError } from "./ends";

interface Packages {
    activity: typeof import("@temporalio/activity");
    client: typeof import("@temporalio/client");
    common: typeof import("@temporalio/common");
    envconfig: typeof import("@temporalio/envconfig");
    worker: typeof import("@temporalio/worker");
}

/** The first minor version of 1 that has all that is used. */
const OLDEST = 24;
const INSTALLATION =
    "npm install " +
    ["client", "worker", "workflow", "activity", "common", "envconfig"].map((name) => `@temporalio/${name}`).join(" ");

/** One of them; throws a `FleetError` where it is missing or too old. */
export function temporal<Name extends keyof Packages>(name: Name): Packages[Name] {
    const tool = `@temporalio/${name}`;
    let manifest: string;
    try {
        manifest = require.resolve(`${tool}/package.json`);
    } catch (error) {
        throw new FleetError(`\`maloko/fleet\` needs ${tool} for this: \`${INSTALLATION}\``, { cause: error });
    }
    const { version } = require(manifest) as { version: string };
    const [major = 0, minor = 0] = version.split(".").map(Number);
    if (major < 1 || (major === 1 && minor < OLDEST)) {
        throw new FleetError(
            `\`maloko/fleet\` works with ${tool} 1.${OLDEST} and newer; the version here is ${version} ` +
                `(${path.dirname(manifest)}). Install a newer one: \`${INSTALLATION}\``,
        );
    }
    return require(tool) as Packages[Name];
}
