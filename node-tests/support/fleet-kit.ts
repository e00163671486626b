// A fleet under test: its folder, its world of files, and workers as users start them.
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    openSync,
    readdirSync,
    readFileSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { ended, type FleetServer, VENV, type Wire } from "./fleet-server";

const TESTS = join(dirname(fileURLToPath(import.meta.url)), "..");
const COMMAND = join(TESTS, "node_modules", ".bin", "maloko");
const PROGRAMS = join(TESTS, "fleets", "programs");
/** Where the programs of Python's tests are. */
export const PYTHON_PROGRAMS = join(TESTS, "..", "python-tests", "fleets", "programs");

/** Milliseconds between two commands that look for something: each is a process that takes half a second of a processor. */
export const COMMANDS = 2000;

/** Milliseconds after which a command hangs. */
const LONGEST_COMMAND = 250_000;

/** The processes that a process has started, the first one first. */
export function childrenOf({ pid }: ChildProcess): number[] {
    const threads = readdirSync(`/proc/${pid}/task`);
    const texts = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
    return texts.flatMap((text) => text.split(" ").filter((word) => word.trim() !== "")).map(Number);
}

/** Tenants `t0`, `t1` and so on, as the fleet's file has them. */
export function stacksOf(count: number, config: Record<string, string> = {}) {
    const rows = Array.from({ length: count }, (_, number) => ({ tenant: `t${number}` }));
    return [{ project: "tenant", program: "tenant.cjs#tenant", stack: "{tenant}", for: rows, config }];
}

/** An end of a stack, as `--json` prints it. */
export interface ToldEnd {
    id: string;
    outcome: string;
    changes: Record<string, number>;
    reason: string;
    text: string;
    attempts: number;
    worker?: string;
    outputs?: Record<string, unknown>;
}

/** What came of a run, with the ends by stack. */
export interface ToldResult {
    outcome: string;
    run: string;
    counts: Record<string, number>;
    ends: Record<string, ToldEnd>;
}

/** A folder with a fleet, the programs, and the world that its providers make. */
export class FleetFolder {
    readonly folder = mkdtempSync(join(tmpdir(), "maloko-fleet-"));
    readonly name = basename(this.folder);
    readonly world = join(this.folder, "world");
    readonly state = join(this.folder, "state");
    readonly variables: NodeJS.ProcessEnv = {
        ...process.env,
        WORLD: this.world,
        PULUMI_CONFIG_PASSPHRASE: "passphrase of the tests",
        PULUMI_HOME: join(this.folder, "home"),
    };
    readonly #processes: ChildProcess[] = [];

