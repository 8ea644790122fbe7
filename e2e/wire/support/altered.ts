import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ROOT } from "../../ops/repository";
import { LATER_FIELDS } from "../vectors";
import { type MethodDefinition } from "./callRows";

// Requests as no build of today writes them.

/** Larger than any enum value of a future release. */
const LATER_VALUE = 999;

export function withLaterFields(request: Buffer): Buffer {
  return Buffer.concat([request, LATER_FIELDS]);
}

/** Pads a request with field 1001 of type bytes, which the present release ignores. */
export function padded(request: Buffer, sizeBytes: number): Buffer {
  const padding = Buffer.alloc(sizeBytes - request.length - 5);
  const length = [(padding.length & 127) | 128, ((padding.length >> 7) & 127) | 128, padding.length >> 14];
  return Buffer.concat([request, Buffer.from([0xca, 0x3e, ...length]), padding]);
}

/** For each enum field, the request with a value of a later release. */
export function withLaterEnums({ path }: MethodDefinition, request: Buffer): Map<string, Buffer> {
  const [, service, method] = path.split("/");
  const type = descriptors()
    .getService(service!)!
    .methods.find(({ name }) => name === method)!.input;
  const message = fromBinary(type, request);
  const altered = new Map<string, Buffer>();
  for (const { name, set } of enumsIn(type, message)) {
    const undo = set();
    altered.set(name, Buffer.from(toBinary(type, message)));
    undo();
  }
  return altered;
}

/** A message's fields by name; alternatives are under the choice's name. */
type Fields = Record<string, unknown>;

interface EnumPlace {
  name: string;
  /** Sets the later value, and returns a function that restores the old one. */
  set(): () => void;
}

function enumsIn(type: DescMessage, fields: Fields): EnumPlace[] {
  return type.fields.flatMap((field): EnumPlace[] => {
    const choice = field.oneof && (fields[field.oneof.localName] as { case?: string; value?: unknown });
    if (choice && choice.case !== field.localName) return [];
    const value = choice ? choice.value : fields[field.localName];
    const isList = field.fieldKind === "list";
    if (field.enum) return [placeOf(fields, field.localName, isList ? [LATER_VALUE] : LATER_VALUE)];
    if (!field.message || field.fieldKind === "map" || value === undefined) return [];
    const inner = (isList ? value : [value]) as Fields[];
    return inner.flatMap((one) => enumsIn(field.message, one));
  });
}

function placeOf(fields: Fields, name: string, later: unknown): EnumPlace {
  return {
    name,
    set() {
      const today = fields[name];
      fields[name] = later;
      return () => void (fields[name] = today);
    },
  };
}

function descriptors() {
  const bytes = readFileSync(join(ROOT, "proto/gen/descriptors.binpb"));
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
}
