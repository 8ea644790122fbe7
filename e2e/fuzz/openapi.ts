import { readText } from "../ops/repository";

// The part of gateway/openapi.json from which requests are made.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  example?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
  example?: unknown;
}

export interface Operation {
  method: string;
  path: string;
  parameters: Parameter[];
  /** Absent when the operation takes no body. */
  body?: RequestBody;
}

export interface RequestBody {
  examples: unknown[];
  schema: Schema;
}

interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface OperationObject {
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: { "application/json": Media } };
}

const document = JSON.parse(readText("gateway/openapi.json")) as {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
};

/** The stream of events never ends, so no case waits for its answer. */
const ENDLESS = "/api/events/stream";

/** All operations of the contract with an answer that ends. */
export function readOperations(): Operation[] {
  return Object.entries(document.paths)
    .filter(([path]) => path !== ENDLESS)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
        method: method.toUpperCase(),
        path,
        parameters: parameters.map(resolveParameter),
        ...(requestBody && { body: bodyOf(requestBody.content["application/json"]) }),
      })),
    );
}

export function resolveSchema(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : document.components.schemas[lastPart(schema.$ref)]!;
}

function resolveParameter(parameter: Parameter | { $ref: string }): Parameter {
  return "$ref" in parameter ? document.components.parameters[lastPart(parameter.$ref)]! : parameter;
}

function bodyOf({ schema, example, examples = {} }: Media): RequestBody {
  const given = example === undefined ? [] : [example];
  return { schema, examples: [...given, ...Object.values(examples).map(({ value }) => value)] };
}

function lastPart(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}
