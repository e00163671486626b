require("./misuse.cjs")(require("maloko/jest"));
