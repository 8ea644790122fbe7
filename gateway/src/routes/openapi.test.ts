import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorTable } from "@wonrail/kit/contract/errors";
import { SCOPES } from "@wonrail/kit/contract/scopes";
import { type RouteDeps, routes } from ".";
import { story } from "./examples";
import { openApiDocument, refusalCodes } from "./openapi";
import { renderOpenApi } from "./renderOpenApi";
import { OPERATION_SCOPES } from "./scopes";

const table = routes({ clients: {}, principals: {} } as RouteDeps);

interface Documented {
  operationId: string;
  summary: string;
  description?: string;
  security: object[];
  parameters?: { name?: string; $ref?: string }[];
  responses: Record<
    string,
    {
      description: string;
      content: Record<string, { examples?: Record<string, unknown> }>;
      headers: Record<string, object>;
    }
  >;
}
const document = JSON.parse(renderOpenApi()) as {
  paths: Record<string, Record<string, Documented>>;
  components: Record<string, Record<string, unknown>>;
};
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));

test("gateway/openapi.json equals the rendered routes; if not, run npm run docs", () => {
  expect(readFileSync(join(__dirname, "..", "..", "openapi.json"), "utf8")).toBe(renderOpenApi());
});

test("every route and the stream are in the document, with their own name and a summary", () => {
  expect(operations).toHaveLength(table.length + 1);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { summary } of operations) expect(summary).not.toBe("");
});

