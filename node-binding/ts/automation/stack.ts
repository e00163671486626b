// A stack and what can be done with it.
import type {
    ConfigMap,
    ConfigValue,
    Deployment,
    DestroyOptions,
    DestroyResult,
    ImportOptions,
    ImportResult,
    OutputMap,
    PreviewOptions,
    PreviewResult,
    RefreshOptions,
    RefreshResult,
    RenameOptions,
    RenameResult,
    TagMap,
    UpdateSummary,
    UpOptions,
    UpResult,
} from "@pulumi/pulumi/automation";
import { StackAlreadyExistsError, StackNotFoundError, UnsupportedError } from "./errors";
import { flagsOf, type ImportDifferencesOptions, type LockOptions, type TelemetryOptions, type Verb } from "./flags";
import { importResources } from "./import";
import * as operations from "./operations";
import type { Progress, ProgressOptions } from "./progress";
import {
    type CommandResult,
    type OutputsOptions,
    type PageOptions,
    type SummaryOptions,
    type WithPage,
    withPage,
} from "./result";
import type { Workspace } from "./workspace";

const ORGANIZATIONS = "organizations are Pulumi Cloud's; in a store of one's own there is `organization` for all";

/** An instance of a program, with its configuration and state. Its operations run one at a time. */
export class Stack {
    /** Makes a stack; throws `StackAlreadyExistsError` where there is one of that name. */
    static async create(name: string, workspace: Workspace): Promise<Stack> {
        await workspace.createStack(name);
        return new Stack(name, workspace);
    }

    /** Finds a stack; throws `StackNotFoundError` where there is none of that name. */
    static async select(name: string, workspace: Workspace): Promise<Stack> {
        await workspace.selectStack(name);
        return new Stack(name, workspace);
    }

    /** Finds a stack, or makes it where there is none of that name. */
    static async createOrSelect(name: string, workspace: Workspace): Promise<Stack> {
        try {
            return await Stack.select(name, workspace);
        } catch (error) {
            if (!(error instanceof StackNotFoundError)) {
                throw error;
            }
        }
        try {
            return await Stack.create(name, workspace);
        } catch (error) {
            // Somebody else made it meanwhile.
            if (error instanceof StackAlreadyExistsError) {
                return Stack.select(name, workspace);
            }
            throw error;
        }
    }

    private constructor(
        /** The stack's name; `rename` changes it. */
        public name: string,
        /** Where the stack is. */
        readonly workspace: Workspace,
    ) {}

