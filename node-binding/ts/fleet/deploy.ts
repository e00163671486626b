// One stack, deployed by the process that calls: the step that every engine which distributes stacks needs.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { PulumiFn } from "@pulumi/pulumi/automation";
import type { Holder, Why } from "../automation/errors/reasons";
import { flagsOf } from "../automation/flags";
import { runInside } from "../automation/inside";
import { runInChild } from "../automation/local";
import type { ProgressOptions } from "../automation/progress";
import type { CommandRequest, OperationEnd } from "../automation/request";
import type { CommandResult } from "../automation/result";
import * as settings from "../automation/settings";
import { parseJson } from "../originals";
import { withPlace } from "../process/errors";
import { NO_CHANGE } from "./course/earlier-changes";
import { End, FleetError } from "./ends";
import { currentPrinting } from "./printed";
import { loadProgram } from "./programs";
import type { Secret, StackEnd, StackSpec } from "./wire";

/** What may be done with a stack of a fleet. */
export type Verb = "up" | "preview" | "refresh" | "destroy" | "import" | "outputs";

/** How `deployOne` works. */
export interface DeployOptions extends ProgressOptions {
    /** That of the fleet, against which the program's path counts; that of the process when not given. */
    directory?: string;
    /**
     * The piece of work that this is an attempt at: a name that no other one has. A later attempt takes over the lock of an
     * earlier one that is dead.
     */
    run?: string;
    /** Which attempt; has to rise. 1 when not given. */
    attempt?: number;
    /** Where the state is kept; the project's own place when not given. */
    backend?: string;
    /** `fleet`: all stacks share one key; `stack`: each has its own. */
    key?: "fleet" | "stack";
    /** Entries of the stack's history that are kept; as `MALOKO_HISTORY_LIMIT` says when not given. */
    historyLimit?: number;
    /** Former states that are kept; as `MALOKO_GENERATIONS` says when not given. */
    generations?: number;
    /** Of a refresh: only say what differs. */
    previewOnly?: boolean;
    /** Whether the end has the stack's outputs; secret ones are `[secret]`. */
    outputs?: boolean;
    /** What the stack's history says of it. */
    message?: string;
    /**
     * Where what the stack takes over is listed, as for `maloko import --file`: relative to the directory, with `{stack}`,
     * `{project}` and `{label}` for its own. A stack without such a file takes nothing over.
     */
    importFile?: string;
    /** Cancels the work, which ends in order first. */
    signal?: AbortSignal;
}

const CHANGES = ["--yes", "--skip-preview"];
const OPERATIONS: Record<Exclude<Verb, "outputs">, string[]> = {
    up: ["up", ...CHANGES],
    preview: ["preview"],
    refresh: ["refresh", ...CHANGES],
    destroy: ["destroy", ...CHANGES],
    import: ["import", ...CHANGES, "--generate-code=false"],
};
const MAKES_STACKS: readonly Verb[] = ["up", "preview", "import"];
/** A stack has its labels as tags, for `stack ls --label`. */
const GIVES_TAGS: readonly Verb[] = ["up", "import"];
/** The exit code of a command that was stopped. */
const CANCELLED = 8;

/**
 * Works on one stack and says how it ended. It throws nothing for a stack that fails; a `FleetError` where the program cannot be
 * loaded, the configuration cannot be read, or the verb is not known.
 *
 * `stack`: as a plan has it (`fleet.plan("up").stacks`); `verb`: `up`, `preview`, `refresh`, `destroy`, `import` or `outputs`.
 */
export async function deployOne(stack: StackSpec, verb: Verb = "up", options: DeployOptions = {}): Promise<End> {
    if (!Object.hasOwn(OPERATIONS, verb) && verb !== "outputs") {
        const known = `${Object.keys(OPERATIONS).join(", ")} or outputs`;
        throw new FleetError(`there is no verb '${String(verb)}' for a stack of a fleet: use ${known}`);
    }
    const { attempt = 1 } = options;
    const began = performance.now();
    const directory = await fs.promises.mkdtemp(path.join(os.tmpdir(), "maloko-stack-"));
    try {
        const end = await new StackCommands(stack, directory, options).perform(verb);
        return new End({ ...end, attempts: attempt, seconds: (performance.now() - began) / 1000 });
    } finally {
        await fs.promises.rm(directory, { recursive: true, force: true });
    }
}

type AttemptEnd = Omit<StackEnd, "attempts" | "seconds">;

/** @internal The commands for one stack, with settings and an environment of their own. */
export class StackCommands {
    readonly #stack: StackSpec;
    readonly #options: DeployOptions;
    readonly #root: string;
    readonly #directory: string;
    readonly #settingsFile: string;
    readonly #secrets: Map<string, string>;
    readonly #variables: Record<string, string> = {};
    #program: PulumiFn | undefined;

