// Programs for which nothing goes on, in a process that goes on itself: Node cannot tell there that they wait in vain.
import { later, notLater } from "../originals";

/** How many milliseconds lie between two looks. */
const LOOK = 50;

/** Acts once it has been quiet for so many milliseconds. What is returned ends the looking. */
export function whenQuiet(isQuiet: () => boolean, quiet: number, act: () => void): () => void {
    let since: number | undefined;
    const look = (): void => {
        const now = performance.now();
        since = isQuiet() ? (since ?? now) : undefined;
        if (since !== undefined && now - since >= quiet) {
            act();
            return;
        }
        timer = later(look, LOOK);
        timer.unref?.();
    };
    let timer = later(look, LOOK);
    timer.unref?.();
    return () => notLater(timer);
}
