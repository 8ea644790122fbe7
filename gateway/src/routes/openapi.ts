import { OpenApiGeneratorV31, OpenAPIRegistry, type RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import { type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { REQUEST_ID_FORM } from "@wonrail/kit/grpc/client";
import { MAX_BODY_BYTES } from "../middleware/readBody";
import { IDEMPOTENCY_KEY_FORM } from "../middleware/idempotencyKey";
import { type Example, story } from "./examples";
import { exampleId, instant, payerWalletId, STORY_BEGINS_AT } from "./exampleThings";
import { withGrowingAnswers } from "./growingAnswers";
import { type Operation, type Route, type Shape, type Tag } from "./operation";

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31["generateDocument"]>;

const TAGS: Record<Tag, string> = {
  Authentication: "The organisation's API key: refresh, revoke, session.",
  Wallets: "Users' wallets and what moved their balances.",
  Transfers: "From a wallet to an address, without gas for the user.",
  Charges: "Top-ups, their cancellation, and refunds.",
  Payments: "From a payer's wallets, by the waterfall, to a receiver.",
  "Recorded transactions":
    "Records of on-chain transactions. Amounts are integer strings in the token's smallest unit.",
  Service: "The gateway itself.",
};

const DESCRIPTION = `Stablecoin wallets for partner organisations.

Every answer is the envelope \`{success, data, error, requestId, timestamp}\`. Amounts of the wallet API are whole KRW. Unknown fields are
refused. Bodies are \`application/json\`, at most 64 KiB. Lists are newest first: a wallet's transactions by when they moved its
balance, all others by when each was first asked for, so that what took longer, or was asked for again with its key after SYS_002, comes in behind newer ones. A POST that moves money takes an \`Idempotency-Key\`:
sent again with the same body it gets the stored answer, with \`Idempotent-Replayed: true\`, for at least 31 days; the key of a
recorded transaction has no end. A refusal is kept like that when the books gave it: for what a wallet holds, is or may, or since it or what is to be taken back does not exist or was
taken back. To try such a one again takes another key. What is refused before is not kept, and its key stays free: for its form (REQ_…, an id or an address that cannot be one, an amount
under the minimum), for its API key, the rate or the plan, and whatever refuses to record a transaction. SYS_002 is about the request that it answers: when an earlier one with the same key was not answered, or with
SYS_003, go on with that key. SYS_001 does not say whether it was done: what moves money is asked for again with that key, and with no other.

What is optional is left out; \`null\` is refused everywhere but as \`incentiveAmount\`. There are no webhooks: whose \`settlement\` is PENDING or SUBMITTED, ask
for it again every few seconds. Of a transfer, and of a recorded transaction, go by \`status\` and not by the settlement: it is over when that is no longer PENDING. A key and its secret come from the operator of
this service, and the session says until when the key is good: refresh it before.

What may be added at any time: operations, optional fields and parameters of requests, headers and fields of answers, error codes. So pass over a field
that you do not know, and go by the status where you do not know the code. Lists of values other than \`ErrorCode\` are complete.`;

const requestId = z.string();
const answeredAt = z.iso.datetime();

/** The OpenAPI document of a list of routes. Everything in it follows from their schemas and the error table. */
export function openApiDocument(routes: Route[]): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registerShared(registry, new Set(routes.flatMap(refusalCodes)));
  for (const route of routes) registry.registerPath(pathOf(route));
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Wonrail API",
      version: "1.0.0",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The host that serves this document." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  });
  return withGrowingAnswers(document);
}

/** What many operations refer to. */
function registerShared(registry: OpenAPIRegistry, codes: Set<ErrorCode>): void {
  registry.registerComponent("securitySchemes", "apiKey", {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "The organisation's API key.",
  });
  registry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "The same key, as `Authorization: Bearer`.",
  });
  for (const [name, parameter] of Object.entries(PARAMETERS)) {
    registry.registerComponent("parameters", name, { name, in: "header", required: false, ...parameter });
  }
  for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent("headers", name, header);
  for (const code of codes) {
    registry.registerComponent("examples", code, {
      summary: errorTable[code].message,
      value: exampleOf(code),
    });
  }
}

const PARAMETERS = {
  "X-Request-Id": {
    description:
      "Names the request in the answer and in our logs. One of another form is passed over, and the answer has one of ours.",
    schema: { type: "string", pattern: REQUEST_ID_FORM.source },
  },
  "X-Org-Code": {
    description: "When given it must be the code of the key's organisation.",
    schema: { type: "string" },
  },
  "Idempotency-Key": {
    description:
      "1 to 255 printable ASCII characters, such as `order-20260114-0021`; of your organisation and of this operation: the same key in another operation is another. Makes the request safe to repeat: for at least 31 days, and without end where a transaction is recorded. A repeat that comes while the first still runs joins it, and gets the same answer.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY_FORM.source },
  },
} as const;

