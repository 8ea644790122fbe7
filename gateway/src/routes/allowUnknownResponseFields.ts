import { assert } from "@wonrail/kit/contract/errors";

/** A schema, or a part of the document that contains schemas. */
type Node = Record<string, unknown>;

interface Document {
  paths?: unknown;
  components?: { schemas?: unknown };
}

/**
 * Prepares the document for partners' generators and validators (ADR 0015). Responses may get new
 * fields, so their schemas do not forbid unlisted ones; schemas of requests do. Every integer has the
 * format int64: generators assume 32 bits, which an amount of more than 2,147,483,647 KRW exceeds. A
 * value that is always null has the type ["object", "null"]: openapi-generator fails on "null" alone.
 * An object with fields that can be null has x-nullable: without it the Go client refuses the null.
 */
export function allowUnknownResponseFields<D extends object>(document: D): D {
  const copy = structuredClone(document);
  const { paths, components } = copy as Document;
  const schemas = (components?.schemas ?? {}) as Record<string, Node>;
  const operations = Object.values((paths ?? {}) as Node).flatMap((path) => Object.values(path as Node));
  const asked = new Set<Node>();
  const answered = new Set<Node>();
  for (const operation of operations as Node[]) {
    collect(operation["requestBody"], schemas, asked);
    collect(operation["responses"], schemas, answered);
  }
  for (const node of answered) {
    if (node["additionalProperties"] !== false) continue;
    assert(!asked.has(node), "no schema is used in a request and in a response");
    delete node["additionalProperties"];
  }
  for (const node of collect([operations, schemas, components], schemas, new Set())) adaptType(node);
  return copy;
}

/** All objects inside the value and the schemas that it refers to. Examples are left out: they are data. */
function collect(value: unknown, schemas: Record<string, Node>, found: Set<Node>): Set<Node> {
  if (Array.isArray(value)) for (const item of value) collect(item, schemas, found);
  if (typeof value !== "object" || value === null || Array.isArray(value) || found.has(value as Node))
    return found;
  const node = value as Node;
  found.add(node);
  for (const [name, inner] of Object.entries(node)) {
    if (name === "$ref")
      collect(schemas[/^#\/components\/schemas\/(.+)$/.exec(String(inner))?.[1] ?? ""], schemas, found);
    else if (name !== "example" && name !== "examples") collect(inner, schemas, found);
  }
  return found;
}

function adaptType(node: Node): void {
  const { type, properties } = node;
  if (type === "null") node["type"] = ["object", "null"];
  if (Array.isArray(type) && type.includes("null") && properties) node["x-nullable"] = true;
  const isInteger = type === "integer" || (Array.isArray(type) && type.includes("integer"));
  if (isInteger && node["format"] === undefined) node["format"] = "int64";
}
