// Directories for the settings files of inline programs that have none of their own. State is never kept there.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { Workspace } from "./workspace";

const made = new Set<string>();

const owners = new FinalizationRegistry<string>((directory) => {
    made.delete(directory);
    fs.rm(directory, { recursive: true, force: true }, () => {});
});

/** Makes a directory that lasts as long as its owner, and no longer than the process. */
export function temporaryDirectory(owner: object): string {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "automation-"));
    if (!process.listeners("exit").includes(removeAll)) {
        process.on("exit", removeAll);
    }
    made.add(directory);
    owners.register(owner, directory);
    return directory;
}

function removeAll(): void {
    for (const directory of made) {
        fs.rmSync(directory, { recursive: true, force: true });
    }
}

/**
 * Refuses a workspace whose directory is a temporary one when its state would be in there: nothing would find the stack
 * again, and the next run would make everything a second time.
 */
export async function requirePlace(workspace: Workspace): Promise<void> {
    const { url } = await workspace.whoAmI();
    const inside = path.join(fs.realpathSync(workspace.workDir), ".maloko");
    if (url === `file://${inside}`) {
        throw new Error(
            `the state of this stack would be kept in ${inside}, a temporary directory that nothing finds again. Say where ` +
                "it is to be kept: `projectSettings: { ..., backend: { url: 'file:///some/directory' } }`, PULUMI_BACKEND_URL " +
                "in `envVars` or in the environment, `maloko login`, or a `workDir` that stays",
        );
    }
}
