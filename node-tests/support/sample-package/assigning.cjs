// Providers whose constructors assign their methods, as older programs and older compilers write them.
"use strict";

const { deleted } = require("./providers.cjs");

const counted = { made: 0 };

class Assigning {
    constructor() {
        counted.made++;
        const secret = "known to the constructor alone";
        this.region = "here";
        this.create = async () => ({ id: "made", outs: {} });
        this.delete = async (id) => void deleted.push([this.region, id, secret]);
    }
}

class Derived extends Assigning {}

class Fields {
    region = "here";
    number = ++counted.made;

    create = async () => ({ id: "made", outs: {} });
    delete = this.removing("known to the constructor alone");

    removing(secret) {
        return async (id) => void deleted.push([this.region, id, secret]);
    }
}

function Ancient() {
    var secret = "known to the constructor alone";
    counted.made++;
    this.region = "here";
    this.create = async () => ({ id: "made", outs: {} });
    this.delete = async (id) => {
        deleted.push([this.region, id, secret]);
    };
}

class Told {
    constructor(label) {
        this.create = async () => ({ id: "made", outs: {} });
        this.delete = async (id) => void deleted.push([label, id]);
    }
}

module.exports = { counted, Assigning, Derived, Fields, Ancient, Told };
