// A provider that breaks several laws by one mistake.
import { laws } from "maloko/vitest";

const forbidden = {
    create: async (inputs: object) => ({ id: "it", outs: inputs }),
    read: async () => {
        throw new Error("403: forbidden");
    },
};

laws(forbidden, { inputs: [{ size: 1 }, { size: 2 }] });
