// jest 27 does not read `exports` of packages: here it is told that it is too old.
module.exports = require("./dist/testing/jest.js");
