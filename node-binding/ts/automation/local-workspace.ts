// biome-ignore-all lint/suspicious/useAdjacentOverloadSignatures: static methods and methods share names, as in the official API
// A workspace: a project in a directory of this machine, its settings, and the stacks it has.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type {
    ConfigMap,
    ConfigValue,
    Deployment,
    ExecutorImage,
    InlineProgramArgs,
    ListOptions,
    LocalProgramArgs,
    LocalWorkspaceOptions as OfficialOptions,
    OutputMap,
    PluginInfo,
    ProjectSettings,
    PulumiFn,
    RemoveOptions,
    StackSettings,
    StackSummary,
    TagMap,
    WhoAmIResult,
} from "@pulumi/pulumi/automation";
import { NEWEST_SDK } from "../sdk";
import { type CommandRunner, PulumiCommand, runThrough } from "./command";
import { assignments, configText, settingsIn } from "./configuration";
import { UnsupportedError } from "./errors";
import type { CommandResult } from "./result";
import * as settings from "./settings";
import { Stack } from "./stack";
import { requirePlace, temporaryDirectory } from "./temporary";
import { variablesOf, type Workspace } from "./workspace";

/** How a `LocalWorkspace` is set up. */
export interface LocalWorkspaceOptions extends Omit<OfficialOptions, "pulumiCommand"> {
    /** Accepted for programs that pass one; there is only one command line, and it is in this package. */
    pulumiCommand?: CommandRunner;
    /** Calls off the making or finding of a stack (`createStack`, `selectStack`, `createOrSelectStack`). */
    signal?: AbortSignal;
}

/** Which stacks `LocalWorkspace.listStacks` gives. */
export interface ListStacksOptions extends ListOptions {
    /** Only those whose names begin with this. */
    prefix?: string;
}

/** What `LocalWorkspace.install` would leave out. */
export interface InstallOptions {
    noPlugins?: boolean;
    noDependencies?: boolean;
    reinstall?: boolean;
    useLanguageVersionTools?: boolean;
}

/** What `LocalWorkspace.new` makes; everything may be left out. */
export interface NewOptions {
    /** `typescript`, `python`, or a folder with a template; `typescript` when not given. */
    templateOrUrl?: string;
    /** Values of the configuration: `key=value`. */
    config?: string[];
    /** Keys of `config` are paths into objects and lists. */
    configPath?: boolean;
    /** The project's description. */
    description?: string;
    /** Where to make it; the workspace's directory when not given. */
    dir?: string;
    /** Also into a directory that is not empty; files that are there are not overwritten. */
    force?: boolean;
    /** Make the files only: no stack, no configuration. */
    generateOnly?: boolean;
    /** The project's name; that of the directory when not given. */
    name?: string;
    /** The first stack's name; `dev` when not given. */
    stack?: string;
}

const ENVIRONMENTS = "ESC environments are a service of Pulumi Cloud. Put the values into the stack's configuration";

type StackFinder = (name: string, workspace: Workspace) => Promise<Stack>;

/** A project in a directory of this machine: an inline program, or the program that is there. */
export class LocalWorkspace implements Workspace {
    readonly workDir: string;
    readonly pulumiHome?: string;
    readonly secretsProvider?: string;
    readonly pulumiCommand: CommandRunner;
    /** The version of the SDK whose behaviour is followed: what its own command line would answer. */
    readonly pulumiVersion: string = NEWEST_SDK;
    /** Kept as it was given; images are for deployments of Pulumi Cloud. */
    remoteExecutorImage?: ExecutorImage;
    program?: PulumiFn;
    envVars: { [key: string]: string };
    readonly #temporary: boolean;
    #selected: string | undefined;
    #signal: AbortSignal | undefined;

    /** Throws where the directory does not exist. */
    static async create(options: LocalWorkspaceOptions): Promise<LocalWorkspace> {
        return new LocalWorkspace(options, await PulumiCommand.get());
    }

    /** Makes a stack; throws `StackAlreadyExistsError` where there is one of that name. */
    static createStack(args: LocalProgramArgs | InlineProgramArgs, options?: LocalWorkspaceOptions): Promise<Stack> {
        return LocalWorkspace.#stack(args, options, Stack.create);
    }

    /** Finds a stack; throws `StackNotFoundError` where there is none of that name. */
    static selectStack(args: LocalProgramArgs | InlineProgramArgs, options?: LocalWorkspaceOptions): Promise<Stack> {
        return LocalWorkspace.#stack(args, options, Stack.select);
    }