test("every reference has a target", () => {
  const references = [...renderOpenApi().matchAll(/"\$ref": "#\/components\/(\w+)\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(100);
  for (const [, kind, name] of references) expect(document.components[kind!]).toHaveProperty([name!]);
});

test("the stream of events is documented with its filters, Last-Event-ID and an event", () => {
  const { parameters, responses } = document.paths["/api/events/stream"]!.get!;
  const names = parameters!.map(({ name, $ref }) => name ?? $ref!.split("/").at(-1));
  expect(names.slice(-4)).toEqual(["Last-Event-ID", "after", "types", "objectId"]);
  const { example } = responses["200"]!.content["text/event-stream"] as { example: string };
  expect(example).toMatch(/^id: \d+\nevent: payment\.created\ndata: \{"eventId":"evt_.*\}\n\n$/);
  expect(responses["409"]!.description).toContain("EVT_002");
});

test("each error code of an operation has an example at its status", () => {
  for (const route of table) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const { responses } = document.paths[path]![route.method.toLowerCase()]!;
    for (const code of refusalCodes(route)) {
      const examples = responses[errorTable[code].http]?.content["application/json"]!.examples;
      expect(Object.keys(examples ?? {})).toContain(code);
    }
  }
});

test("the example of each error holds every detail that a program reads", () => {
  const examples = document.components.examples as Record<
    string,
    { value: { error: { details: object | null } } }
  >;
  const documentedDetails = Object.entries(examples).flatMap(([code, { value }]) => {
    const { details } = value.error;
    return details === null ? [] : [`${code} ${Object.keys(details).join(" ")}`];
  });
  expect(documentedDetails.sort()).toEqual([
    "CHG_001 fields",
    "CHG_003 chargeId",
    "CHG_005 remaining",
    "CHG_007 reason",
    "CHG_008 reason maxCharge",
    "EVT_002 oldestAfter",
    "PAY_001 available required",
    "PAY_002 fields",
    "PAY_003 paymentId",
    "PAY_005 walletId reason",
    "PAY_006 reason",
    "RATE_001 retryAfterMs",
    "REQ_001 fields",
    "REQ_006 maxBytes",
    "REQ_008 versions",
    "SBX_002 state",
    "SBX_003 reason",
    "SYS_002 retryAfterMs",
    "TRF_001 available required",
    "TRF_002 fields",
    "TRF_003 dailyLimit usedToday",
    "TRF_004 walletId",
    "TX_002 id",
    "TX_003 status",
    "TX_004 status reason",
    "WAL_001 walletId",
    "WAL_002 walletId",
    "WAL_003 walletId",
    "WAL_004 walletId",
    "WAUTH_001 reason",
    "WAUTH_004 quota limit used resetsAt",
    "WAUTH_005 scope",
    "WAUTH_006 address",
    "WAUTH_008 limit",
    "WHK_002 reason",
    "WHK_003 limit",
  ]);
});

test("each write takes an Idempotency-Key or documents how to handle an unknown outcome", () => {
  for (const { method, path, operation } of table) {
    const { idempotent, whenUnknown } = operation;
    expect([operation.id, [idempotent, whenUnknown].filter(Boolean).length]).toEqual([
      operation.id,
      method === "GET" ? 0 : 1,
    ]);
    const responses = document.paths[path.replace(/:(\w+)/g, "{$1}")]![method.toLowerCase()]!.responses;
    if (whenUnknown !== undefined) expect(responses[504]!.description).toContain(whenUnknown);
    if (method !== "GET") expect(responses[500]!.description).toContain("The request may have succeeded");
  }
});

test("every POST takes an Idempotency-Key, but those of x402 and those that a repetition does not change", () => {
  const posts = table.filter(({ method, operation }) => method === "POST" && !operation.idempotent);
  expect(posts.map(({ operation }) => operation.id)).toEqual([
    ...["refreshKey", "verifyX402Payment", "settleX402Payment"],
    ...["failSandboxSettlement", "holdSandboxSettlement", "releaseSandboxSettlement"],
    ...["expireSandboxKey", "openSandboxClock", "advanceSandboxClock"],
  ]);
});

test("each refusal documents its headers", () => {
  const headersOf = (id: string, status: number) =>
    Object.keys(operations.find(({ operationId }) => operationId === id)!.responses[status]!.headers);
  const rate = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];
  const always = ["X-Request-Id", "Wonrail-Version"];
  expect(headersOf("createPayment", 400)).toEqual([...always, ...rate, "Idempotent-Replayed"]);
  expect(headersOf("createPayment", 401)).toEqual([...always, "WWW-Authenticate"]);
  expect(headersOf("createPayment", 422)).toEqual([...always, ...rate]);
  expect(headersOf("createPayment", 429)).toEqual([...always, ...rate, "Retry-After"]);
  expect(headersOf("createPayment", 503)).toEqual([...always, ...rate, "Retry-After"]);
  expect(headersOf("createTransaction", 409)).toEqual([...always, ...rate, "Retry-After"]);
  expect(headersOf("getWallet", 404)).toEqual([...always, ...rate]);
  expect(headersOf("refreshKey", 429)).toEqual([...always, ...rate, "Retry-After"]);
  expect(headersOf("refreshKey", 400)).toEqual(always);
});

test("the health probe documents no rate limit", () => {
  const { responses } = operations.find(({ operationId }) => operationId === "checkHealth")!;
  expect(Object.keys(responses)).toEqual(["200", "400", "500", "503"]);
});

test("every code of the public API belongs to an operation", () => {
  const documented = new Set(table.flatMap((route) => refusalCodes(route)));
  const expected = Object.keys(errorTable).filter((code) =>
    /^(WAUTH|WAL|TRF|CHG|PAY|TX|SBX|RATE)_/.test(code),
  );
  expect(expected.filter((code) => !documented.has(code as keyof typeof errorTable))).toEqual([]);
});

test("examples of a journal line's name match its format", () => {
  const { items } = story.find(({ operation }) => operation === "listWalletTransactions")!.data as {
    items: { transactionId: string }[];
  };
  expect(items.length).toBeGreaterThan(1);
  for (const { transactionId } of items) expect(transactionId).toMatch(/^jrn_[0-9a-f]{32}-[1-9][0-9]*$/);
});

test("the document states the bounds of metadata and of an Idempotency-Key", () => {
  const { properties } = document.components.schemas!.CreateWallet as {
    properties: Record<string, object>;
  };
  expect(properties.metadata).toMatchObject({
    maxProperties: 5,
    propertyNames: { minLength: 1, maxLength: 40 },
    additionalProperties: { type: "string", maxLength: 500 },
  });
  const { schema } = document.components.parameters!["Idempotency-Key"] as { schema: { pattern: string } };
  const form = new RegExp(schema.pattern);
  const keys = ["order 1, second try", "x".repeat(255), "", "x".repeat(256), "ключ", "a\u007f"];
  expect(keys.map((key) => form.test(key))).toEqual([true, true, false, false, false, false]);
});

/** Every schema below a node with its path, without examples. */
function schemasIn(node: unknown, at: string): [string, Record<string, unknown>][] {
  if (typeof node !== "object" || node === null) return [];
  const inner = Object.entries(node).filter(([name]) => name !== "example" && name !== "examples");
  const own: [string, Record<string, unknown>][] = [[at, node as Record<string, unknown>]];
  return own.concat(inner.flatMap(([name, one]) => schemasIn(one, `${at}/${name}`)));
}

test("every integer has the format int64", () => {
  const integers = schemasIn(document, "#").filter(([, { type }]) => [type].flat().includes("integer"));
  expect(integers.length).toBeGreaterThan(50);
  expect(integers.filter(([, { format }]) => format !== "int64").map(([at]) => at)).toEqual([]);
});

test("the largest amount of a request is the largest exact JSON number", () => {
  const amounts = schemasIn(document.components.schemas, "#").filter(([at]) =>
    /Create.*mount$|Cancel.*mount$/.test(at),
  );
  const asked = amounts.filter(([at]) => !/Cancelled|Cancellation|Transaction/.test(at));
  expect(asked.map(([at]) => at.split("/")[1])).toEqual([
    "CreateTransfer",
    "CreateCharge",
    "CancelCharge",
    "CreatePayment",
    "CreatePayment",
    "CreateSandboxDeposit",
  ]);
  for (const [at, { maximum }] of asked) expect([at, maximum]).toEqual([at, 2 ** 53 - 1]);
});

test("request objects are closed, and response objects may gain fields", () => {
  const objects = schemasIn(document, "#").filter(
    ([, { type, properties }]) => type === "object" && properties,
  );
  const closed = objects.filter(([, { additionalProperties }]) => additionalProperties === false);
  const named = closed.map(([at]) => at.replace("#/components/schemas/", ""));
  expect(named.sort()).toEqual(
    [
      ...["CancelCharge", "CancelPayment", "CreateCharge", "CreateInstantTransaction", "CreatePayment"],
      ...[
        "CreateScheduledTransaction",
        "CreateTransfer",
        "CreateWallet",
        "RefreshKey",
        "RefundPayment",
        "RefundWallet",
      ],
      ...["CreatePayout", "PayoutOrder", "UpdateMetadata"],
      ...["AdvanceSandboxClock", "CreateSandboxDeposit"],
      ...["UpdateTransactionSchedule", "UpdateTransactionStatus", "UpdateWallet"],
      ...["IssueKey", "CreateWebhook", "ReplayFailed", "ReplayRange", "RotateWebhookSecret", "UpdateWebhook"],
    ].sort(),
  );
  expect(objects.length).toBeGreaterThan(closed.length + 50);
});

test("error.code of a refusal is an enum of all codes", () => {
  const { ErrorCode, Refusal, RefusalError } = document.components.schemas as Record<string, object>;
  expect(ErrorCode).toMatchObject({ type: "string", enum: Object.keys(errorTable) });
  const code = { $ref: "#/components/schemas/ErrorCode" };
  expect(Refusal).toMatchObject({ properties: { error: { $ref: "#/components/schemas/RefusalError" } } });
  expect(RefusalError).toMatchObject({ properties: { code } });
});

test("a nullable value is a list of types with null, and never null alone or an alternative", () => {
  const schemas = schemasIn(document, "#");
  expect(schemas.filter(([, { type }]) => type === "null").map(([at]) => at)).toEqual([]);
  const alternatives = schemas.filter(([at]) => /\/(anyOf|oneOf|allOf)\/\d+$/.test(at));
  expect(alternatives.length).toBeGreaterThan(2);
  expect(alternatives.filter(([, { type }]) => [type].flat().includes("null")).map(([at]) => at)).toEqual([]);
  const errors = schemas.filter(([at]) => /\/responses\/20\d\/.*\/schema\/properties\/error$/.test(at));
  expect(errors).toHaveLength(table.filter(({ operation }) => !operation.foreignFormat).length);
  for (const [at, { type }] of errors) expect([at, type]).toEqual([at, ["object", "null"]]);
});

test("an object with fields that can be null has x-nullable, which a Go client needs", () => {
  const nullable = schemasIn(document, "#").filter(
    ([, { type, properties }]) => properties && [type].flat().includes("null"),
  );
  expect(nullable.map(([at]) => at.split("/").slice(3).join("/"))).toContain(
    "Payment/properties/cancellation",
  );
  expect(nullable.filter(([, node]) => node["x-nullable"] !== true).map(([at]) => at)).toEqual([]);
});

test("no name of a schema collides with a name that openapi-generator derives in Go", () => {
  const schemas = Object.keys(document.components.schemas!);
  const derived = schemas.flatMap((name) => [`New${name}`, `New${name}WithDefaults`, `Nullable${name}`]);
  const requests = operations.map(({ operationId }) => `Api${operationId}Request`);
  // File systems and Java's class files do not tell upper case from lower case.
  const names = [...schemas, ...derived, ...requests].map((name) => name.toLowerCase());
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("no value of a named enum has the Go constant of another enum's value", () => {
  const enums = Object.values(document.components.schemas as Record<string, { enum?: string[] }>);
  const constants = enums.flatMap(({ enum: values = [] }) =>
    values.map((value) => value.toUpperCase().replace(/[^A-Z0-9]/g, "_")),
  );
  expect(constants.length).toBeGreaterThan(50);
  expect(constants.filter((name, index) => constants.indexOf(name) !== index)).toEqual([]);
});

test("the document has no webhooks, which client generators reject", () => {
  expect(document).not.toHaveProperty("webhooks");
});

test("every operation, parameter and field of a schema is described", () => {
  expect(
    operations.filter(({ description = "" }) => description === "").map(({ operationId }) => operationId),
  ).toEqual([]);
  const undescribed = Object.entries(document.components.schemas!).flatMap(([name, schema]) =>
    schemasIn(schema, name)
      .filter(
        ([at, node]) =>
          /\/properties\/\w+$/.test(at) &&
          !("$ref" in node) &&
          !("allOf" in node) &&
          !("description" in node),
      )
      .map(([at]) => at),
  );
  expect(undescribed).toEqual([]);
});

test("every operation but refresh and liveness requires a key", () => {
  const open = operations.filter(({ security }) => security.length === 0);
  expect(open.map(({ operationId }) => operationId)).toEqual(["refreshKey", "checkHealth"]);
});

test("every operation with a key has one entry in the table of scopes, and documents it", () => {
  const keyed = table.filter(({ operation }) => operation.access !== "anyone");
  expect(Object.keys(OPERATION_SCOPES).sort()).toEqual(keyed.map(({ operation }) => operation.id).sort());
  expect(new Set(Object.values(OPERATION_SCOPES).filter((scope) => scope !== null))).toEqual(new Set(SCOPES));
  for (const { operation, scope } of keyed) {
    const { description, security } = operations.find(({ operationId }) => operationId === operation.id)!;
    const scopes = scope === null ? [] : [scope];
    expect(security).toEqual([{ apiKey: scopes }, { bearer: scopes }]);
    expect(description).toContain(scope === null ? "Needs no scope." : `Needs the scope \`${scope}\`.`);
  }
});

test("a deprecated operation is marked, and documents its headers", () => {
  const { operation, ...route } = table.find(({ operation }) => operation.id === "getWallet")!;
  const advice = "Use listWallets.";
  const deprecated = { since: "2026-02-01", sunset: "2026-08-01", advice };
  const changed = openApiDocument([{ ...route, operation: { ...operation, deprecated } }]);
  const { get } = (changed.paths as Record<string, Record<string, Documented & { deprecated: boolean }>>)[
    "/api/wallets/{walletId}"
  ]!;
  expect(get).toMatchObject({ deprecated: true, description: expect.stringContaining(advice) as string });
  for (const { headers } of Object.values(get!.responses))
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(["Deprecation", "Sunset"]));
  expect(Object.keys(changed.components!.headers!)).toContain("Sunset");
  expect(document.components.headers).not.toHaveProperty("Sunset");
});

test("a literal path precedes a parameter that would match it", () => {
  const paths = table.map(({ path }) => path);
  expect(paths.indexOf("/api/wallets/payment")).toBeLessThan(paths.indexOf("/api/wallets/:walletId"));
  expect(paths.indexOf("/api/wallets/payment/cancel")).toBeLessThan(
    paths.indexOf("/api/wallets/payment/:paymentId"),
  );
});
