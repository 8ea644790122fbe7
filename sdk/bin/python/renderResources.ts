import { nameOf, type Operation, operations, resolve, type Schema } from "./document.ts";
import { docstring, snakeCase } from "./text.ts";
import { answerType, argumentType, literal } from "./types.ts";

const HEADER = `# Generated from gateway/openapi.json by \`npm run docs\`; do not edit.
"""The calls of each resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from . import models
from ._page import Page
from ._resource import OMIT, Omit, Resource
from ._transport import Transport
`;

/** Names of tags that are no names of attributes. */
const ATTRIBUTES: Record<string, string> = {
  Authentication: "auth",
  "API keys": "keys",
  "Recorded transactions": "transactions",
};

interface Argument {
  json: string;
  python: string;
  type: string;
  required: boolean;
}

interface Method {
  name: string;
  operation: Operation;
}

/** Returns the source of _resources.py: a class for each tag, with a method for each operation. */
export function renderResources(): string {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const classes = tags.map((tag) => renderClass(tag));
  const fields = tags.map((tag) => {
    const comment = docstring(`Calls of ${tag}.`, "        ");
    return `        self.${attributeOf(tag)} = ${classOf(tag)}(transport)\n${comment}`;
  });
  const all = `class Resources:
    """All resources of a client."""

    def __init__(self, transport: Transport) -> None:
${fields.join("\n")}`;
  return `${HEADER}\n\n${[...classes, all].join("\n\n\n")}\n`;
}

function attributeOf(tag: string): string {
  return ATTRIBUTES[tag] ?? tag.toLowerCase().replaceAll(" ", "_");
}

function classOf(tag: string): string {
  const words = attributeOf(tag).split("_");
  return `${words.map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`).join("")}Api`;
}

function renderClass(tag: string): string {
  const methods = operations
    .filter((operation) => operation.tag === tag)
    .map((operation) => ({ name: methodName(operation), operation }));
  const names = methods.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two operations of ${tag} have the method ${twice}`);
  const body = methods.map((method) => renderMethod(method)).join("\n\n");
  return `class ${classOf(tag)}(Resource):\n${docstring(`Calls of ${tag}.`, "    ")}\n\n${body}`;
}

/** The operation's id without the noun of its resource: \`updatePaymentRefund\` is \`update_refund\`. */
function methodName({ id, tag }: Operation): string {
  const attribute = attributeOf(tag);
  const noun = attribute === "auth" ? "" : attribute.replace(/s$/, "");
  const words = id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split("_");
  const [verb, ...rest] = words;
  const own = [noun, `${noun}s`].includes(rest[0] ?? "") ? rest.slice(1) : rest;
  return [verb, ...own].join("_");
}

function renderMethod({ name, operation }: Method): string {
  const { pathParameters, summary, description } = operation;
  const ids = pathParameters.map((one) => snakeCase(one.name));
  const named = argumentsOf(operation);
  const listed = [...named.filter(({ required }) => required), ...named.filter(({ required }) => !required)];
  const options = [
    ...(operation.isKeyed ? ["idempotency_key: str | Omit = OMIT"] : []),
    "timeout_seconds: float | Omit = OMIT",
    "max_retries: int | Omit = OMIT",
  ];
  const signature = [
    "self",
    ...ids.map((id) => `${id}: str`),
    "*",
    ...listed.map(({ python, type, required }) => `${python}: ${type}${required ? "" : " | Omit = OMIT"}`),
    ...options,
  ];
  return [
    `    def ${name}(`,
    ...signature.map((one) => `        ${one},`),
    `    ) -> ${returnType(operation)}:`,
    docstring(`${summary}. ${description}`, "        "),
    ...callOf(operation, named),
  ].join("\n");
}

function argumentsOf({ body, queryParameters }: Operation): Argument[] {
  const query = queryParameters.map(({ name, schema, required }) => argument(name, schema, required));
  return body === undefined ? query : [...query, ...bodyArguments(resolve(body))];
}

function argument(json: string, schema: Schema, required: boolean): Argument {
  return { json, python: snakeCase(json), type: argumentType(schema), required };
}

/** The fields of a body, or of all its alternatives. A field is required when all of them require it. */
function bodyArguments(body: Schema): Argument[] {
  const alternatives = (body.oneOf ?? body.anyOf ?? [body]).map((one) => resolve(one));
  const names = [...new Set(alternatives.flatMap(({ properties = {} }) => Object.keys(properties)))];
  return names.map((name) => {
    const found = alternatives.flatMap(({ properties = {} }) => properties[name] ?? []);
    const required = alternatives.every((one) => one.required?.includes(name));
    return { ...argument(name, found[0]!, required), type: unionOf(found) };
  });
}

function unionOf(schemas: Schema[]): string {
  const values = schemas.flatMap(
    (schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]),
  );
  if (schemas.length > 1 && values.length > 1) return literal([...new Set(values)]);
  return [...new Set(schemas.map((schema) => argumentType(schema)))].join(" | ");
}

function isPage({ data }: Operation): boolean {
  return resolve(data).properties?.pagination?.$ref?.endsWith("/Pagination") ?? false;
}

function itemType(operation: Operation): string {
  const { items } = resolve(operation.data).properties!.items!;
  return `models.${nameOf(items!.$ref!)}`;
}

function returnType(operation: Operation): string {
  if (isPage(operation)) return `Page[${itemType(operation)}]`;
  return operation.data.$ref ? `models.${nameOf(operation.data.$ref)}` : answerType(operation.data, "Any");
}

function callOf(operation: Operation, named: Argument[]): string[] {
  const { method, path, pathParameters, queryParameters, body, isKeyed, isOpen } = operation;
  const inQuery = named.filter(({ json }) => queryParameters.some(({ name }) => name === json));
  const inBody = named.filter((one) => !inQuery.includes(one));
  const pairs = (list: Argument[]) =>
    list.map(({ json, python }) => `                "${json}": ${python},`).join("\n");
  const ids = pathParameters.map(({ name }) => `"${name}": ${snakeCase(name)}`);
  const type = isPage(operation) ? itemType(operation) : returnType(operation);
  return [
    `        return self.${isPage(operation) ? "_list" : "_call"}(`,
    ...(isPage(operation) ? [] : [`            "${method}",`]),
    `            "${path}",`,
    `            ${type},`,
    ...(ids.length === 0 ? [] : [`            ids={${ids.join(", ")}},`]),
    ...(inQuery.length === 0 ? [] : [`            query={\n${pairs(inQuery)}\n            },`]),
    ...(body === undefined ? [] : [`            body={\n${pairs(inBody)}\n            },`]),
    ...(isKeyed ? ["            idempotency_key=idempotency_key,", "            is_keyed=True,"] : []),
    ...(isOpen ? ["            is_open=True,"] : []),
    "            timeout_seconds=timeout_seconds,",
    "            max_retries=max_retries,",
    "        )",
  ];
}
