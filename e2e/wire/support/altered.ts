import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ROOT } from "../../ops/repository";
import { LATER_FIELDS } from "../vectors";
import { type MethodDefinition } from "./callRows";

// Requests as no build of today writes them.

/** No release of ours will ever have so many values. */
const LATER_VALUE = 999;

export function withLaterFields(request: Buffer): Buffer {
  return Buffer.concat([request, LATER_FIELDS]);
}

/** As many bytes as wanted, by a field that today's releases pass over: number 1001, which is bytes. */
export function padded(request: Buffer, sizeBytes: number): Buffer {
  const padding = Buffer.alloc(sizeBytes - request.length - 5);
  const length = [(padding.length & 127) | 128, ((padding.length >> 7) & 127) | 128, padding.length >> 14];
  return Buffer.concat([request, Buffer.from([0xca, 0x3e, ...length]), padding]);
}

/** For each enum in the request, by its name, the request with a value there that only a later release knows. */
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

/** A message's fields by their names; what is one of several alternatives is under the name of the choice. */
type Fields = Record<string, unknown>;

interface EnumPlace {
  name: string;
  /** Puts the later value there; what it returns puts today's back. */
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
