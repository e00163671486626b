// biome-ignore-all lint/suspicious/noConsole: programs print
// A program written against the official automation API; a test compiles it with the official import and with ours.
import * as pulumi from "@pulumi/pulumi";
import {
    CommandError,
    ConcurrentUpdateError,
    type ConfigMap,
    type ConfigValue,
    type Deployment,
    type DestroyResult,
    DiffKind,
    type EngineEvent,
    fullyQualifiedStackName,
    type ImportResult,
    type InlineProgramArgs,
    type LocalProgramArgs,
    LocalWorkspace,
    type LocalWorkspaceOptions,
    type OpMap,
    type OutputMap,
    type PreviewResult,
    type ProjectSettings,
    PulumiCommand,
    type PulumiFn,
    type RefreshResult,
    type RenameResult,
    Stack,
    StackAlreadyExistsError,
    StackNotFoundError,
    type StackSettings,
    type StackSummary,
    type UpdateSummary,
    type UpOptions,
    type UpResult,
    type WhoAmIResult,
    type Workspace,
} from "@pulumi/pulumi/automation";

const program: PulumiFn = async () => ({ stack: pulumi.getStack(), hidden: pulumi.secret("hush") });

const projectSettings: ProjectSettings = {
    name: "project",
    runtime: { name: "nodejs", options: { typescript: true } },
    backend: { url: "file://~" },
};
const stackSettings: StackSettings = { secretsProvider: "passphrase", config: { "project:key": "value" } };

async function stackOf(inline: boolean): Promise<Stack> {
    const options: LocalWorkspaceOptions = {
        projectSettings,
        stackSettings: { dev: stackSettings },
        envVars: { PULUMI_CONFIG_PASSPHRASE: "secret" },
        pulumiCommand: await PulumiCommand.get(),
        secretsProvider: "passphrase",
    };
    const inlineArgs: InlineProgramArgs = { stackName: "dev", projectName: "project", program };
    const localArgs: LocalProgramArgs = { stackName: "dev", workDir: "." };
    return inline
        ? LocalWorkspace.createOrSelectStack(inlineArgs, options)
        : LocalWorkspace.createOrSelectStack(localArgs, options);
}

function watch(event: EngineEvent): string {
    const { resourcePreEvent, diagnosticEvent, summaryEvent, sequence } = event;
    const diff = Object.values(resourcePreEvent?.metadata.detailedDiff ?? {}).filter(
        ({ diffKind }) => diffKind === DiffKind.addReplace,
    );
    const changes: OpMap = summaryEvent?.resourceChanges ?? {};
    return `${sequence} ${resourcePreEvent?.metadata.op} ${diagnosticEvent?.message} ${diff.length} ${changes.create ?? 0}`;
}

async function operate(stack: Stack): Promise<OutputMap> {
    const stop = new AbortController();
    const options: UpOptions = {
        parallel: 4,
        message: "hello",
        expectNoChanges: false,
        refresh: true,
        diff: true,
        replace: ["urn"],
        target: ["urn"],
        targetDependents: true,
        exclude: ["urn"],
        userAgent: "agent",
        color: "never",
        logVerbosity: 3,
        onOutput: console.log,
        onError: console.error,
        onEvent: (event) => console.log(watch(event)),
        showSecrets: true,
        continueOnError: true,
        signal: stop.signal,
    };
    const preview: PreviewResult = await stack.preview({ ...options, program });
    const up: UpResult = await stack.up({ ...options, program });
    const refresh: RefreshResult = await stack.refresh({ onOutput: console.log, clearPendingCreates: true });
    const dry: PreviewResult = await stack.previewRefresh();
    const imported: ImportResult = await stack.import({
        resources: [{ type: "t", name: "n", id: "1" }],
        protect: false,
    });
    const renamed: RenameResult = await stack.rename({ stackName: "prod" });
    const destroyed: DestroyResult = await stack.destroy({ remove: true, excludeProtected: false });
    const creates: number | undefined = preview.changeSummary.create ?? dry.changeSummary.create;
    const summaries: UpdateSummary[] = [up, refresh, imported, renamed, destroyed].map(({ summary }) => summary);
    const last: UpdateSummary | undefined = await stack.info();
    const all: UpdateSummary[] = await stack.history(10, 1, true);
    console.log(creates, last?.startTime.getTime(), all.length + summaries.length, imported.generatedCode);
    return up.outputs;
}

async function configure(stack: Stack): Promise<ConfigMap> {
    const value: ConfigValue = { value: "v", secret: true };
    await stack.setConfig("key", value);
    await stack.setConfig("deep.key[0]", { value: "v" }, true);
    await stack.setAllConfig({ one: { value: "1" }, two: value }, true);
    await stack.setAllConfigJson("{}");
    await stack.removeConfig("key", false);
    await stack.removeAllConfig(["one"]);
    const got: ConfigValue = await stack.getConfig("key");
    await stack.refreshConfig();
    return { ...(await stack.getAllConfig()), got };
}

async function look(workspace: Workspace): Promise<StackSummary[]> {
    const who: WhoAmIResult = await workspace.whoAmI();
    const current: StackSummary | undefined = await workspace.stack();
    const state: Deployment = await workspace.exportStack("dev");
    await workspace.importStack("dev", state);
    await workspace.installPlugin("aws", "v4.0.0");
    await workspace.saveProjectSettings({ ...(await workspace.projectSettings()), description: who.user });
    await workspace.saveStackSettings("dev", await workspace.stackSettings("dev"));
    await workspace.removeStack(current?.name ?? "dev", { force: true, preserveConfig: true });
    console.log(
        workspace.workDir,
        workspace.pulumiVersion,
        workspace.pulumiHome,
        workspace.envVars.A,
        workspace.program,
    );
    return workspace.listStacks({ all: true });
}

export async function main(): Promise<void> {
    try {
        const stack = await stackOf(true);
        await configure(stack);
        console.log(await operate(stack), await stack.outputs(), await look(stack.workspace));
        const other = await Stack.select(fullyQualifiedStackName("organization", "project", "dev"), stack.workspace);
        await other.cancel();
    } catch (error) {
        if (error instanceof StackNotFoundError || error instanceof StackAlreadyExistsError) {
            console.error(error.name);
        } else if (error instanceof ConcurrentUpdateError) {
            console.error(error.message);
        } else if (error instanceof CommandError) {
            console.error(error.message, error.stack);
        } else {
            throw error;
        }
    }
}
