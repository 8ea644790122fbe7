import { nameOf, operations, resolve, type Schema, schemas } from "./document.ts";
import { docstring, snakeCase } from "./text.ts";
import { answerType, literal } from "./types.ts";

const HEADER = `# Generated from gateway/openapi.json by \`npm run docs\`; do not edit.
"""Objects of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

`;

/** Returns the source of models.py: a class for each object of an answer, and each named enum. */
export function renderModels(): string {
  const names = answeredNames();
  const parts = [...names].map((name) => renderNamed(name, schemas[name]!));
  return `${HEADER}\n${parts.join("\n\n\n")}\n`;
}

/** Schemas of answers with those that they refer to, and the enums of requests. */
function answeredNames(): Set<string> {
  const found = new Set<string>();
  const visit = (schema: Schema): void => {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema.$ref);
      if (found.has(name)) return;
      visitParts(schemas[name]!);
      found.add(name);
    } else visitParts(schema);
  };
  const visitParts = (schema: Schema): void => {
    for (const part of partsOf(schema)) visit(part);
  };
  for (const { data } of operations) visit(data);
  for (const [name, schema] of Object.entries(schemas)) if (schema.enum) found.add(name);
  return found;
}

function partsOf({ properties = {}, items, anyOf = [], oneOf = [], additionalProperties }: Schema): Schema[] {
  const values = typeof additionalProperties === "object" ? [additionalProperties] : [];
  return [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...oneOf, ...values];
}

function renderNamed(name: string, schema: Schema): string {
  if (schema.enum) {
    const comment = schema.description === undefined ? "" : `\n${docstring(schema.description, "")}`;
    return `${name} = ${literal(schema.enum)}${comment}`;
  }
  return renderClass(name, schema);
}

/** The document repeats a named object in place of a nullable reference to it. */
function repeatsNamed(name: string, object: Schema): boolean {
  const named = schemas[name];
  if (named === undefined) return false;
  const fields = ({ properties = {} }: Schema) => Object.keys(properties).join();
  if (fields(named) === fields(object)) return true;
  throw new Error(`an inline object and another schema have the name ${name}`);
}

/** A class, after the classes of its inline objects. */
function renderClass(name: string, schema: Schema): string {
  const { properties = {}, required = [] } = schema;
  const inner: string[] = [];
  const lines = Object.entries(properties).map(([field, property]) => {
    const inline = `${name}${field[0]!.toUpperCase()}${field.slice(1)}`;
    const object = property.properties ? property : property.items;
    if (object?.properties && !repeatsNamed(inline, object)) inner.push(renderClass(inline, object));
    const type = answerType(property, inline);
    const isOptional = !required.includes(field);
    const declared = isOptional && !type.endsWith("None") ? `${type} | None` : type;
    const description = property.description ?? resolve(property).description ?? "";
    const comment = description === "" ? "" : `\n${docstring(description, "    ")}`;
    return `    ${snakeCase(field)}: ${declared}${isOptional ? " = None" : ""}${comment}`;
  });
  const summary = schema.description ?? `The data of ${name}.`;
  const own = [
    "@dataclass(frozen=True, kw_only=True)",
    `class ${name}:`,
    docstring(summary, "    "),
    "",
    ...lines,
  ].join("\n");
  return [...inner, own].join("\n\n\n");
}
