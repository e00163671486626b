// What the command line asks for.
import { Fleet } from "../plan";
import type { Place } from "../wire";

/** The arguments of a command; each has those that mean something for it. */
export interface Request {
    command: string;
    file: string;
    directory: string;
    select?: string[];
    stacks?: string[];
    atATime?: number;
    stopAfter?: string;
    detach?: boolean;
    yes?: boolean;
    workers?: number;
    cancelOnInterrupt?: boolean;
    message?: string;
    importFile?: string;
    outputs?: boolean;
    json?: boolean;
    run?: string;
    stack?: string;
    output?: string;
    queues?: string[];
    slots?: number;
    processes?: number;
    port?: number;
    uiPort?: number;
    apply?: boolean;
    interactive?: boolean;
    columns?: number;
}

/** The fleet of the command's file. */
export function fleetOf({ file }: Request): Fleet {
    return new Fleet(file);
}

/** The name of the fleet, and its server. */
export function placeOf(asked: Request): Place {
    return fleetOf(asked).place();
}
