// A provider that keeps the laws, for jest, which takes no TypeScript.
const { currentCall } = require("maloko");

class World {
    boxes = new Map();
    keys = new Map();
    last = 0;

    objects() {
        return this.boxes;
    }

    mutateRemote(id) {
        this.boxes.get(id).size = -1;
    }
}

class Provider {
    #world;

    constructor(world) {
        this.#world = world;
    }

    async check(_olds, news) {
        return { inputs: { ...news } };
    }

    async diff(_id, olds, news) {
        const replaces = olds.name === news.name ? [] : ["name"];
        return { changes: replaces.length > 0 || olds.size !== news.size, replaces };
    }

    async create(inputs) {
        const { operationKey } = currentCall();
        const id = this.#world.keys.get(operationKey) ?? `box-${++this.#world.last}`;
        this.#world.boxes.set(id, { ...inputs });
        if (operationKey !== "") {
            this.#world.keys.set(operationKey, id);
        }
        return { id, outs: { ...inputs } };
    }

    async read(id) {
        const found = this.#world.boxes.get(id);
        return found === undefined ? { id: "" } : { id, props: { ...found }, inputs: { ...found } };
    }

    async update(id, _olds, news) {
        this.#world.boxes.set(id, { ...news });
        return { outs: { ...news } };
    }

    async delete(id) {
        this.#world.boxes.delete(id);
    }
}

module.exports = { Provider, World };
