import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type DescField,
  type DescMessage,
  type JsonValue,
  ScalarType,
  createFileRegistry,
  fromBinary,
  fromJson,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ROOT } from "../ops/repository";

/**
 * Encoded examples by full message name, oldest first. Entries are never removed, because earlier
 * releases have sent and stored them.
 */
export type Vectors = Record<string, string[]>;

const FILE = join(ROOT, "proto/baseline/golden.json");
const MAX_DEPTH = 5;

/** Fields of a later release: 1000 as a number, 1001 as text, 1002 as a fixed64. */
export const LATER_FIELDS = Buffer.from([
  0xc0,
  0x3e,
  0x96,
  0x01,
  0xca,
  0x3e,
  1,
  0x78,
  0xd1,
  0x3e,
  ...Array<number>(8).fill(7),
]);

/** Every message of every RPC and event in the present sources. */
export function messages(): DescMessage[] {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(join(ROOT, "proto/gen/descriptors.binpb")));
  const own = [...createFileRegistry(set)].filter(({ kind }) => kind === "message") as DescMessage[];
  return own
    .filter(({ typeName }) => typeName.startsWith("wonrail."))
    .sort((a, b) => a.typeName.localeCompare(b.typeName));
}

export function readVectors(): Vectors {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Vectors) : {};
}

/** The file's entries, with an example of each message that has gained fields since. */
export function renderVectors(): string {
  const vectors = readVectors();
  for (const message of messages()) {
    const known = vectors[message.typeName] ?? [];
    vectors[message.typeName] = [...new Set([...known, ...samplesOf(message)])];
  }
  const sorted = Object.fromEntries(Object.entries(vectors).sort(([a], [b]) => a.localeCompare(b)));
  return `${JSON.stringify(sorted, null, 2)}\n`;
}

/**
 * One example with every field set, and one per alternative of a choice. Encoded by another
 * implementation than the product's.
 */
function samplesOf(message: DescMessage): string[] {
  const choices = Math.max(1, ...message.oneofs.map(({ fields }) => fields.length));
  return Array.from({ length: choices }, (_, choice) =>
    Buffer.from(toBinary(message, fromJson(message, sample(message, choice)))).toString("base64"),
  );
}

function sample(message: DescMessage, choice: number, depth = 0): JsonValue {
  const chosen = message.fields.filter(
    (field) => !field.oneof || field.oneof.fields[choice % field.oneof.fields.length] === field,
  );
  const nested = chosen.filter(({ message: inner }) => !inner || depth < MAX_DEPTH);
  return Object.fromEntries(nested.map((field) => [field.jsonName, valueOf(field, depth)]));
}

function valueOf(field: DescField, depth: number): JsonValue {
  const value = () => single(field, depth);
  if (field.fieldKind === "list") return [value(), value()];
  return field.fieldKind === "map" ? { key: value() } : value();
}

function single(field: DescField, depth: number): JsonValue {
  // Takes the enum's last declared value, so that a message's examples differ by fields only.
  if (field.enum) return field.enum.values.at(-1)!.name;
  if (field.message?.typeName === "google.protobuf.Timestamp") return "2026-01-02T03:04:05.678Z";
  if (field.message) return sample(field.message, 0, depth + 1);
  switch (field.scalar) {
    case ScalarType.STRING:
      return `${field.name} ₩`;
    case ScalarType.BYTES:
      return "AAH/";
    case ScalarType.BOOL:
      return true;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return 1.5;
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return 2_147_483_647;
    default:
      return "9007199254740993"; // more than a double can say
  }
}
