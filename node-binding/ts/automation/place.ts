// Where the state of an inline program without a directory of its own is kept.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Workspace } from "./workspace";

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
