// What tests of the kit take from vitest, as jest has it.
const { afterAll, beforeAll, describe, expect, test } = require("@jest/globals");

module.exports = { afterAll, beforeAll, describe, expect, test };