function parametersOf({ access, idempotent }: Operation) {
  const names: (keyof typeof PARAMETERS)[] = ["X-Request-Id"];
  if (access !== "anyone") names.push("X-Org-Code");
  if (idempotent) names.push("Idempotency-Key");
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

const HEADERS = {
  "X-Request-Id": {
    description: "The request's id: yours, or one that we made.",
    schema: { type: "string" },
  },
  "RateLimit-Limit": {
    description:
      "Requests that may come at once: of your organisation; with a 429 before a key was accepted, of your address. What is refused before the rate was asked comes without these three, as does a 429 for wrong secrets, or for more keys or refreshes than an organisation may have.",
    schema: { type: "integer" },
  },
  "RateLimit-Remaining": { description: "How many of them are left, about.", schema: { type: "integer" } },
  "RateLimit-Reset": { description: "Seconds until all of them are back.", schema: { type: "integer" } },
  "WWW-Authenticate": {
    description: "The scheme that is asked for, as HTTP has it: a key may come as a bearer token too.",
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait before the next try.", schema: { type: "integer" } },
  "Idempotent-Replayed": {
    description: "An earlier request with this key did it, or had begun it; the plan counted it then.",
    schema: { type: "string", const: "true" },
  },
} as const;

type HeaderName = keyof typeof HEADERS;

const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;

function headerRefs(names: HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function pathOf(route: Route): RouteConfig {
  const { method, path, operation } = route;
  const { id, summary, description, tag, access, params, query, body } = operation;
  const examples = story.filter((example) => example.operation === id);
  return {
    method: method.toLowerCase() as Lowercase<typeof method>,
    path: path.replace(/:(\w+)/g, "{$1}"),
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: access === "anyone" ? [] : [{ apiKey: [] }, { bearer: [] }],
    parameters: parametersOf(operation),
    request: {
      ...(params ? { params: withExample(params, examples[0]?.params) } : {}),
      ...(query ? { query: withExample(query, examples[0]?.query) } : {}),
      ...(body
        ? { body: { required: true, content: jsonOf(body, examples, (example) => example.body) } }
        : {}),
    },
    responses: {
      [operation.status]: successOf(operation, examples),
      ...refusalsOf(route),
    },
  };
}

/** The fields of a path or a query, with what the story has of them. */
function withExample(schema: Shape, values: Record<string, string> = {}): z.ZodObject {
  const fields = Object.entries((schema as z.ZodObject).shape).map(([name, field]) => {
    const known = field as z.ZodType;
    const example = values[name];
    return [name, example === undefined ? known : known.meta({ ...known.meta(), param: { example } })];
  });
  return z.object(Object.fromEntries(fields) as z.ZodRawShape);
}

/** Several examples of one operation have names. */
function jsonOf(schema: Shape, examples: Example[], valueOf: (example: Example) => unknown) {
  const named = examples.map((one) => [one.name ?? one.at, { value: valueOf(one) }] as const);
  const shown =
    named.length === 1 ? { example: named[0]![1].value } : { examples: Object.fromEntries(named) };
  return { "application/json": { schema, ...shown } };
}

function successOf({ data, access, idempotent }: Operation, examples: Example[]) {
  const schema = z.strictObject({
    success: z.literal(true),
    data,
    error: z.null(),
    requestId,
    timestamp: answeredAt,
  });
  const names: HeaderName[] = ["X-Request-Id"];
  if (access !== "anyone") names.push(...RATE_HEADERS);
  if (idempotent) names.push("Idempotent-Replayed");
  const content = jsonOf(schema, examples, (example) => ({
    success: true,
    data: example.data,
    error: null,
    requestId: exampleId("req", example.at),
    timestamp: example.at,
  }));
  return { description: "Done.", content, headers: headerRefs(names) };
}

/** Every code that the operation can answer with: its own, and those that follow from what it is. */
export function refusalCodes({ operation, method }: Route): ErrorCode[] {
  const { access, isUnlimited, body, idempotent, quota, errors } = operation;
  const codes = new Set<ErrorCode>([...errors, "REQ_001", "SYS_001", "SYS_002"]);
  const add = (condition: unknown, ...more: ErrorCode[]) =>
    condition && more.forEach((code) => codes.add(code));
  add(!isUnlimited, "RATE_001");
  // What only asks has done nothing, whatever became of it.
  add(method !== "GET", "SYS_003");
  add(body || method !== "GET", "REQ_006", "REQ_007");
  add(idempotent, "REQ_002", "REQ_003");
  add(access !== "anyone", "WAUTH_001", "WAUTH_002");
  add(access === "full", "WAUTH_003");
  add(quota, "WAUTH_004");
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.has(code));
}

/** One response for each status, with an example for each code. */
function refusalsOf(route: Route): RouteConfig["responses"] {
  const codes = refusalCodes(route);
  const statuses = new Set(codes.map((code) => errorTable[code].http));
  return Object.fromEntries(
    [...statuses].map((status) => [
      status,
      refusalOf(
        route.operation,
        status,
        codes.filter((code) => errorTable[code].http === status),
      ),
    ]),
  );
}

function refusalOf(operation: Operation, status: number, codes: ErrorCode[]) {
  const { access, quota, errors } = operation;
  const names: HeaderName[] = ["X-Request-Id"];
  if (status === 401) names.push("WWW-Authenticate");
  // A refused key is nobody's, and has no rate.
  if (status === 429 || (access !== "anyone" && status !== 401)) names.push(...RATE_HEADERS);
  if (codes.some((code) => errorTable[code].retryable)) names.push("Retry-After");
  // What the books decide is kept under the key; that a transaction was not recorded is not.
  if (quota === "MONEY_OPERATIONS" && codes.some((code) => errors.includes(code)))
    names.push("Idempotent-Replayed");
  return {
    description: codes.map((code) => describe(code, operation)).join("\n\n"),
    content: {
      "application/json": {
        schema: refusal,
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
    headers: headerRefs(names),
  };
}

/** What a code's message, which is said to who gets it, leaves open. */
const NOTES: Partial<Record<ErrorCode, string>> = {
  REQ_002: "(Reserved: today such a request joins the one that runs.)",
};

function describe(code: ErrorCode, operation: Operation): string {
  const note = noteOf(code, operation);
  return `\`${code}\` ${errorTable[code].message}${note === undefined ? "" : ` ${note}`}`;
}

function noteOf(code: ErrorCode, { idempotent, whenUnknown }: Operation): string | undefined {
  if (code === "SYS_003") return whenUnknown;
  if (code !== "SYS_001") return NOTES[code];
  if (idempotent) return "It may have been done: ask again with the same Idempotency-Key, and with no other.";
  return whenUnknown === undefined ? undefined : "It may have been done.";
}

const refusal = z
  .strictObject({
    success: z.literal(false),
    data: z.null(),
    error: z.strictObject({
      // No enum: a client that was generated from it would choke on the answer with the first new code.
      code: z.string().meta({
        id: "ErrorCode",
        description: "One of these, or one that is newer than your copy of this document.",
        "x-extensible-enum": Object.keys(errorTable),
      }),
      message: z.string(),
      details: z
        .record(z.string(), z.unknown())
        .nullable()
        .meta({ description: "What the code's sentence leaves open." }),
    }),
    requestId,
    timestamp: answeredAt,
  })
  .meta({ id: "Refusal" });

const EXAMPLE_DETAILS: Partial<Record<ErrorCode, Record<string, unknown>>> = {
  REQ_001: { fields: [{ path: "amount", message: "must be a whole number" }] },
  REQ_006: { maxBytes: MAX_BODY_BYTES },
  RATE_001: { retryAfterMs: 250 },
  SYS_002: { retryAfterMs: 1000 },
  WAUTH_004: {
    quota: "MONEY_OPERATIONS",
    limit: 1_000_000,
    used: 1_000_000,
    resetsAt: "2026-01-31T15:00:00.000Z",
  },
  WAL_001: { walletId: payerWalletId },
  WAL_002: { walletId: payerWalletId },
  WAL_003: { walletId: payerWalletId },
  WAL_004: { walletId: payerWalletId },
  TRF_004: { walletId: payerWalletId },
  PAY_003: { paymentId: exampleId("pay") },
  PAY_005: { walletId: payerWalletId },
  CHG_003: { chargeId: exampleId("chg") },
  TX_002: { id: instant.id },
  TRF_003: { dailyLimit: 5_000_000, usedToday: 4_900_000 },
  CHG_005: { remaining: 30_000 },
  TX_003: { status: "CONFIRMED" },
  TX_004: { status: "CONFIRMED" },
  TRF_002: { fields: [{ path: "toWalletAddress", message: "must be 0x and 40 hex digits" }] },
  CHG_001: { fields: [{ path: "amount", message: "must be at least 1000" }] },
  PAY_002: { fields: [{ path: "amount", message: "must be at least 100" }] },
};

function exampleOf(code: ErrorCode) {
  const { message } = errorTable[code];
  return {
    success: false,
    data: null,
    error: { code, message, details: EXAMPLE_DETAILS[code] ?? null },
    requestId: exampleId("req"),
    timestamp: STORY_BEGINS_AT,
  };
}
