// The packages of the server, which only those need who drive runs or work on them: they are loaded when they are asked for.
import { FleetError } from "./ends";

interface Packages {
    activity: typeof import("@temporalio/activity");
    client: typeof import("@temporalio/client");
    common: typeof import("@temporalio/common");
    envconfig: typeof import("@temporalio/envconfig");
    worker: typeof import("@temporalio/worker");
}

const ALL = "@temporalio/{activity,client,common,envconfig,worker,workflow}";

/** One of them, as the user's project has it. */
export function temporal<Name extends keyof Packages>(name: Name): Packages[Name] {
    try {
        return require(`@temporalio/${name}`) as Packages[Name];
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") {
            throw error;
        }
        throw new FleetError(`maloko/fleet needs more packages for this: npm install ${ALL}`, { cause: error });
    }
}