    /** `own`: an empty directory, for what a command writes into the stack's settings. */
    constructor(stack: StackSpec, own: string, options: DeployOptions) {
        const { directory = ".", run, attempt = 1, backend, historyLimit, generations } = options;
        this.#stack = stack;
        this.#options = options;
        this.#root = path.resolve(directory);
        this.#directory = stack.inline ? own : path.join(this.#root, stack.program);
        this.#settingsFile = path.join(own, `Pulumi.${stack.stack}.yaml`);
        if (run !== undefined) {
            this.#variables.MALOKO_ATTEMPT = `${run}:${attempt}`;
        }
        if (backend !== undefined) {
            this.#variables.PULUMI_BACKEND_URL = placed(backend, this.#root);
        }
        if (historyLimit !== undefined) {
            this.#variables.MALOKO_HISTORY_LIMIT = String(historyLimit);
        }
        if (generations !== undefined) {
            this.#variables.MALOKO_GENERATIONS = String(generations);
        }
        if (stack.inline) {
            settings.saveProject(own, { name: stack.project, runtime: stack.language });
        }
        this.#secrets = secretsOf(stack, this.#root);
        writeSettings(stack, this.#directory, own);
    }

    /** Makes or finds the stack, gives it its secrets, and does what is asked. */
    async perform(verb: Verb): Promise<AttemptEnd> {
        const { id, inline, labels, program } = this.#stack;
        if (inline) {
            this.#program = await loadProgram(this.#root, program);
        }
        const creates = MAKES_STACKS.includes(verb);
        const shared = creates && this.#options.key === "fleet" ? ["--secrets-provider", "fleet"] : [];
        const given = GIVES_TAGS.includes(verb) ? Object.entries(labels).filter(isTag) : [];
        const tags = given.map(([name, value]) => `--tag=${name}=${value}`);
        const selected = await this.command(["stack", "select", ...(creates ? ["--create"] : []), ...shared, ...tags]);
        if (selected.why?.reason === "no-stack" && !creates) {
            // There is nothing to destroy, to refresh or to tell.
            return verb === "outputs" ? { ...unchanged(id), outputs: {} } : unchanged(id);
        }
        if (selected.code !== 0) {
            return this.#end(selected);
        }
        if (this.#secrets.size > 0) {
            const pairs = [...this.#secrets].flatMap(([name, value]) => ["--secret", `${name}=${value}`]);
            const configured = await this.command(["config", "set-all", ...pairs]);
            if (configured.code !== 0) {
                return this.#end(configured);
            }
        }
        const end = await this.#operate(verb);
        const ended = end.outcome === "done" || end.outcome === "unchanged";
        if (!ended || !(this.#options.outputs === true || verb === "outputs")) {
            return end;
        }
        const listed = await this.command(["stack", "output", "--json"]);
        return listed.code === 0
            ? { ...end, outputs: parseJson(listed.stdout) as Record<string, unknown> }
            : this.#end(listed);
    }

    async #operate(verb: Verb): Promise<AttemptEnd> {
        const { id } = this.#stack;
        if (verb === "outputs") {
            return unchanged(id);
        }
        const { previewOnly, message, importFile = "" } = this.#options;
        const words =
            verb === "refresh" && previewOnly === true ? ["refresh", "--preview-only"] : [...OPERATIONS[verb]];
        if (verb === "import") {
            const name = ofStack(importFile, this.#stack);
            const file = path.resolve(this.#root, name);
            if (!isFile(file)) {
                const missing = `it takes nothing over: there is no file ${name} at this worker`;
                return { ...unchanged(id), warnings: [missing] };
            }
            words.push("--file", file);
        }
        const flags = flagsOf(verb, { message, suppressOutputs: true, suppressProgress: true });
        const kind = this.#program === undefined ? "auto.local" : "auto.inline";
        return this.#end(await this.command([...words, ...flags, "--exec-kind", kind], true));
    }

    /** Runs a command for the stack; how it ended is in what it gives. */
    command(words: string[], operates = false): Promise<CommandResult> {
        const { onProgress, progressEvery, signal } = this.#options;
        const printing = currentPrinting();
        const request: CommandRequest = {
            arguments: [
                ...words,
                "--stack",
                this.#stack.stack,
                "--config-file",
                this.#settingsFile,
                "--non-interactive",
            ],
            directory: this.#directory,
            root: this.#root,
            variables: this.#variables,
            program: operates ? this.#program : undefined,
            signal,
            returnsFailures: true,
            ...(operates ? { onProgress, progressEvery, onPrinted: printing?.tell, onRun: printing?.of } : {}),
        };
        return operates && this.#program === undefined ? runInChild(request) : runInside(request);
    }

    #end({ code, operation, why }: CommandResult): AttemptEnd {
        const { id } = this.#stack;
        const changes = Object.fromEntries(Object.entries(operation?.changes ?? {}).filter(([, count]) => count > 0));
        const { read = [], warnings = [], differences = [] } = operation ?? {};
        if (code === 0) {
            const changed = Object.keys(changes).some((op) => !NO_CHANGE.includes(op));
            const outcome = changed ? "done" : "unchanged";
            return { id, outcome, changes, reason: "", text: "", read, warnings, differences };
        }
        const cancelled = code === CANCELLED && (why === undefined || why.reason === "cancelled");
        return {
            id,
            outcome: cancelled ? "cancelled" : "failed",
            changes,
            reason: why?.reason ?? "other",
            text: why === undefined ? `the command ended with the exit code ${code}` : textOf(why, operation),
            urn: operation?.urn ?? null,
            method: operation?.method ?? null,
            retryAfter: why?.retryAfter ?? null,
            needs: why?.needs ?? null,
            read,
            warnings,
        };
    }
}

// An error of the program is told with its line, and a lock by who holds it.
function textOf({ reason, text, holder }: Why, operation: OperationEnd | undefined): string {
    if (reason === "locked" && holder !== null) {
        return lockOf(holder);
    }
    if (reason === "key") {
        // The rest is advice for a command in a terminal.
        return text.split(/[.;] /, 1)[0] ?? "";
    }
    return reason === "program" ? withPlace(text, operation?.error ?? "") : text;
}

function unchanged(id: string): AttemptEnd {
    return { id, outcome: "unchanged", changes: {}, reason: "", text: "" };
}

// A relative folder of files is below the directory of the fleet.
function placed(backend: string, root: string): string {
    const [, place] = /^file:\/\/([^/~].*|)$/s.exec(backend) ?? [];
    return place === undefined ? backend : `file://${path.join(root, place)}`;
}

// What to do about it by hand is no advice for a fleet.
function lockOf({ user, host, since, operation, run }: Holder): string {
    return run === null
        ? `locked by ${user} (\`${operation}\`) on ${host} since ${since}`
        : `locked by run ${run.split("/", 1)[0]}`;
}

// Labels are columns of tables, too; not all of those can be tags.
function isTag([name, value]: [string, string]): boolean {
    return /^[A-Za-z0-9_.:-]{1,40}$/.test(name) && [...value].length <= 256;
}

function ofStack(template: string, { labels, project, stack }: StackSpec): string {
    const names = Object.entries({ ...labels, project, stack });
    return names.reduce((text, [name, value]) => text.replaceAll(`{${name}}`, () => value), template);
}

function isFile(file: string): boolean {
    return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

// The stack's own settings, where its program has some, with what the fleet says over them.
function writeSettings(stack: StackSpec, directory: string, own: string): void {
    const members = ownSettings(stack, directory);
    const config = { ...members.config };
    for (const [name, value] of Object.entries(stack.config)) {
        if (typeof value === "string") {
            config[fullName(stack, name)] = value;
        }
    }
    settings.saveStack(own, stack.stack, { ...members, config });
}

function ownSettings({ id, stack }: StackSpec, directory: string): ReturnType<typeof settings.loadStack> {
    if (!settings.hasStack(directory, stack)) {
        return {};
    }
    try {
        return settings.loadStack(directory, stack);
    } catch (error) {
        throw new FleetError(`${id}: ${(error as Error).message}`, { cause: error });
    }
}

function fullName({ project }: StackSpec, name: string): string {
    return name.includes(":") ? name : `${project}:${name}`;
}

// The secret values of the stack's configuration, read where they are: in this process.
function secretsOf(stack: StackSpec, root: string): Map<string, string> {
    const secrets = new Map<string, string>();
    for (const [name, value] of Object.entries(stack.config)) {
        if (typeof value !== "string") {
            secrets.set(fullName(stack, name), secretOf(`${stack.id}: the configuration '${name}'`, value, root));
        }
    }
    return secrets;
}

function secretOf(what: string, { secretFrom }: Secret, root: string): string {
    if ("env" in secretFrom) {
        const found = process.env[secretFrom.env];
        if (found === undefined) {
            throw new FleetError(
                `${what} is in the variable ${secretFrom.env}, which is not set for this worker: set it where the worker is started`,
            );
        }
        return found;
    }
    try {
        return fs.readFileSync(path.resolve(root, secretFrom.file), "utf8").replace(/\n+$/, "");
    } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        throw new FleetError(`${what} is in the file ${secretFrom.file}, which cannot be read: ${code ?? message}`, {
            cause: error,
        });
    }
}
