import { assert } from "@wonrail/kit/contract/errors";

/** As much of a schema, or of what holds one, as is looked into here. */
type Node = Record<string, unknown>;

interface Document {
  paths?: unknown;
  components?: { schemas?: unknown };
}

/**
 * The document as partners' generators and validators read it, ADR 0015. Answers may get fields, so their schemas do not forbid those that are not
 * listed; requests may not, and theirs do. Every integer is said to be of 64 bits: a generator that is not told takes 32, and an amount of more
 * than 2,147,483,647 KRW would not fit.
 */
export function withGrowingAnswers<D extends object>(document: D): D {
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
    assert(!asked.has(node), "no object is both asked for and answered");
    delete node["additionalProperties"];
  }
  for (const node of collect([operations, schemas, components], schemas, new Set())) widen(node);
  return copy;
}

/** Every object within, and within what it refers to. Examples are data. */
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

function widen(node: Node): void {
  const { type } = node;
  const isInteger = type === "integer" || (Array.isArray(type) && type.includes("integer"));
  if (isInteger && node["format"] === undefined) node["format"] = "int64";
}
