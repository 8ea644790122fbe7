import { readText } from "../ops/repository";
import { requestsFor } from "./foreignIds";
import { type Fixtures } from "./hostile";

interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  properties?: Record<string, unknown>;
}

interface Operation {
  parameters?: { in?: string; name?: string }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
}

const document = JSON.parse(readText("gateway/openapi.json")) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** User ids are the organisation's own names. */
const OWN_FIELDS = ["userId"];
const FIXTURES = { walletId: "wal", otherWalletId: "wal", otherAddress: "0x" } as Fixtures;
const ID = "{id}";

// The stream never ends. It has the filters of the list, by the same call of the events service.
test("each id field of the contract is tried with another organisation's id", () => {
  const asked = requestsFor(FIXTURES).map(([, make]) => placeOf(make(ID)));
  const { "/api/events/stream": _stream, ...others } = document.paths;
  expect(asked.sort()).toEqual(Object.entries(others).flatMap(placesOf).sort());
});

function placeOf({ method, path, body = {} }: ReturnType<Made>): string {
  const field = Object.entries(body).find(([, value]) => value === ID)?.[0];
  return [method, path.replace(/(order|from)=[^&]+&/, ""), ...(field ? [field] : [])].join(" ");
}

type Made = ReturnType<typeof requestsFor>[number][1];

function placesOf([path, operations]: [string, Record<string, Operation>]): string[] {
  const plain = path.replace(/\{\w+\}/, ID);
  return Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]) => {
    const at = `${method.toUpperCase()} ${plain}`;
    const query = parameters.filter((each) => each.in === "query" && isId(each.name!));
    const fields = requestBody ? fieldsOf(requestBody.content["application/json"].schema) : [];
    return [
      ...(path.includes("{") ? [at] : []),
      ...query.map(({ name }) => `${at}?${name}=${ID}`),
      ...fields.filter(isId).map((field) => `${at} ${field}`),
    ];
  });
}

function fieldsOf({ $ref, oneOf = [], properties = {} }: Schema): string[] {
  const named = $ref && document.components.schemas[$ref.split("/").at(-1)!];
  return [...(named ? fieldsOf(named) : []), ...oneOf.flatMap(fieldsOf), ...Object.keys(properties)];
}

function isId(name: string): boolean {
  return /(^id|Id)$/.test(name) && !OWN_FIELDS.includes(name);
}
