// Tests that fail, for the pages of their last runs. With the kit of either runner.
class Boxes {
    async create(inputs) {
        if (inputs.size === 7) {
            throw new RangeError("no room for hunter22");
        }
        return { id: "made", outs: inputs };
    }

    async update(_id, _olds, news) {
        return { outs: news };
    }

    async delete() {}
}

module.exports = ({ test, expect }) => {
    test("passes", async ({ stack }) => {
        await stack(Boxes, { inputs: { size: 1 } }).up();
    });

    test("fails [7]", async ({ stack }) => {
        const pulumi = require("@pulumi/pulumi");
        await stack(Boxes, { inputs: { size: 7, token: pulumi.secret("hunter22") } }).up();
    });

    test("expects another", async ({ stack }) => {
        const s = stack(Boxes, { inputs: { size: 1 } });
        await s.up();
        s.set({ size: 2 });
        await s.up();
        expect(s.outputs("it").size).toBe(3);
    });

    test("runs nothing", async ({ stack }) => {
        stack(Boxes, { inputs: { size: 1 } });
        throw new TypeError("before any run");
    });
};
