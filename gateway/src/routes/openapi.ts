import { OpenApiGeneratorV31, OpenAPIRegistry, type RouteConfig } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";
import { API_VERSIONS } from "@wonrail/kit/contract/apiVersions";
import { type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { REQUEST_ID_FORM } from "@wonrail/kit/grpc/client";
import { IDEMPOTENCY_KEY_FORM } from "../middleware/idempotencyKey";
import { API_DESCRIPTION, TAG_DESCRIPTIONS } from "./apiDescription";
import { type Example, story } from "./examples";
import { exampleOf } from "./errorExamples";
import { frameOf, STREAM_ROUTE } from "./events";
import { exampleId } from "./exampleFixtures";
import { allowUnknownResponseFields } from "./allowUnknownResponseFields";
import { type ForeignFormat, type Operation, type Route, type Shape } from "./operation";
import { errorFields } from "./schemas";

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31["generateDocument"]>;

const requestId = z.string().meta({ description: "The id of the request. Quote it when you contact us." });
const answeredAt = z.iso.datetime().meta({ description: "When the response was made." });

/** Renders the OpenAPI document from the routes' schemas and the error table. */
export function openApiDocument(routes: Route[]): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registerShared(registry, routes);
  for (const route of [...routes, STREAM_ROUTE]) registry.registerPath(pathOf(route));
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Wonrail API",
      version: "1.0.0",
      description: API_DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The host that serves this document." }],
    tags: Object.entries(TAG_DESCRIPTIONS).map(([name, description]) => ({ name, description })),
  });
  // The generator adds an empty list.
  delete document.webhooks;
  return allowUnknownResponseFields(document);
}

/** Components that many operations refer to. */
function registerShared(registry: OpenAPIRegistry, routes: Route[]): void {
  const codes = new Set(routes.flatMap(refusalCodes));
  const hasDeprecated = routes.some(({ operation }) => operation.deprecated);
  registry.registerComponent("securitySchemes", "apiKey", {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "The organisation's API key, `wk_live_…` or `wk_test_…`.",
  });
  registry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "The same API key in the header `Authorization: Bearer`.",
  });
  for (const [name, parameter] of Object.entries(PARAMETERS)) {
    registry.registerComponent("parameters", name, { name, in: "header", required: false, ...parameter });
  }
  for (const [name, header] of Object.entries(HEADERS)) {
    if (hasDeprecated || !DEPRECATION_HEADERS.includes(name))
      registry.registerComponent("headers", name, header);
  }
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
      "Your id for the request, for the response and our logs. A value that does not match the " +
      "pattern is ignored, and the response has an id of ours.",
    schema: { type: "string", pattern: REQUEST_ID_FORM.source },
  },
  "Wonrail-Version": {
    description:
      "The version of this API for the request. Omitted: the version of the API key, which is the newest " +
      "one at its creation. An unknown version is refused with REQ_008.",
    schema: { type: "string", enum: [...API_VERSIONS] as string[] },
  },
  "X-Org-Code": {
    description: "The code of the key's organisation. Another code is refused with WAUTH_001.",
    schema: { type: "string" },
  },
  "Idempotency-Key": {
    description:
      "1 to 255 printable ASCII characters that you choose, such as `order-20260114-0021`. Makes the " +
      "request safe to repeat. Each operation has its own keys. A repetition that arrives while the " +
      "first request runs gets the same response.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY_FORM.source },
  },
  "Last-Event-ID": {
    description: "The sequence of the last event that you have. It takes the place of `after`.",
    schema: { type: "string", pattern: "^(0|[1-9][0-9]{0,15})$" },
  },
} as const;