    /** Its processes end, and the folder is gone, when the test is over. */
    constructor(private readonly server: FleetServer) {
        onTestFinished(() => this.#end());
        for (const made of [this.world, this.state]) {
            mkdirSync(made);
        }
        cpSync(join(PROGRAMS, "tenant.cjs"), join(this.folder, "tenant.cjs"));
        symlinkSync(join(TESTS, "node_modules"), join(this.folder, "node_modules"));
    }

    /** Writes the fleet's file; YAML is JSON, too. */
    write(stacks: object[], settings: object = {}): void {
        const document = {
            name: this.name,
            engine: `temporal://${this.server.address}/default`,
            backend: `file://${this.state}`,
            key: "fleet",
            heartbeat: "10s",
            retry: { provider: 2, first_wait: "100ms", longest_wait: "1s" },
            ...settings,
            stacks,
        };
        writeFileSync(join(this.folder, "fleet.yaml"), JSON.stringify(document, undefined, 2));
    }

    /** Another file of the same fleet, whose workers reach the server by this way. */
    fileByWayOf(wire: Wire): string {
        const document = JSON.parse(readFileSync(join(this.folder, "fleet.yaml"), "utf8")) as object;
        const file = join(this.folder, "by-wire.yaml");
        writeFileSync(file, JSON.stringify({ ...document, engine: `temporal://127.0.0.1:${wire.port}/default` }));
        return file;
    }

    /** Runs `maloko fleet ...` in the folder, which ends with this code, or with any (`null`). */
    command(words: string[], code: number | null = 0): { stdout: string; stderr: string } {
        const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, "fleet", ...words], {
            cwd: this.folder,
            env: this.variables,
            encoding: "utf8",
            stdio: ["ignore", "pipe", "pipe"],
            // vitest cannot end a test that waits for a process.
            timeout: LONGEST_COMMAND,
            killSignal: "SIGKILL",
        });
        if (code !== null) {
            expect(status, stdout + stderr).toBe(code);
        }
        return { stdout, stderr };
    }

    /** Runs a command that prints a document. */
    told<T>(words: string[], code: number | null = 0): T {
        return JSON.parse(this.command([...words, "--json"], code).stdout) as T;
    }

    /** Runs a verb to its end; gives its result. */
    run(words: string[], code = 0): ToldResult {
        return byStack(this.told([...words, "--yes"], code));
    }

    /** The result of a run that was begun before. */
    results(run: string, code: number | null = 0): ToldResult {
        return byStack(this.told(["results", run], code));
    }

    /** The tenants whose stacks have a label, as `maloko stack ls` tells it beside the fleet. */
    stacksWith(label: string): string[] {
        const project = join(this.folder, "tenant");
        mkdirSync(project, { recursive: true });
        writeFileSync(join(project, "Pulumi.yaml"), "name: tenant\nruntime: nodejs\n");
        const words = [
            "stack",
            "ls",
            "--label",
            label,
            "--json",
            "--cwd",
            project,
            "--backend",
            `file://${this.state}`,
        ];
        const listed = spawnSync(process.execPath, [COMMAND, ...words], { env: this.variables, encoding: "utf8" });
        return (JSON.parse(listed.stdout) as { name: string }[]).map(({ name }) => name);
    }

    /** Begins a run, and gives its name. */
    detached(verb: string): string {
        const { stderr } = this.command([verb, "--yes", "--detach"]);
        return /run (\S+):/.exec(stderr)?.[1] ?? stderr;
    }

    /** Starts a worker, which writes into a file of the folder. */
    worker(...words: string[]): ChildProcess {
        return this.#started(process.execPath, [COMMAND, "fleet", "worker", ...words]);
    }

    /** Starts a worker that has these variables besides. */
    workerWith(variables: NodeJS.ProcessEnv, ...words: string[]): ChildProcess {
        return this.#started(process.execPath, [COMMAND, "fleet", "worker", ...words], variables);
    }

    /** Starts a worker of Python. */
    pythonWorker(...words: string[]): ChildProcess {
        return this.#started(join(VENV, "python"), ["-m", "maloko", "fleet", "worker", ...words]);
    }

    /** What the workers have written until now. */
    workerLogs(): string {
        const logs = readdirSync(this.folder).filter((name) => name.startsWith("worker-"));
        return logs.map((name) => readFileSync(join(this.folder, name), "utf8")).join("");
    }

    #started(program: string, words: string[], variables: NodeJS.ProcessEnv = {}): ChildProcess {
        const log = openSync(join(this.folder, `worker-${this.#processes.length}.log`), "w");
        const env = { ...this.variables, ...variables };
        return this.#kept(spawn(program, words, { cwd: this.folder, env, stdio: ["ignore", log, log] }));
    }

    /** Begins a command that goes on beside the test; what it has said until now is in `stderr`. */
    beside(...words: string[]): { child: ChildProcess; said: () => string } {
        let said = "";
        const child = spawn(process.execPath, [COMMAND, "fleet", ...words], {
            cwd: this.folder,
            env: this.variables,
            stdio: ["ignore", "pipe", "pipe"],
        });
        child.stdout.on("data", (bytes: Buffer) => {
            said += bytes.toString();
        });
        child.stderr.on("data", (bytes: Buffer) => {
            said += bytes.toString();
        });
        return { child: this.#kept(child), said: () => said };
    }

    #kept<T extends ChildProcess>(child: T): T {
        this.#processes.push(child);
        return child;
    }

    /** How many files each stack has in the world. */
    objects(): Record<string, number> {
        const folders = join(this.world, "objects");
        const names = existsSync(folders) ? readdirSync(folders) : [];
        return Object.fromEntries(names.map((name) => [name, readdirSync(join(folders, name)).length]));
    }

    /** How many stacks have come to their first object. */
    begun(): number {
        const folders = join(this.world, "objects");
        return existsSync(folders) ? readdirSync(folders).length : 0;
    }

    /** The stacks of which the world has a mark: `held`, `told` or `failed`. */
    marks(kind: "held" | "told" | "failed"): string[] {
        const folder = join(this.world, kind);
        return existsSync(folder) ? readdirSync(folder).sort() : [];
    }

    /** Calls that are held go on. */
    letGo(): void {
        writeFileSync(join(this.world, "go"), "");
    }

    /** The state of a stack, as its file has it. */
    stateOf(project: string, stack: string): string {
        return readFileSync(join(this.state, ".pulumi", "stacks", project, `${stack}.json`), "utf8");
    }

    /**
     * The states are as the world is: nothing pending, no journal, each object once and in the state. `failed`: stacks of which a
     * create may stay open: one that was cut off, and that failed ever since.
     */
    expectWhole(failed: string[] = []): void {
        const states = join(this.state, ".pulumi", "stacks");
        const files = existsSync(states) ? (readdirSync(states, { recursive: true }) as string[]) : [];
        expect(files.filter((name) => name.includes(".journal"))).toEqual([]);
        const known = new Set<string>();
        for (const name of files.filter((it) => /^[^/]+\/[^/]+\.json$/.test(it))) {
            const { latest } = (JSON.parse(readFileSync(join(states, name), "utf8")) as Kept).checkpoint;
            const stack = basename(name, ".json");
            expect(failed.includes(stack) ? [] : (latest?.pending_operations ?? []), name).toEqual([]);
            for (const { id } of latest?.resources ?? []) {
                known.add(id ?? "");
            }
        }
        for (const stack of Object.keys(this.objects())) {
            const objects = readdirSync(join(this.world, "objects", stack)).map((name) => `${stack}/${name}`);
            expect(objects.filter((id) => !known.has(id))).toEqual([]);
        }
    }

    /**
     * Copies stacks from a backend into the folder's own, as they are. Without a passphrase: what a killed run has left can be
     * made part of a state with it alone.
     */
    async fetchStates(backend: string, project: string, stacks: string[]): Promise<void> {
        const place = join(this.folder, "fetched");
        mkdirSync(place);
        writeFileSync(join(place, "Pulumi.yaml"), `name: ${project}\nruntime: nodejs\n`);
        const { PULUMI_CONFIG_PASSPHRASE: _, ...variables } = this.variables;
        const env = { ...variables, PULUMI_BACKEND_URL: backend };
        const words = [COMMAND, "stack", "migrate", "--to", `file://${this.state}`, "--stack"];
        const copied = promisify(execFile);
        await Promise.all(stacks.map((stack) => copied(process.execPath, [...words, stack], { cwd: place, env })));
    }

    async #end(): Promise<void> {
        await Promise.all(this.#processes.map((child) => ended(child, "SIGTERM")));
        rmSync(this.folder, { recursive: true, force: true });
    }
}

interface Kept {
    checkpoint: { latest?: { pending_operations?: unknown[]; resources?: { id?: string }[] } | null };
}

function byStack(told: Omit<ToldResult, "ends"> & { ends: ToldEnd[] }): ToldResult {
    return { ...told, ends: Object.fromEntries(told.ends.map((end) => [end.id, end])) };
}
