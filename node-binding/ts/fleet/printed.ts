// What programs print at a worker: each line has its stack before it, and no secret of its run in it.
import { AsyncLocalStorage } from "node:async_hooks";
import { callStorage } from "../current";
import { LINE_ENDS, PrintedLines, type PrintingRun, takeWrites, type Write } from "../run/printed-lines";

const TOO_LATE = "what was printed after the end of the run is left out: nothing takes the secrets out of it";

const printings = new AsyncLocalStorage<Printing>();
// What stdout is written by; undefined where no worker has begun.
let out: Write | undefined;

/** What one stack prints, on its way to the worker's output. */
class Printing {
    readonly lines = new PrintedLines((line, to) => this.#say(line, to));
    #run: PrintingRun | undefined;
    #isOver = false;
    #saidSo = false;

    constructor(
        private readonly stack: string,
        private readonly out: Write,
    ) {}

    /** Takes the run of the stack in this process, which takes secrets out of lines and gives them to `tell`. */
    readonly of = (run: PrintingRun | undefined): void => {
        this.#run = run;
        this.#isOver = run === undefined;
        if (run !== undefined) {
            run.lines = this.lines;
        }
    };

    /** Writes what the run of the stack tells. */
    readonly tell = (message: string): void => {
        for (const line of message.split(LINE_ENDS)) {
            this.#write(line, this.out);
        }
    };

    // When the run is over, nobody takes the secrets out any more: the line is left out, and that is said once.
    #say(line: string, to: Write): void {
        if (this.#isOver) {
            if (!this.#saidSo) {
                this.#saidSo = true;
                this.#write(TOO_LATE, to);
            }
        } else if (this.#run?.print(line) !== true) {
            this.#write(line, to);
        }
    }

    #write(line: string, to: Write): void {
        if (line.trim() !== "") {
            // The command line gives what is written in a provider's call to the run.
            callStorage.exit(() => to(`[${this.stack}] ${line}\n`));
        }
    }
}

/** What the running code prints by; undefined outside of workers. */
export function currentPrinting(): Printing | undefined {
    return printings.getStore();
}

/** What is printed by the action, and by what it starts, is that stack's. */
export async function printingAs<T>(stack: string, action: () => Promise<T>): Promise<T> {
    if (out === undefined) {
        return action();
    }
    const printing = new Printing(stack, out);
    try {
        return await printings.run(printing, action);
    } finally {
        printing.lines.end();
    }
}

/** From now on, for the rest of the process, lines are told by stack; `MALOKO_CAPTURE=0` leaves the streams alone. */
export function tellByStack(): void {
    if (out === undefined && process.env.MALOKO_CAPTURE !== "0") {
        const taker = () => currentPrinting()?.lines.take;
        out = takeWrites(process.stdout, taker);
        takeWrites(process.stderr, taker);
    }
}
