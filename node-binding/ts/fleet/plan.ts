// A fleet: its file or the same made by code, and what it plans.
import * as path from "node:path";
import { loadAddon } from "../native";
import { parseJson, toJsonText } from "../originals";
import { withReferences } from "./beside";
import type { Verb } from "./deploy";
import { ConfigurationError, FleetError } from "./ends";
import { type Run, start } from "./run";
import type { Place, Plan } from "./wire";

/** Stacks of one program, for a fleet that is made by code. The members are those of an entry in the file. */
export interface Stack {
    /** A directory with `Pulumi.yaml`, `FILE.js#EXPORT` or `FILE.py:FUNCTION`, relative to the fleet's directory. */
    program: string;
    /** The stack's name; `{column}` stands for what the row has there. */
    stack: string;
    project?: string;
    labels?: Record<string, string>;
    config?: Record<string, unknown>;
    needs?: readonly string[];
    queue?: string;
    /** One stack for each; without rows it is one stack. */
    rows?: readonly Record<string, unknown>[];
}

/** The settings of a fleet that is made by code: the members of the file beside its stacks. */
export interface FleetSettings {
    /** Such as `temporal://127.0.0.1:7233/default`. */
    engine?: string;
    backend?: string;
    key?: "fleet" | "stack";
    limits?: { atATime?: number; each?: Record<string, number>; startsPerSecond?: Record<string, number> };
    retry?: { provider?: number; firstWait?: string; longestWait?: string };
    waves?: readonly { select?: string; share?: string; pause?: string; unlessFailed?: number }[];
    stopAfter?: number | string;
    heartbeat?: string;
    deadline?: string;
    /** How much of each stack's past is kept. */
    keep?: { history?: number; generations?: number };
    schedules?: Record<string, { every: string; jitter?: string; verb?: string; select?: string | readonly string[] }>;
}

/** What a run is to do. */
export interface PlanOptions {
    /** `LABEL=PATTERN`; a stack has to match all of them. */
    select?: string | readonly string[];
    /** Names or patterns of stacks; a stack has to match one of them. */
    stacks?: string | readonly string[];
    /** Stacks at a time, in place of what the file says. */
    atATime?: number;
    /** Failures after which nothing more begins: a number, or a share such as `5%`. */
    stopAfter?: number | string;
}

/** How a run is begun. */
export interface StartOptions extends PlanOptions {
    /** Of a refresh: change nothing. */
    previewOnly?: boolean;
    /** Whether the ends have the stacks' outputs. */
    outputs?: boolean;
    /** What the stacks' histories say of it. */
    message?: string;
    /** Of an import: where what a stack takes over is listed, such as `imports/{stack}.json`. */
    importFile?: string;
}

const CHOICES = ["select", "stacks", "atATime", "stopAfter"];

/** Stacks that are worked on together. */
export class Fleet {
    readonly #source: string;

    /**
     * `place`: the path of a fleet's file, or, for a fleet that is made by code, its name; `stacks`: the stacks of that;
     * `settings`: the directory of its programs, and what a file has beside the stacks.
     */
    constructor(place: string, stacks?: readonly Stack[], settings: FleetSettings & { directory?: string } = {}) {
        if (stacks === undefined) {
            const given = Object.keys(settings);
            if (given.length > 0) {
                throw new FleetError(`a fleet from a file takes no settings beside it: ${given.join(", ")}`);
            }
            this.#source = path.resolve(place);
            return;
        }
        const { directory = ".", ...others } = settings;
        this.#source = toJsonText({
            directory: path.resolve(directory),
            name: place,
            stacks: stacks.map(({ rows, ...members }) => ({
                ...members,
                ...(rows === undefined ? {} : { for: rows }),
            })),
            ...asInFiles(others),
        });
    }

    /** What a run would do, as it is handed to the server. Throws when the file, its tables or what is asked for cannot be used. */
    plan(verb: Verb, options: PlanOptions = {}): Plan {
        refuseUnknown(options);
        const { select, stacks, atATime, stopAfter } = options;
        const request = {
            verb,
            select: several(select),
            stacks: several(stacks),
            atATime: atATime ?? null,
            stopAfter: stopAfter === undefined ? null : String(stopAfter),
            variables: process.env,
        };
        return parseJson(refusing(() => loadAddon().fleetPlan(this.#source, toJsonText(request)))) as Plan;
    }

    /** @internal Which fleet it is, without a plan. */
    place(): Place {
        return parseJson(refusing(() => loadAddon().fleetPlace(this.#source))) as Place;
    }

    /** Begins a run that makes the resources as the programs say. */
    up(options?: StartOptions): Promise<Run> {
        return this.start("up", options);
    }

    /** Begins a run that says what `up` would do. */
    preview(options?: StartOptions): Promise<Run> {
        return this.start("preview", options);
    }

    /** Begins a run that makes the states as the real resources are. */
    refresh(options?: StartOptions): Promise<Run> {
        return this.start("refresh", options);
    }

    /** Begins a run that says where the real resources are no longer as the states have them; it changes nothing. */
    drift(options?: StartOptions): Promise<Run> {
        return this.start("refresh", { ...options, previewOnly: true });
    }

    /** Begins a run that deletes every resource of the stacks. */
    destroy(options?: StartOptions): Promise<Run> {
        return this.start("destroy", options);
    }

    /** Begins a run in which stacks take over objects that exist, listed in files such as `imports/{stack}.json`. */
    import(file: string, options?: StartOptions): Promise<Run> {
        return this.start("import", { ...options, importFile: file });
    }

    /** Begins a run that reads the stacks' outputs; secret ones are `[secret]`. */
    outputs(options?: StartOptions): Promise<Run> {
        return this.start("outputs", { ...options, outputs: true });
    }

    /**
     * Begins a run, or gives the one that does the same already. References in the last states order the stacks, too, so those are
     * read here. Throws a `FleetError` when the server or the states cannot be reached, or stacks refer to each other in a circle.
     */
    async start(verb: Verb, options: StartOptions = {}): Promise<Run> {
        const { previewOnly = false, outputs = false, message = "", importFile = "", ...asked } = options;
        return start(await withReferences(this.plan(verb, asked)), { previewOnly, outputs, message, importFile });
    }
}

/** The fleet of a file. Nothing is read before it is asked to plan. */
export function load(file = "fleet.yaml"): Fleet {
    return new Fleet(file);
}

// Where nobody checks types, a mistaken name would mean all stacks.
function refuseUnknown(asked: PlanOptions): void {
    const unknown = Object.keys(asked).find((name) => !CHOICES.includes(name));
    if (unknown !== undefined) {
        throw new ConfigurationError(
            `there is no option '${unknown}': which stacks, and how, say ${CHOICES.join(", ")}`,
        );
    }
}

function refusing(read: () => string): string {
    try {
        return read();
    } catch (error) {
        throw new ConfigurationError((error as Error).message, { cause: error });
    }
}

function several(given: string | readonly string[] | undefined): string[] {
    return given === undefined ? [] : typeof given === "string" ? [given] : [...given];
}

// In the file, names have a line between their words. Below these members they are the file's, too; elsewhere they are labels.
function asInFiles({ limits, retry, waves, ...others }: FleetSettings): object {
    return underscored({
        ...others,
        ...(limits === undefined ? {} : { limits: underscored(limits) }),
        ...(retry === undefined ? {} : { retry: underscored(retry) }),
        ...(waves === undefined ? {} : { waves: waves.map(underscored) }),
    });
}

function underscored(members: object): object {
    const name = (it: string): string => it.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return Object.fromEntries(Object.entries(members).map(([key, value]) => [name(key), value as unknown]));
}