    /** Finds a stack, or makes it where there is none of that name. */
    static createOrSelectStack(
        args: LocalProgramArgs | InlineProgramArgs,
        options?: LocalWorkspaceOptions,
    ): Promise<Stack> {
        return LocalWorkspace.#stack(args, options, Stack.createOrSelect);
    }

    static async #stack(
        args: LocalProgramArgs | InlineProgramArgs,
        options: LocalWorkspaceOptions | undefined,
        find: StackFinder,
    ): Promise<Stack> {
        const given = { ...options };
        const { program } = args as Partial<InlineProgramArgs>;
        if (program !== undefined && typeof program !== "function") {
            throw new TypeError(`\`program\` must be a function, and is ${JSON.stringify(program)}`);
        }
        if ("program" in args && typeof args.program === "function" && typeof args.projectName === "string") {
            given.program = args.program;
            if (given.projectSettings === undefined && !(given.workDir && settings.hasProject(given.workDir))) {
                given.projectSettings = settings.defaultProject(args.projectName);
            }
        } else if ("workDir" in args && typeof args.workDir === "string") {
            given.workDir = args.workDir;
        } else {
            throw new TypeError(
                `a stack is named by { stackName, projectName, program } or { stackName, workDir }, not by ${shape(args)}`,
            );
        }
        const workspace = await LocalWorkspace.create(given);
        workspace.#signal = given.signal;
        try {
            return await find(args.stackName, workspace);
        } finally {
            // What the stack does later has signals of its own.
            workspace.#signal = undefined;
        }
    }

    private constructor(options: LocalWorkspaceOptions | undefined, command: PulumiCommand) {
        const given: LocalWorkspaceOptions & { remote?: boolean } = options ?? {};
        if (given.remote === true) {
            throw new UnsupportedError("a remote workspace", "deployments in Pulumi Cloud are a service of it");
        }
        if (given.workDir && !fs.existsSync(given.workDir)) {
            throw new Error(`Invalid workDir passed to local workspace: '${given.workDir}' does not exist`);
        }
        this.#temporary = !given.workDir;
        this.workDir = given.workDir || temporaryDirectory(this);
        this.envVars = { ...given.envVars };
        this.pulumiCommand = given.pulumiCommand ?? command;
        const { pulumiHome, program, secretsProvider, remoteExecutorImage } = given;
        Object.assign(this, definedOf({ pulumiHome, program, secretsProvider, remoteExecutorImage }));
        if (given.projectSettings !== undefined) {
            settings.saveProject(this.workDir, given.projectSettings);
        }
        for (const [name, stack] of Object.entries(given.stackSettings ?? {})) {
            settings.saveStack(this.workDir, name, stack);
        }
    }

    /** The project's settings; throws where there are none. */
    async projectSettings(): Promise<ProjectSettings> {
        return settings.loadProject(this.workDir);
    }

    async saveProjectSettings(project: ProjectSettings): Promise<void> {
        settings.saveProject(this.workDir, project);
    }

    /** The settings of a stack; throws where there are none. */
    async stackSettings(stackName: string): Promise<StackSettings> {
        return settings.loadStack(this.workDir, stackName);
    }

    async saveStackSettings(stackName: string, stack: StackSettings): Promise<void> {
        settings.saveStack(this.workDir, stackName, stack);
    }

    /** Makes a stack; throws `StackAlreadyExistsError` where there is one of that name. */
    async createStack(stackName: string): Promise<void> {
        if (this.#temporary) {
            await requirePlace(this);
        }
        const provider = this.secretsProvider ? ["--secrets-provider", this.secretsProvider] : [];
        await this.#run(["stack", "init", stackName, "--no-select", ...provider]);
        this.#selected = stackName;
    }

    /** Finds a stack; throws `StackNotFoundError` where there is none of that name. */
    async selectStack(stackName: string): Promise<void> {
        // What the command line's user has selected is not ours to change: `stack` only looks whether there is one.
        await this.#run(["stack", "--show-name", "--stack", stackName]);
        this.#selected = stackName;
    }

    /** Removes a stack and its settings; one that has resources only with `force`. */
    async removeStack(stackName: string, options?: RemoveOptions): Promise<void> {
        const flags = { "--force": options?.force, "--preserve-config": options?.preserveConfig };
        await this.#run(["stack", "rm", "--yes", ...switchedOn(flags), stackName]);
        if (this.#selected === stackName) {
            this.#selected = undefined;
        }
    }

    async addEnvironments(_stackName: string, ..._environments: string[]): Promise<void> {
        throw new UnsupportedError("addEnvironments", ENVIRONMENTS);
    }

    async listEnvironments(_stackName: string): Promise<string[]> {
        throw new UnsupportedError("listEnvironments", ENVIRONMENTS);
    }

    async removeEnvironment(_stackName: string, _environment: string): Promise<void> {
        throw new UnsupportedError("removeEnvironment", ENVIRONMENTS);
    }

    /** One value, secret ones in plain text; `path`: the key is a path into an object or list. */
    async getConfig(stackName: string, key: string, path?: boolean): Promise<ConfigValue> {
        return this.#json(["config", "get", ...pathFlag(path), key, "--json", "--stack", stackName]);
    }

    /** All values, secret ones in plain text. */
    async getAllConfig(stackName: string): Promise<ConfigMap> {
        return this.#json(["config", "--show-secrets", "--json", "--stack", stackName]);
    }

    /** Sets a value. Throws a TypeError for what is no `{ value, secret? }` with a text in it. */
    async setConfig(stackName: string, key: string, value: ConfigValue, path?: boolean): Promise<void> {
        const { value: text, secret } = configText(key, value);
        const flag = secret ? "--secret" : "--plaintext";
        await this.#run(["config", "set", ...pathFlag(path), key, "--stack", stackName, flag, "--", text]);
    }

    async setAllConfig(stackName: string, config: ConfigMap, path?: boolean): Promise<void> {
        await this.#run(["config", "set-all", "--stack", stackName, ...pathFlag(path), ...assignments(config)]);
    }

    /** Sets values from what `config --json` prints: `{ key: { value, objectValue, secret } }`. */
    async setAllConfigJson(stackName: string, configJson: string): Promise<void> {
        for (const { key, value, path } of settingsIn(configJson)) {
            await this.setConfig(stackName, key, value, path);
        }
    }

    async removeConfig(stackName: string, key: string, path?: boolean): Promise<void> {
        await this.#run(["config", "rm", key, "--stack", stackName, ...pathFlag(path)]);
    }

    async removeAllConfig(stackName: string, keys: string[], path?: boolean): Promise<void> {
        for (const key of keys) {
            await this.removeConfig(stackName, key, path);
        }
    }

    /** Sets the configuration to that of the last operation, and returns it. */
    async refreshConfig(stackName: string): Promise<ConfigMap> {
        await this.#run(["config", "refresh", "--force", "--stack", stackName]);
        return this.getAllConfig(stackName);
    }

    /** The value of a tag. */
    async getTag(stackName: string, key: string): Promise<string> {
        return (await this.#run(["stack", "tag", "get", key, "--stack", stackName])).stdout.trim();
    }

    async setTag(stackName: string, key: string, value: string): Promise<void> {
        await this.#run(["stack", "tag", "set", key, value, "--stack", stackName]);
    }

    async removeTag(stackName: string, key: string): Promise<void> {
        await this.#run(["stack", "tag", "rm", key, "--stack", stackName]);
    }

    async listTags(stackName: string): Promise<TagMap> {
        return this.#json(["stack", "tag", "ls", "--json", "--stack", stackName]);
    }

    /** The name under which others see what is done. */
    async whoAmI(): Promise<WhoAmIResult> {
        return this.#json(["whoami", "--json"]);
    }

    /** The stack that this workspace has made or selected last. */
    async stack(): Promise<StackSummary | undefined> {
        return (await this.listStacks()).find(({ current }) => current);
    }

    /** The project's stacks, or with `all` those of the whole backend; with `prefix` those whose names begin with it. */
    async listStacks(options?: ListStacksOptions): Promise<StackSummary[]> {
        const { all, prefix } = options ?? {};
        const wanted = [...(all ? ["--all"] : []), ...(prefix === undefined ? [] : [`--prefix=${prefix}`])];
        const stacks = await this.#json<StackSummary[]>(["stack", "ls", "--json", ...wanted]);
        const selected = this.#selected && settings.shortName(this.#selected);
        return stacks.map((stack) => ({ ...stack, current: settings.shortName(stack.name) === selected }));
    }

    /** Which stacks each of these has read in its last run, all as `project/stack`; none of one that does not exist yet. */
    async stackReferences(stackNames: readonly string[]): Promise<Record<string, string[]>> {
        return stackNames.length === 0 ? {} : this.#json(["stack", "references", "--json", "--", ...stackNames]);
    }

    /** Installs the packages that the program needs, with the project's package manager, and their plugins. */
    async install(options?: InstallOptions): Promise<void> {
        const flags = {
            "--no-plugins": options?.noPlugins,
            "--no-dependencies": options?.noDependencies,
            "--reinstall": options?.reinstall,
            "--use-language-version-tools": options?.useLanguageVersionTools,
        };
        await this.#run(["install", ...switchedOn(flags)]);
    }

    /** Makes a project, as `maloko new` does: a small one with a dynamic provider, or one from a template folder. */
    async new(options?: NewOptions): Promise<CommandResult> {
        const texts: [string, string | undefined][] = [
            ["--name", options?.name],
            ["--description", options?.description],
            ["--dir", options?.dir],
            ["--stack", options?.stack],
            ...(options?.config ?? []).map((value): [string, string] => ["--config", value]),
        ];
        const flags = {
            "--config-path": options?.configPath,
            "--force": options?.force,
            "--generate-only": options?.generateOnly,
        };
        const named = texts.flatMap(([flag, value]) => (value ? [flag, value] : []));
        return this.#run(["new", options?.templateOrUrl ?? "typescript", "--yes", ...named, ...switchedOn(flags)]);
    }

    /** Installs a plugin from the usual places. */
    async installPlugin(name: string, version: string, kind = "resource"): Promise<void> {
        await this.#run(["plugin", "install", kind, name, version]);
    }

    /** Installs a plugin from a server. */
    async installPluginFromServer(name: string, version: string, server: string): Promise<void> {
        await this.#run(["plugin", "install", "resource", name, version, "--server", server]);
    }

    /** Removes the plugins of a kind, or those of a name, or some of its versions. */
    async removePlugin(name?: string, versionRange?: string, kind = "resource"): Promise<void> {
        const words = [name, versionRange].filter((word) => word !== undefined);
        await this.#run(["plugin", "rm", kind, ...words, "--yes"]);
    }

    /** The plugins that are installed. */
    async listPlugins(): Promise<PluginInfo[]> {
        const listed = await this.#json<PluginInfo[]>(["plugin", "ls", "--json"]);
        return listed.map((plugin) => ({
            ...plugin,
            installTime: new Date(plugin.installTime),
            lastUsedTime: new Date(plugin.lastUsedTime),
        }));
    }

    /** The state of a stack, with its secrets in plain text. */
    async exportStack(stackName: string): Promise<Deployment> {
        return this.#json(["stack", "export", "--show-secrets", "--stack", stackName]);
    }

    /** Replaces the state of a stack. */
    async importStack(stackName: string, state: Deployment): Promise<void> {
        // It may hold secrets in plain text.
        const directory = await fs.promises.mkdtemp(path.join(os.tmpdir(), "automation-"));
        try {
            const file = path.join(directory, "state.json");
            await fs.promises.writeFile(file, JSON.stringify(state), { mode: 0o600 });
            await this.#run(["stack", "import", "--file", file, "--stack", stackName]);
        } finally {
            await fs.promises.rm(directory, { recursive: true, force: true });
        }
    }

    /** The outputs of a stack after its last operation. */
    async stackOutputs(stackName: string): Promise<OutputMap> {
        const output = ["stack", "output", "--json", "--stack", stackName];
        const masked = await this.#json<Record<string, unknown>>(output);
        const plain = await this.#json<Record<string, unknown>>([...output, "--show-secrets"]);
        return Object.fromEntries(
            Object.entries(plain).map(([key, value]) => [key, { value, secret: masked[key] === "[secret]" }]),
        );
    }

    /** Further arguments of operations, for workspaces of other kinds. */
    async serializeArgsForOp(_stackName: string): Promise<string[]> {
        return [];
    }

    /** Told of every operation that has succeeded, for workspaces of other kinds. */
    async postCommandCallback(_stackName: string): Promise<void> {}

    async #json<T>(args: string[]): Promise<T> {
        return JSON.parse((await this.#run(args)).stdout) as T;
    }

    #run(args: string[]): Promise<CommandResult> {
        return runThrough(this.pulumiCommand, {
            arguments: args,
            directory: this.workDir,
            variables: variablesOf(this),
            signal: this.#signal,
        });
    }
}

function pathFlag(path: boolean | undefined): string[] {
    return path ? ["--path"] : [];
}

// The switches that are on.
function switchedOn(switches: Record<string, boolean | undefined>): string[] {
    return Object.keys(switches).filter((flag) => switches[flag]);
}

function definedOf(members: object): object {
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function shape(value: unknown): string {
    return typeof value === "object" && value !== null ? `{ ${Object.keys(value).join(", ")} }` : String(value);
}
