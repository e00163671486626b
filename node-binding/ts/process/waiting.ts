// Waiting for no longer than so long.
import { later, notLater } from "./originals";

/** Does something end within so many milliseconds, well or not? */
export async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
        timer = later(() => resolve(false), milliseconds);
    });
    const ended = work.then(
        () => true,
        () => true,
    );
    try {
        return await Promise.race([ended, late]);
    } finally {
        notLater(timer);
    }
}
