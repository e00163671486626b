// Throw-away projects that are driven through the installed command.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    renameSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { inject, onTestFinished } from "vitest";
import { Terminal } from "./terminal";

const TESTS = join(dirname(fileURLToPath(import.meta.url)), "..");
const COMMAND = join(TESTS, "node_modules", ".bin", "maloko");
/** Where the stacks are that projects begin with: a directory for one run of vitest (`templates.ts`). */
const TEMPLATES = inject("templates");
const PSEUDO_TERMINAL = join(TESTS, "..", "python-tests", "support", "pseudo_terminal.py");

export interface Outcome {
    status: number | null;
    /** Standard output. */
    stdout: string;
    /** Standard error. */
    stderr: string;
    /** Both outputs together. */
    output: string;
}

export interface Interrupted {
    /** Sends what Ctrl-C sends, or another signal. */
    signal(name?: NodeJS.Signals): void;
    /** The process. */
    pid: number | undefined;
    /** Resolves when the command has said this, after so many characters. */
    said(text: string | RegExp, after?: number): Promise<void>;
    /** What it has said until now. */
    output(): string;
}

/** What a command that has succeeded wrote; throws for one that has not. */
export function succeeded(command: string, { status, stdout, output }: Outcome): string {
    if (status !== 0) {
        throw new Error(`${command} ended with ${status}:\n${output}`);
    }
    return stdout;
}

export class Project {
    readonly directory = mkdtempSync(join(tmpdir(), "maloko-project-"));

    readonly #variables: NodeJS.ProcessEnv;

    /**
     * `cleanUp` is told what removes it, at the end of the test unless it says otherwise; `variables` are set for every
     * command; `init` makes its stack.
     */
    constructor(
        files: Record<string, string>,
        cleanUp: (remove: () => void) => void = onTestFinished,
        variables: NodeJS.ProcessEnv = {},
        init = true,
    ) {
        this.#variables = variables;
        cleanUp(() => rmSync(this.directory, { recursive: true, force: true }));
        symlinkSync(join(TESTS, "node_modules"), join(this.directory, "node_modules"));
        this.write({ "Pulumi.yaml": "name: test\nruntime: nodejs\n", "package.json": "{}", ...files });
        if (!init) {
            return;
        }
        // What could make the stack another one than that of the template is left to the command.
        if (
            Object.keys(variables).length > 0 ||
            Object.keys(files).some((name) => /^(\.maloko|Pulumi\.dev\.)/.test(name))
        ) {
            this.ok("stack", "init", "dev");
        } else {
            this.copyStackInto("");
        }
    }

    /** What `stack init dev` does in this folder: a copy of a stack that was made before. */
    copyStackInto(folder: string): void {
        const template = Project.#withStack(this.read(join(folder, "Pulumi.yaml")));
        cpSync(template, join(this.directory, folder), { recursive: true });
    }

