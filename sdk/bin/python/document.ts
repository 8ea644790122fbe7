import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The parts of the OpenAPI document that the Python client is written from. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: (string | boolean)[];
  const?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface Operation {
  method: string;
  path: string;
  id: string;
  tag: string;
  summary: string;
  description: string;
  isOpen: boolean;
  isKeyed: boolean;
  pathParameters: Parameter[];
  queryParameters: Parameter[];
  body: Schema | undefined;
  /** `data` of a success. */
  data: Schema;
}

export interface Parameter {
  name: string;
  required: boolean;
  description: string;
  schema: Schema;
}

interface RawOperation {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  security: object[];
  parameters?: (Parameter & { $ref?: string; in?: string })[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

const FILE = join(__dirname, "../../../gateway/openapi.json");
const JSON_TYPE = "application/json";
const document = JSON.parse(readFileSync(FILE, "utf8")) as {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
};

export const schemas = document.components.schemas;

/** Operations that take and answer JSON in the envelope. Other protocols have clients of their own. */
export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, raw]) => operationOf(path, method.toUpperCase(), raw) ?? []),
);

function operationOf(path: string, method: string, raw: RawOperation): Operation | undefined {
  const success = Object.entries(raw.responses).find(([status]) => Number(status) < 300);
  const data = success?.[1].content?.[JSON_TYPE]?.schema.properties?.data;
  if (data === undefined || (raw.requestBody && !raw.requestBody.content[JSON_TYPE])) return undefined;
  // A file of another format is no object: _client.py has a method that downloads it.
  const isFile = Object.keys(success![1].content!).length > 1;
  const { operationId: id, summary, description, parameters = [] } = raw;
  return {
    ...{ method, path, id, summary, description, data },
    tag: raw.tags[0],
    isOpen: raw.security.length === 0,
    isKeyed: parameters.some(({ $ref }) => $ref?.endsWith("/Idempotency-Key")),
    pathParameters: parameters.filter((one) => one.in === "path"),
    queryParameters: parameters.filter(
      ({ in: place, name }) => place === "query" && !(name === "format" && isFile),
    ),
    body: raw.requestBody?.content[JSON_TYPE]!.schema,
  };
}

export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

export function resolve(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : resolve(schemas[nameOf(schema.$ref)]!);
}
