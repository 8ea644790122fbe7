import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "./pages";

test.each(Object.entries(pages))(
  "%s equals its rendered source; if not, run npm run docs",
  (path, render) => {
    expect(readFileSync(join(__dirname, "..", "..", path), "utf8")).toBe(render());
  },
);
