import { newId } from "@wonrail/kit/contract/ids";
import { pick } from "@wonrail/kit/testing/random";
import { type Foreign } from "../money/foreignIds";
import { breakSomewhere, spoilText } from "./breakValue";
import { type Operation, type Parameter, type RequestBody, resolveSchema, type Schema } from "./openapi";
import { chance, hostileString, hostileValue, integerBetween, type Random } from "./values";

/** Ids and addresses that a case may name: the caller's, and another organisation's. */
export interface Named {
  own: Record<keyof Foreign, string[]>;
  foreign: Record<keyof Foreign, string[]>;
  addresses: string[];
}

export type Kind = "valid" | "nearly valid" | "hostile";

export interface RestCase {
  kind: Kind;
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

const KINDS: readonly Kind[] = ["valid", "valid", "nearly valid", "nearly valid", "hostile"];
const OTHER_METHODS = ["PUT", "PATCH", "DELETE", "POST", "OPTIONS"];
const DAY_MS = 86_400_000;
const MAX_DEPTH = 6;

/** Makes a request for the operation. Equal random numbers and names give an equal request. */
export function makeRestCase(random: Random, operation: Operation, named: Named): RestCase {
  const kind = pick(random, KINDS);
  const values = readersOf(random, named);
  const parameters = operation.parameters.filter(
    ({ required, in: place }) => required || chance(random, place === "header" ? 0.1 : 0.3),
  );
  const spoilt = kind === "valid" || parameters.length === 0 ? undefined : pick(random, parameters);
  const spoilsBody = operation.body !== undefined && (spoilt === undefined || chance(random, 0.7));
  const textOf = (parameter: Parameter): string => {
    if (parameter === spoilt && !spoilsBody)
      return kind === "hostile" ? hostileString(random) : String(hostileValue(random));
    return String(values.fromSchema({ ...parameter.schema, example: parameter.example }));
  };
  const path = pathOf(operation, parameters, textOf);
  const headers = Object.fromEntries(
    parameters.filter((one) => one.in === "header").map((one) => [one.name, headerText(textOf(one))]),
  );
  const method = kind === "hostile" && chance(random, 0.02) ? pick(random, OTHER_METHODS) : operation.method;
  if (operation.body === undefined || method === "GET") return { kind, method, path, headers };
  const value = values.bodyOf(operation.body);
  const type = kind === "hostile" && chance(random, 0.03) ? "text/plain" : "application/json";
  return {
    kind,
    method,
    path,
    headers: { ...headers, "Content-Type": type },
    body: bodyText(random, kind, spoilsBody, value),
  };
}

function bodyText(random: Random, kind: Kind, spoils: boolean, value: unknown): string {
  if (kind === "valid" || !spoils) return JSON.stringify(value);
  if (kind === "nearly valid") return JSON.stringify(breakSomewhere(random, value));
  return spoilText(random, value);
}

function pathOf(operation: Operation, parameters: Parameter[], textOf: (one: Parameter) => string): string {
  const parts = parameters.filter((one) => one.in === "path");
  const path = parts.reduce(
    (made, one) => made.replace(`{${one.name}}`, () => encode(textOf(one))),
    operation.path,
  );
  const query = parameters
    .filter((one) => one.in === "query")
    .map((one) => `${one.name}=${encode(textOf(one))}`);
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}

/** Lone surrogates have no encoding, so they stay as a broken one. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replaceAll("%25", "%");
}

/** A header has no control characters and only Latin-1; the client refuses to send others. */
function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 300);
}

/** Values that fit a schema. Examples get ids and addresses that exist. */
function readersOf(random: Random, named: Named) {
  function substitute(value: unknown): unknown {
    if (typeof value === "string") return substituteText(value);
    if (Array.isArray(value)) return value.map(substitute);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, substitute(inner)]));
  }

  function substituteText(text: string): string {
    const prefix = /^([a-z]{3})_[0-9a-f]{32}$/.exec(text)?.[1] as keyof Foreign | undefined;
    if (prefix !== undefined && prefix in named.own) {
      const dice = random();
      if (dice < 0.1) return newId(prefix);
      return pick(random, dice < 0.3 ? named.foreign[prefix] : named.own[prefix]);
    }
    if (/^0x[0-9a-fA-F]{40}$/.test(text)) return pick(random, named.addresses);
    return /^\d{4}-\d\d-\d\dT/.test(text) ? timeNear(random) : text;
  }

  function fromSchema(given: Schema, depth = 0): unknown {
    const schema = resolveSchema(given);
    const known = given.example ?? schema.example;
    if (known !== undefined && chance(random, 0.8)) return substitute(known);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return pick(random, schema.enum);
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices) return fromSchema(pick(random, choices), depth + 1);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => fromSchema(one, depth + 1)));
    const type = Array.isArray(schema.type) ? pick(random, schema.type) : schema.type;
    return fromType(type, schema, depth);
  }

  function fromType(type: string | undefined, schema: Schema, depth: number): unknown {
    switch (type) {
      case "object":
        return depth > MAX_DEPTH ? {} : fromObject(schema, depth);
      case "array":
        return Array.from({ length: depth > MAX_DEPTH ? 0 : integerBetween(random, 0, 3) }, () =>
          fromSchema(schema.items ?? {}, depth + 1),
        );
      case "integer":
      case "number":
        return numberFor(random, schema);
      case "boolean":
        return chance(random, 0.5);
      case "null":
        return null;
      default:
        return schema.format === "date-time" ? timeNear(random) : substitute(schema.default ?? "a text");
    }
  }

  function fromObject({ properties = {}, required = [], additionalProperties }: Schema, depth: number) {
    const chosen = Object.entries(properties).filter(
      ([name]) => required.includes(name) || chance(random, 0.4),
    );
    const free = typeof additionalProperties === "object" && chance(random, 0.5);
    return {
      ...Object.fromEntries(chosen.map(([name, schema]) => [name, fromSchema(schema, depth + 1)])),
      ...(free && { till: fromSchema(additionalProperties, depth + 1) }),
    };
  }

  return {
    fromSchema,
    bodyOf: ({ examples, schema }: RequestBody): unknown =>
      examples.length > 0 && chance(random, 0.6) ? substitute(pick(random, examples)) : fromSchema(schema),
  };
}

function numberFor(random: Random, { minimum = 0, maximum = 2 ** 53 - 1 }: Schema): number {
  const near = Math.min(maximum, Math.max(minimum, integerBetween(random, 1, 20) * 500));
  return pick(random, [minimum, near, near, near, maximum]);
}

/** Within a month of now, so that most periods are accepted. */
function timeNear(random: Random): string {
  return new Date(Date.now() + integerBetween(random, -30, 30) * DAY_MS).toISOString();
}
