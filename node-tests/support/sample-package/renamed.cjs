// A class that was called `Shipped` once, in its own file.
"use strict";
const { Shipped, deleted } = require("./providers.cjs");

class Renamed extends Shipped {
    async delete(id) {
        deleted.push([`renamed ${this.label}`, id]);
    }
}
Renamed.built = 0;

module.exports = { Renamed };