    /** What `stack init dev` makes beside this Pulumi.yaml: made once for all test files. */
    static #withStack(description: string): string {
        const place = join(TEMPLATES, createHash("sha256").update(description).digest("hex"));
        if (!existsSync(place)) {
            const made = new Project({ "Pulumi.yaml": description }, () => {}, {}, false);
            made.ok("stack", "init", "dev");
            for (const name of ["node_modules", "package.json", "Pulumi.yaml"]) {
                made.remove(name);
            }
            try {
                renameSync(made.directory, place);
            } catch {
                // Another test file was faster.
                rmSync(made.directory, { recursive: true });
            }
        }
        return place;
    }

    write(files: Record<string, string>): void {
        for (const [name, text] of Object.entries(files)) {
            const file = join(this.directory, name);
            mkdirSync(dirname(file), { recursive: true });
            writeFileSync(file, text);
        }
    }

    remove(name: string): void {
        rmSync(join(this.directory, name), { recursive: true });
    }

    read(name: string): string {
        return readFileSync(join(this.directory, name), "utf8");
    }

    /** A second copy of the SDK below a folder; what it needs itself is found in the first place. */
    copySdkInto(folder: string): void {
        const target = join(this.directory, folder, "node_modules", "@pulumi", "pulumi");
        cpSync(join(TESTS, "node_modules", "@pulumi", "pulumi"), target, { recursive: true });
    }

    run(...args: string[]): Outcome {
        return this.runWith({}, ...args);
    }

    /** Runs a command with other environment variables; `undefined` takes one away. */
    runWith(environment: NodeJS.ProcessEnv, ...args: string[]): Outcome {
        return this.spawned([process.execPath, COMMAND, ...args], environment);
    }

    /** Begins a command on a pseudo-terminal, to be read and typed to; `node` has what stands between Node and the command. */
    watchedOnTerminal(args: string[], node: string[] = []): Terminal {
        return new Terminal([process.execPath, ...node, COMMAND, ...args], this.directory, this.#environment(args));
    }

    /** Runs a command under a shell that closes or redirects descriptors first. */
    runRedirected(redirected: string, ...args: string[]): Outcome {
        return this.runThrough(`exec "$@" ${redirected}`, ...args);
    }

    /** Runs a command, `"$@"`, through a line of shell. */
    runThrough(shell: string, ...args: string[]): Outcome {
        return this.spawned(["/bin/sh", "-c", shell, "sh", process.execPath, COMMAND, ...args]);
    }

    /** Runs another command with the variables of ours. */
    spawned([file = "", ...words]: string[], environment: NodeJS.ProcessEnv = {}): Outcome {
        const { status, stdout, stderr } = spawnSync(file, words, {
            cwd: this.directory,
            encoding: "utf8",
            timeout: 250_000,
            // What is merely asked to end may say that it did.
            killSignal: "SIGKILL",
            maxBuffer: 1 << 28,
            env: this.#environment(words, environment),
        });
        return { status, stdout, stderr, output: stdout + stderr };
    }

    /** Runs a command that is interrupted once the program has written the file `started`. */
    async interrupted(
        args: string[],
        interrupt: (child: Interrupted) => Promise<void>,
        environment: NodeJS.ProcessEnv = {},
    ): Promise<Outcome> {
        const { child, outcome, said } = this.#begun(args, environment);
        const until = async (condition: () => boolean) => {
            while (!condition() && child.exitCode === null) {
                await new Promise((resolve) => setTimeout(resolve, 5));
            }
        };
        await until(() => existsSync(join(this.directory, "started")));
        await interrupt({
            pid: child.pid,
            signal: (name = "SIGINT") => child.kill(name),
            said: (text, after = 0) =>
                until(() => (text instanceof RegExp ? text.test(said().slice(after)) : said().includes(text, after))),
            output: said,
        });
        return outcome();
    }

    /** Runs a command while the test goes on, which may serve what the command asks for. */
    async beside(environment: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> {
        return this.#begun(args, environment).outcome();
    }

    #begun(args: string[], environment: NodeJS.ProcessEnv) {
        const env = this.#environment(args, environment);
        const child = spawn(process.execPath, [COMMAND, ...args], { cwd: this.directory, env });
        onTestFinished(() => void child.kill("SIGKILL"));
        let [output, stdout, stderr] = ["", "", ""];
        child.stdout.on("data", (data: Buffer) => {
            output += data.toString();
            stdout += data.toString();
        });
        child.stderr.on("data", (data: Buffer) => {
            output += data.toString();
            stderr += data.toString();
        });
        const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
        const outcome = async () => ({ status: await ended, stdout, stderr, output });
        return { child, outcome, said: () => output };
    }

    /**
     * Runs a command on a pseudo-terminal; each answer is typed once its question is shown. Gives what was shown.
     */
    async onTerminal(args: string[], ...answers: [question: string, typed: string][]): Promise<string> {
        const env = this.#environment(args, { TERM: "xterm" });
        const words = [PSEUDO_TERMINAL, process.execPath, COMMAND, ...args];
        const child = spawn("python3", words, { cwd: this.directory, env });
        onTestFinished(() => void child.kill("SIGKILL"));
        const left = [...answers];
        let shown = "";
        child.stderr.on("data", (data: Buffer) => {
            shown += data.toString();
        });
        child.stdout.on("data", (data: Buffer) => {
            shown += stripVTControlCharacters(data.toString());
            if (left[0] && shown.includes(left[0][0])) {
                child.stdin.write(left.shift()?.[1] ?? "");
            }
        });
        const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
        if (status !== 0 || left.length > 0) {
            throw new Error(`maloko ${args.join(" ")} ended with ${status}:\n${shown}`);
        }
        return shown;
    }

    /** The variables of a command. Only the project's own state has a key file, whose key is derived once. */
    #environment(words: string[], environment: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
        const own = Object.entries(process.env).filter(([name]) => !/^(PULUMI|MALOKO)/.test(name));
        const variables: NodeJS.ProcessEnv = {
            ...Object.fromEntries(own),
            HOME: join(this.directory, "home"),
            NODE_OPTIONS: "",
            NO_COLOR: "1",
            // No test asks a server of the internet for a plugin.
            PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
            // Plugins start slowly beside many others.
            MALOKO_PLUGIN_START_SECONDS: "240",
            // The keys of new stacks take no time. A release does not know of it.
            MALOKO_CHEAP_KEYS: "1",
            ...this.#variables,
            ...environment,
        };
        const elsewhere = variables.PULUMI_BACKEND_URL ?? variables.MALOKO_BACKEND_URL ?? words.includes("--backend");
        if (elsewhere && !("PULUMI_CONFIG_PASSPHRASE" in variables || "PULUMI_CONFIG_PASSPHRASE_FILE" in variables)) {
            variables.PULUMI_CONFIG_PASSPHRASE = "test";
        }
        return variables;
    }

    ok(...args: string[]): string {
        return succeeded(`maloko ${args.join(" ")}`, this.run(...args));
    }

    up(): string {
        return this.ok("up", "--yes", "--skip-preview", "--stack", "dev");
    }

    outputs(): unknown {
        return JSON.parse(this.ok("stack", "output", "--json", "--stack", "dev"));
    }

    /** The names of the resources in the state, without the stack and providers. */
    resources(): string[] {
        const { deployment } = JSON.parse(this.ok("stack", "export", "--stack", "dev")) as {
            deployment: { resources?: { urn: string; type: string }[] };
        };
        return (deployment.resources ?? [])
            .filter(({ type }) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:"))
            .map(({ urn }) => urn.slice(urn.lastIndexOf("::") + 2));
    }
}

export function project(files: Record<string, string>): Project {
    return new Project(files);
}
