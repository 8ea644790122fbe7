import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** The part of the gateway's contract that the library is tested against. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

interface Parameter {
  $ref?: string;
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: Parameter[];
  security: unknown[];
  body: Schema | undefined;
  /** Status of success. */
  status: number;
  answer: Schema;
  /** The document's example, or the first of several. */
  example: unknown;
  /** Every documented refusal. */
  refusals: { status: number; code: string }[];
}

interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

interface RawOperation {
  operationId: string;
  parameters?: Parameter[];
  security: unknown[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { content: { "application/json": Media } }>;
}

const FILE = join(__dirname, "../../../gateway/openapi.json");
const document = JSON.parse(readFileSync(FILE, "utf8")) as {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
};

/**
 * All operations but the stream of events, whose list `events.stream` reads, and those of x402, which
 * its own libraries call.
 */
export const operations: Operation[] = Object.entries(document.paths)
  .filter(([path]) => !path.startsWith("/x402/"))
  .flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId !== "streamEvents")
      .map(([method, raw]) => operationOf(path, method.toUpperCase(), raw)),
  );

function operationOf(path: string, method: string, raw: RawOperation): Operation {
  const responses = Object.entries(raw.responses).map(([status, { content }]) => ({
    status: Number(status),
    ...content["application/json"],
  }));
  const success = responses.find(({ status }) => status < 300)!;
  return {
    id: raw.operationId,
    method,
    path,
    parameters: (raw.parameters ?? []).map((parameter) =>
      parameter.$ref ? sharedParameter(parameter.$ref) : parameter,
    ),
    security: raw.security,
    body: raw.requestBody?.content["application/json"].schema,
    status: success.status,
    answer: success.schema,
    example: success.example ?? Object.values(success.examples ?? {})[0]?.value,
    refusals: responses
      .filter(({ status }) => status >= 400)
      .flatMap(({ status, examples = {} }) => Object.keys(examples).map((code) => ({ status, code }))),
  };
}

function sharedParameter(ref: string): Parameter {
  return document.components.parameters[nameOf(ref)]!;
}

export function resolve(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : resolve(document.components.schemas[nameOf(schema.$ref)]!);
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
const formats = { "date-time": DATE_TIME, int64: true } as const;
const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
ajv.addSchema({ $id: "document", components: closed(document.components) });
const compiled = new Map<Schema, ValidateFunction>();

/** Differences between a value and its schema. */
export function problems(schema: Schema, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(inDocument(schema));
  compiled.set(schema, validate);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Closes the schemas of answers: partners must accept new fields, these tests must not. */
function closed<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) => {
    const isObject = typeof value === "object" && value !== null && "properties" in value;
    return isObject && "type" in value ? { additionalProperties: false, ...value } : value;
  }) as T;
}

function inDocument<T>(value: T): T {
  const text = JSON.stringify(closed(value)).replaceAll('"#/components/', '"document#/components/');
  return JSON.parse(text) as T;
}