function parametersOf({ access, idempotent, isStream }: Operation) {
  const names: (keyof typeof PARAMETERS)[] = ["X-Request-Id", "Wonrail-Version"];
  if (access !== "anyone") names.push("X-Org-Code");
  if (idempotent) names.push("Idempotency-Key");
  if (isStream) names.push("Last-Event-ID");
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

const HEADERS = {
  "X-Request-Id": {
    description: "The request's id: yours, or one of ours.",
    schema: { type: "string" },
  },
  "Wonrail-Version": {
    description: "The version of this API that the response has.",
    schema: { type: "string" },
  },
  "RateLimit-Limit": {
    description:
      "Requests that are accepted at once: of your organisation, or of your address when no key was " +
      "accepted. Missing when the request was refused before the limit was checked.",
    schema: { type: "integer" },
  },
  "RateLimit-Remaining": {
    description: "How many of them are left, approximately.",
    schema: { type: "integer" },
  },
  "RateLimit-Reset": {
    description: "Seconds until all of them are available again.",
    schema: { type: "integer" },
  },
  "WWW-Authenticate": {
    description: "The authentication scheme. The API key is accepted as a bearer token too.",
    schema: { type: "string" },
  },
  Deprecation: {
    description: "Since when the operation is deprecated: `@` and seconds since 1970 (RFC 9745).",
    schema: { type: "string" },
  },
  Sunset: {
    description: "From when on the operation can be gone, as an HTTP date (RFC 8594).",
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait before you try again.", schema: { type: "integer" } },
  "Idempotent-Replayed": {
    description: "The response of an earlier request with this key. The plan counted that request.",
    schema: { type: "string", const: "true" },
  },
} as const;

type HeaderName = keyof typeof HEADERS;

const DEPRECATION_HEADERS: readonly string[] = ["Deprecation", "Sunset"] satisfies HeaderName[];

/** Headers of every response of the operation. */
function commonHeaders({ deprecated }: Operation): HeaderName[] {
  return ["X-Request-Id", "Wonrail-Version", ...(deprecated ? (["Deprecation", "Sunset"] as const) : [])];
}

const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;

function headerRefs(names: HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

type Documented = Omit<Route, "handler">;

function pathOf(route: Documented): RouteConfig {
  const { method, path, operation } = route;
  const { id, summary, description, tag, access, params, query, body } = operation;
  const examples = story.filter((example) => example.operation === id);
  const scopes = route.scope === null ? [] : [route.scope];
  return {
    method: method.toLowerCase() as Lowercase<typeof method>,
    path: path.replace(/:(\w+)/g, "{$1}"),
    operationId: id,
    summary,
    description: [deprecationSentence(operation), description, scopeSentence(route)]
      .filter(Boolean)
      .join(" "),
    ...(operation.deprecated ? { deprecated: true } : {}),
    tags: [tag],
    security: access === "anyone" ? [] : [{ apiKey: scopes }, { bearer: scopes }],
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

function deprecationSentence({ deprecated }: Operation): string | undefined {
  if (!deprecated) return undefined;
  const { since, sunset, advice } = deprecated;
  return `Deprecated since ${since}, and can be gone from ${sunset} on. ${advice}`;
}

function scopeSentence({ operation, scope }: Documented): string | undefined {
  if (operation.access === "anyone") return undefined;
  return scope === null ? "Needs no scope." : `Needs the scope \`${scope}\`.`;
}

/** The fields of a path or a query, with the example's values. */
function withExample(schema: Shape, values: Record<string, string> = {}): z.ZodObject {
  const fields = Object.entries((schema as z.ZodObject).shape).map(([name, field]) => {
    const known = field as z.ZodType;
    const example = values[name];
    return [name, example === undefined ? known : known.meta({ ...known.meta(), param: { example } })];
  });
  return z.object(Object.fromEntries(fields) as z.ZodRawShape);
}

/** An operation with several examples names each. */
function jsonOf(schema: Shape, examples: Example[], valueOf: (example: Example) => unknown) {
  const named = examples.map((one) => [one.name ?? one.at, { value: valueOf(one) }] as const);
  const shown =
    named.length === 1 ? { example: named[0]![1].value } : { examples: Object.fromEntries(named) };
  return { "application/json": { schema, ...shown } };
}

function successOf(operation: Operation, examples: Example[]) {
  const { data, access, idempotent, isStream, foreignFormat } = operation;
  const inEnvelope = z.strictObject({
    success: z.literal(true).meta({ description: "Always true." }),
    data,
    error: z.null().meta({ description: "Always null." }),
    requestId,
    timestamp: answeredAt,
  });
  const names = commonHeaders(operation);
  if (access !== "anyone") names.push(...RATE_HEADERS);
  if (idempotent) names.push("Idempotent-Replayed");
  if (isStream) {
    // OpenAPI 3.1 cannot describe the parts of a stream.
    const content = { "text/event-stream": { schema: z.string(), example: streamExample() } };
    return { description: "The stream begins.", content, headers: headerRefs(names) };
  }
  const content = foreignFormat
    ? jsonOf(data, examples, (example) => example.data)
    : jsonOf(inEnvelope, examples, (example) => ({
        success: true,
        data: example.data,
        error: null,
        requestId: exampleId("req", example.at),
        timestamp: example.at,
      }));
  const files = Object.fromEntries((operation.streamed ?? []).map((type) => [type, { schema: z.string() }]));
  return {
    description: "The request succeeded.",
    content: { ...content, ...files },
    headers: headerRefs(names),
  };
}

function streamExample(): string {
  const { data } = story.find(({ operation }) => operation === "getEvent")!;
  return frameOf(data as Parameters<typeof frameOf>[0]);
}

/** All codes of an operation: its own, and those that follow from its definition. */
export function refusalCodes({ operation, method, scope }: Documented): ErrorCode[] {
  const { access, isUnlimited, body, idempotent, quota, errors } = operation;
  const codes = new Set<ErrorCode>([...errors, "REQ_001", "REQ_008", "SYS_001", "SYS_002"]);
  const add = (condition: unknown, ...more: ErrorCode[]) =>
    condition && more.forEach((code) => codes.add(code));
  add(!isUnlimited, "RATE_001");
  // A read changes nothing, so its outcome is never unknown.
  add(method !== "GET", "SYS_003");
  add(body || method !== "GET", "REQ_006", "REQ_007");
  add(idempotent, "REQ_002", "REQ_003");
  add(access !== "anyone", "WAUTH_001", "WAUTH_002");
  add(access !== "anyone", "WAUTH_006");
  add(access === "full", "WAUTH_003");
  add(scope, "WAUTH_005");
  add(quota, "WAUTH_004");
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Each status has one response, with an example for each code. */
function refusalsOf(route: Documented): RouteConfig["responses"] {
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
  const { access, quota, errors, foreignFormat } = operation;
  const names = commonHeaders(operation);
  if (status === 401) names.push("WWW-Authenticate");
  // A refused key belongs to no organisation, so there is no rate to report.
  if (status === 429 || (access !== "anyone" && status !== 401)) names.push(...RATE_HEADERS);
  if (codes.some((code) => errorTable[code].retryable)) names.push("Retry-After");
  // Refusals by the ledger are stored under the key; a refusal to record a transaction is not.
  if (quota === "MONEY_OPERATIONS" && codes.some((code) => errors.includes(code)))
    names.push("Idempotent-Replayed");
  return {
    description: codes.map((code) => describe(code, operation)).join("\n\n"),
    content: { "application/json": foreignFormat ? foreignRefusal(codes, foreignFormat) : refusalIn(codes) },
    headers: headerRefs(names),
  };
}

function refusalIn(codes: ErrorCode[]) {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
  return { schema: refusal, examples: Object.fromEntries(examples) as Record<string, { $ref: string }> };
}

/** The shared examples lack the fields of another specification. */
function foreignRefusal(codes: ErrorCode[], { refusalFields, refusalOf }: ForeignFormat) {
  if (Object.keys(refusalFields).length === 0) return refusalIn(codes);
  const examples = codes.map((code) => {
    const value = exampleOf(code);
    return [code, { summary: errorTable[code].message, value: { ...value, ...refusalOf(value.error) } }];
  });
  return {
    schema: refusal.extend(refusalFields),
    examples: Object.fromEntries(examples) as Record<string, { summary: string; value: object }>,
  };
}

/** Notes for partners on a code's reasons and details. */
const NOTES: Partial<Record<ErrorCode, string>> = {
  WAUTH_001:
    "`details.reason` is `no_key_sent`, `two_keys_sent`, `secret_key_sent` or `wrong_org_code`. It is " +
    "missing for a key that is wrong, unknown or revoked.",
  TRF_001: "`details` has `available` and `required`, in KRW.",
  CHG_007: "`details.reason` is `wallet_type` or `nothing_to_refund`.",
  CHG_008: "`details.reason` is `max_charge`, `daily_limit` or `service_limit`.",
  PAY_001: "`details` has `available` and `required`, in KRW.",
  PAY_005: "`details.reason` is `same_user` or `wallet_type`.",
  PAY_006: "`details.reason` is `over_balance` or `over_amount`.",
  WHK_002:
    "`details.reason` is `not_a_url`, `not_https`, `has_credentials`, `has_fragment` or `address_not_allowed`.",
  SBX_002: "`details.state` is `SUBMITTED`, `CONFIRMED`, `FAILED` or `BLOCKED`.",
  SBX_003: "`details.reason` is `no_faucet`, `faucet_empty`, `gas_limit` or `refused_by_token`.",
  TX_004: "`details.reason` is `not_scheduled`, `not_pending` or `transfer_started`.",
  REQ_002: "Reserved: today such a request waits for the running one.",
};

function describe(code: ErrorCode, operation: Operation): string {
  const note = noteOf(code, operation);
  return `\`${code}\` ${errorTable[code].message}${note === undefined ? "" : ` ${note}`}`;
}

function noteOf(code: ErrorCode, { idempotent, whenUnknown }: Operation): string | undefined {
  if (code === "SYS_003") return whenUnknown;
  if (code !== "SYS_001") return NOTES[code];
  if (idempotent)
    return "The request may have succeeded: send it again with the same Idempotency-Key, never with a new one.";
  return whenUnknown === undefined ? undefined : "The request may have succeeded.";
}

const refusal = z
  .strictObject({
    success: z.literal(false).meta({ description: "Always false." }),
    data: z.null().meta({ description: "Always null." }),
    error: errorFields.meta({
      // Named, because openapi-generator writes wrong Java for the details of an unnamed one.
      id: "RefusalError",
      description: "Why the request was refused or failed.",
    }),
    requestId,
    timestamp: answeredAt,
  })
  .meta({ id: "Refusal", description: "The envelope of a request that was refused or failed." });
