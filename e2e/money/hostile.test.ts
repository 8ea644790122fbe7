import { readText } from "../ops/repository";
import { type Fixtures, hostileCases } from "./hostile";
import { hostileRecords } from "./hostileRecords";
import { hostileRest } from "./hostileRest";
import { hostileX402 } from "./hostileX402";

interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, unknown>;
}

interface Operation {
  parameters?: { in?: string; name?: string }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
}

const { paths, components } = JSON.parse(readText("gateway/openapi.json")) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const foreign = { walletId: "wal", chargeId: "chg", paymentId: "pay" };
const FIXTURES = { ...foreign, foreign, otherAddress: "0x", walletAddress: "0x" } as Fixtures;
const RECORDED = { instantId: "txn", scheduledId: "txn", address: "0x" };
const PATH_ID = "(path)";

test("every id, query and field of the contract has invalid values", () => {
  const cases = [
    ...hostileCases(FIXTURES),
    ...hostileRest(FIXTURES),
    ...hostileRecords(RECORDED),
    ...hostileX402(),
  ];
  const tried = new Set(
    cases.map(({ method, path, field }) => `${method} ${templateOf(path)} ${field.split(".")[0] || PATH_ID}`),
  );
  const wanted = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      placesOf(path, operation).map((place) => `${method.toUpperCase()} ${path} ${place}`),
    ),
  );
  expect(wanted.filter((place) => !tried.has(place))).toEqual([]);
});

/** The path in the document that serves this path. A literal path goes before a parameter. */
function templateOf(path: string): string | undefined {
  const plain = path.split("?")[0]!;
  const fits = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(plain);
  return plain in paths ? plain : Object.keys(paths).find(fits);
}

function placesOf(path: string, { parameters = [], requestBody }: Operation): string[] {
  const queries = parameters.filter((each) => each.in === "query").map(({ name }) => name!);
  const fields = requestBody ? fieldsOf(requestBody.content["application/json"].schema) : [];
  return [...(path.includes("{") ? [PATH_ID] : []), ...new Set([...queries, ...fields])];
}

function fieldsOf({ $ref, oneOf = [], allOf = [], properties = {} }: Schema): string[] {
  const named = $ref && components.schemas[$ref.split("/").at(-1)!];
  const parts = [...oneOf, ...allOf].flatMap(fieldsOf);
  return [...(named ? fieldsOf(named) : []), ...parts, ...Object.keys(properties)];
}
