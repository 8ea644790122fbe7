import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceClient } from "../src/index.ts";

const README = readFileSync(join(__dirname, "../README.md"), "utf8");

test("the README lists every resource with all of its methods", () => {
  const client = new ServiceClient({ baseUrl: "http://127.0.0.1:1", apiKey: "wk_test_1" });
  const apis = Object.entries(client).filter(([, api]) => api?.constructor?.name.endsWith("Api"));
  const methods = apis.map(([name, api]) => [name, methodsOf(api as object)]);
  const rows = [...README.matchAll(/^\| `(\w+)` \| ((?:`\w+` ?)+)\|$/gm)].map(([, name, cells]) => [
    name,
    [...cells!.matchAll(/\w+/g)].map(([method]) => method).sort(),
  ]);
  expect(methods.length).toBeGreaterThan(10);
  expect(rows.sort()).toEqual(methods.sort());
});

function methodsOf(api: object): string[] {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(api) as object);
  return names.filter((name) => name !== "constructor").sort();
}
