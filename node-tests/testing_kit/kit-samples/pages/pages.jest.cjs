require("./pages.cjs")(require("maloko/jest"));
