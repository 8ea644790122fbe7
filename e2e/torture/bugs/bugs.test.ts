import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { plantChanges } from "@wonrail/kit/testing/plantChanges";
import { readText, ROOT } from "../../ops/repository";
import { BUGS } from "./bugs";
import { COPIED } from "./scratchCopy";

// `npm run torture:bugs` takes hours and runs seldom. This test checks quickly that its texts are
// current.

const SERVICES = ["ledger", "payment", "chain-relayer", "wallet", "events", "auth"];

test("at least thirty bugs are planted, in the gateway and all services, each with its own name", () => {
  expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  expect(BUGS.length).toBeGreaterThanOrEqual(30);
  for (const folder of ["gateway", ...SERVICES.map((service) => `services/${service}`)])
    expect(BUGS.filter(({ file }) => file.startsWith(`${folder}/src/`)).length).toBeGreaterThanOrEqual(3);
});

test.each(BUGS.map((bug) => [bug.name, bug] as const))("%s: the texts are in the source", (_, bug) => {
  const source = readText(bug.file);
  expect(plantChanges(source, bug.file, bug.changes)).not.toBe(source);
});

test("the copy of the system has every folder with a schema, which the copy must create", () => {
  const folders = [
    "console/server",
    ...readdirSync(join(ROOT, "services")).map((name) => `services/${name}`),
  ];
  const schemas = folders.filter((folder) => existsSync(join(ROOT, folder, "migrations")));
  expect(Object.keys(COPIED)).toEqual(expect.arrayContaining(schemas));
});
