import { readFileSync } from "node:fs";
import { join } from "node:path";
import { renderApi } from "../bin/renderApi.ts";

test("the API report equals the exports of the sources; if not, review the change and run npm run generate -w @wonrail/sdk", () => {
  expect(readFileSync(join(__dirname, "../api.md"), "utf8")).toBe(renderApi());
});