    /** Makes the resources as the program says. */
    async up(
        options: UpOptions &
            ImportDifferencesOptions &
            OutputsOptions &
            PageOptions &
            ProgressOptions &
            TelemetryOptions &
            LockOptions = {},
    ): Promise<WithPage<UpResult>> {
        const done = await this.#operate("up", ["--yes", "--skip-preview"], options, options.program);
        const outputs = options.outputs === false ? {} : await this.outputs();
        return withPage({ ...(await this.#summarized(done, options)), outputs }, done);
    }

    /** Says what `up` would do. */
    preview(
        options: PreviewOptions & ImportDifferencesOptions & PageOptions & ProgressOptions & TelemetryOptions = {},
    ): Promise<WithPage<PreviewResult>> {
        return this.#preview("preview", [], options, options.program);
    }

    /** Makes the state as the real resources are. */
    async refresh(
        options: RefreshOptions & PageOptions & ProgressOptions & SummaryOptions & TelemetryOptions & LockOptions = {},
    ): Promise<WithPage<RefreshResult>> {
        const how = options.previewOnly ? ["--preview-only"] : ["--skip-preview", "--yes"];
        const done = await this.#operate("refresh", how, options);
        return withPage(await this.#summarized(done, options), done);
    }

    /** Says what `refresh` would change in the state. */
    previewRefresh(
        options: RefreshOptions & PageOptions & ProgressOptions & TelemetryOptions = {},
    ): Promise<WithPage<PreviewResult>> {
        return this.#preview("refresh", ["--preview-only"], options);
    }

    /** Deletes all resources; with `remove`, then the stack itself and its configuration. */
    async destroy(
        options: DestroyOptions & PageOptions & ProgressOptions & SummaryOptions & TelemetryOptions & LockOptions = {},
    ): Promise<WithPage<DestroyResult>> {
        const how = options.previewOnly ? ["--preview-only"] : ["--skip-preview", "--yes"];
        const done = await this.#operate("destroy", how, options);
        const summarized = await this.#summarized(done, options);
        if (options.remove && !options.previewOnly) {
            await this.workspace.removeStack(this.name);
        }
        return withPage(summarized, done);
    }

    /** Says what `destroy` would delete. */
    previewDestroy(
        options: DestroyOptions & PageOptions & ProgressOptions & TelemetryOptions = {},
    ): Promise<WithPage<PreviewResult>> {
        return this.#preview("destroy", ["--preview-only"], options);
    }

    /** Gives the stack another name. */
    async rename(options: RenameOptions & LockOptions): Promise<RenameResult> {
        const args = ["stack", "rename", options.stackName, ...flagsOf("rename", options)];
        const done = await operations.command(this, args, options);
        this.name = options.stackName;
        return this.#summarized(done, options);
    }

    /** Takes over objects that exist. */
    async import(
        options: ImportOptions & PageOptions & ProgressOptions & SummaryOptions & TelemetryOptions & LockOptions,
    ): Promise<WithPage<ImportResult>> {
        const { done, generatedCode } = await importResources(this, options);
        return withPage({ ...(await this.#summarized(done, options)), generatedCode }, done);
    }

    /** Throws `UnsupportedError`, as the next two do: environments are a service of Pulumi Cloud. */
    async addEnvironments(...environments: string[]): Promise<void> {
        await this.workspace.addEnvironments(this.name, ...environments);
    }

    listEnvironments(): Promise<string[]> {
        return this.workspace.listEnvironments(this.name);
    }

    async removeEnvironment(environment: string): Promise<void> {
        await this.workspace.removeEnvironment(this.name, environment);
    }

    /** One value, secret ones in plain text; `path`: the key is a path into an object or list. */
    getConfig(key: string, path?: boolean): Promise<ConfigValue> {
        return this.workspace.getConfig(this.name, key, path);
    }

    /** All values, secret ones in plain text. */
    getAllConfig(): Promise<ConfigMap> {
        return this.workspace.getAllConfig(this.name);
    }

    /** Sets a value. Throws a TypeError for what is no `{ value, secret? }` with a text in it. */
    setConfig(key: string, value: ConfigValue, path?: boolean): Promise<void> {
        return this.workspace.setConfig(this.name, key, value, path);
    }

    /** Sets several values at once; `path`: the keys are paths into objects or lists. */
    setAllConfig(config: ConfigMap, path?: boolean): Promise<void> {
        return this.workspace.setAllConfig(this.name, config, path);
    }

    /** Sets values from what `config --json` prints: `{ key: { value, secret } }`. */
    setAllConfigJson(configJson: string): Promise<void> {
        return this.workspace.setAllConfigJson(this.name, configJson);
    }

    /** Removes a value; `path`: the key is a path into an object or list. */
    removeConfig(key: string, path?: boolean): Promise<void> {
        return this.workspace.removeConfig(this.name, key, path);
    }

    /** Removes these values, one after the other. */
    removeAllConfig(keys: string[], path?: boolean): Promise<void> {
        return this.workspace.removeAllConfig(this.name, keys, path);
    }

    /** Sets the configuration to that of the last operation, and returns it. Throws `UnsupportedError` where there was none. */
    refreshConfig(): Promise<ConfigMap> {
        return this.workspace.refreshConfig(this.name);
    }

    /** Throws `UnsupportedError`, as the next three do: tags are kept by Pulumi Cloud. */
    getTag(key: string): Promise<string> {
        return this.workspace.getTag(this.name, key);
    }

    async setTag(key: string, value: string): Promise<void> {
        await this.workspace.setTag(this.name, key, value);
    }

    async removeTag(key: string): Promise<void> {
        await this.workspace.removeTag(this.name, key);
    }

    listTags(): Promise<TagMap> {
        return this.workspace.listTags(this.name);
    }

    /** The stack's outputs after its last operation. */
    outputs(): Promise<OutputMap> {
        return this.workspace.stackOutputs(this.name);
    }

    /**
     * The stacks that the last run of this one read by a `StackReference`, each as `project/stack`, in order. It reads the state:
     * the program does not run, and no secret is decrypted.
     */
    async references(): Promise<string[]> {
        const { stdout } = await operations.command(this, ["stack", "references", "--json"]);
        return Object.values(JSON.parse(stdout) as Record<string, string[]>).flat();
    }

    /** What was done to the stack, the newest first; pages are counted from 1. */
    async history(pageSize?: number, page?: number, showSecrets?: boolean): Promise<UpdateSummary[]> {
        const secrets = (showSecrets ?? true) ? ["--show-secrets"] : [];
        const size = pageSize
            ? ["--page-size", String(Math.floor(pageSize)), "--page", String(Math.floor(Math.max(page ?? 1, 1)))]
            : ["--page-size", "0"];
        const { stdout } = await operations.command(this, ["stack", "history", "--json", ...secrets, ...size]);
        return JSON.parse(stdout, (key, value: unknown) =>
            (key === "startTime" || key === "endTime") && typeof value === "string" ? new Date(value) : value,
        ) as UpdateSummary[];
    }

    /** What was done to the stack last. */
    async info(showSecrets?: boolean): Promise<UpdateSummary | undefined> {
        return (await this.history(1, undefined, showSecrets))[0];
    }

    /**
     * Ends the operation that is at work on the stack. One of this process is ended gracefully: nothing new begins, what is
     * in flight is waited for and recorded. Otherwise the stack's locks are removed, as after a process that was killed.
     */
    async cancel(): Promise<void> {
        if (!(await operations.cancel(this))) {
            await operations.command(this, ["cancel", "--yes"]);
        }
    }

    /**
     * How far the operation of this thread on the stack has come; undefined when none goes on. Of a local program it is what its process
     * reported last, `progressEvery` seconds ago at most.
     */
    progress(): Promise<Progress | undefined> {
        return operations.progress(this);
    }

    /** Throws `UnsupportedError`, as the next one does: organizations are Pulumi Cloud's. */
    async orgGetDefault(): Promise<string> {
        throw new UnsupportedError("orgGetDefault", ORGANIZATIONS);
    }

    async orgSetDefault(_orgName: string): Promise<void> {
        throw new UnsupportedError("orgSetDefault", ORGANIZATIONS);
    }

    /** The state, with its secrets in plain text. */
    exportStack(): Promise<Deployment> {
        return this.workspace.exportStack(this.name);
    }

    /** Replaces the state. */
    importStack(state: Deployment): Promise<void> {
        return this.workspace.importStack(this.name, state);
    }

    #operate(
        verb: Verb,
        how: string[],
        options: operations.OperateOptions,
        program = this.workspace.program,
    ): Promise<CommandResult> {
        return operations.operate(this, [verb, ...how, ...flagsOf(verb, options)], options, program);
    }

    async #preview(
        verb: Verb,
        how: string[],
        options: operations.OperateOptions,
        program?: UpOptions["program"],
    ): Promise<WithPage<PreviewResult>> {
        const done = await this.#operate(verb, how, options, program);
        const { stdout, stderr, operation } = done;
        return withPage({ stdout, stderr, changeSummary: operation?.changes ?? {} }, done);
    }

    // An operation has an entry in the history, also one that found everything as it should be.
    async #summarized(
        { stdout, stderr }: CommandResult,
        { showSecrets, summary }: { showSecrets?: boolean } & SummaryOptions,
    ): Promise<RefreshResult> {
        const found = summary === false ? undefined : await this.info(showSecrets);
        return { stdout, stderr, summary: found as UpdateSummary };
    }
}

/** A stack's name with all of its parts; in a store of one's own the organization is called `organization`. */
export function fullyQualifiedStackName(org: string, project: string, stack: string): string {
    return `${org}/${project}/${stack}`;
}
