import { type OpenApiDocument } from "./openapi";

interface Parameter {
  $ref?: string;
  name: string;
  in: "path" | "query" | "header";
  example?: string | number | boolean;
  description?: string;
  schema?: { description?: string };
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: [string];
  security: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
}

interface Media {
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

interface Place {
  method: string;
  path: string;
}

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
const IDEMPOTENCY_KEY = "#/components/parameters/Idempotency-Key";

/**
 * Renders a collection of all requests in Postman's format 2.1, which Bruno imports too. The reader
 * sets the variables `baseUrl` and `apiKey`.
 */
export function postmanCollection(document: OpenApiDocument): object {
  const { info, tags = [], paths = {} } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      tag: operation.tags[0],
      item: itemOf({ method: method.toUpperCase(), path }, operation),
    })),
  );
  return {
    info: {
      name: info.title,
      description: "Set the variables `baseUrl` and `apiKey` of the collection, then send a request.",
      schema: SCHEMA,
    },
    auth: {
      type: "apikey",
      apikey: [
        { key: "key", value: "X-API-Key", type: "string" },
        { key: "value", value: "{{apiKey}}", type: "string" },
        { key: "in", value: "header", type: "string" },
      ],
    },
    variable: [
      { key: "baseUrl", value: "http://localhost:8080" },
      { key: "apiKey", value: "" },
    ],
    item: tags.map(({ name, description }) => ({
      name,
      description,
      item: operations.filter(({ tag }) => tag === name).map(({ item }) => item),
    })),
  };
}

function itemOf({ method, path }: Place, operation: Operation) {
  const { operationId, summary, description, security, parameters = [] } = operation;
  const body = exampleBody(operation);
  return {
    name: summary,
    id: operationId,
    request: {
      method,
      description,
      ...(security.length === 0 ? { auth: { type: "noauth" } } : {}),
      header: headersOf(parameters, body),
      url: urlOf(path, parameters),
      ...(body === undefined
        ? {}
        : {
            body: {
              mode: "raw",
              raw: JSON.stringify(body, null, 2),
              options: { raw: { language: "json" } },
            },
          }),
    },
    response: [],
  };
}

/** Each send of a request makes a new idempotency key. */
function headersOf(parameters: Parameter[], body: unknown) {
  const isKeyed = parameters.some(({ $ref }) => $ref === IDEMPOTENCY_KEY);
  return [
    ...(body === undefined ? [] : [{ key: "Content-Type", value: "application/json" }]),
    ...(isKeyed ? [{ key: "Idempotency-Key", value: "{{$guid}}" }] : []),
  ];
}

/** Optional filters of the query are present and disabled. */
function urlOf(path: string, parameters: Parameter[]) {
  const named = (place: Parameter["in"]) =>
    parameters
      .filter((one) => one.in === place)
      .map(({ name, example, description, schema }) => ({
        key: name,
        value: example === undefined ? "" : String(example),
        description: description ?? schema?.description ?? "",
      }));
  const query = named("query").map((one) => ({ ...one, disabled: true }));
  const route = path.replace(/\{(\w+)\}/g, ":$1");
  return {
    raw: `{{baseUrl}}${route}`,
    host: ["{{baseUrl}}"],
    path: route.split("/").slice(1),
    variable: named("path"),
    ...(query.length === 0 ? {} : { query }),
  };
}

function exampleBody({ requestBody }: Operation): unknown {
  const media = requestBody?.content["application/json"];
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
}
