import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { LATER_FIELDS, messages, readVectors } from "./vectors";

// The product's own code reads and writes every message that any release has put on a wire, into a topic or into a table.

interface Codec {
  decode(bytes: Uint8Array): unknown;
  encode(message: unknown): { finish(): Uint8Array };
}

const vectors = Object.entries(readVectors()).flatMap(([name, list]) =>
  list.map((text, index) => [name, index, Buffer.from(text, "base64")] as const),
);
const byName = new Map(messages().map((message) => [message.typeName, message]));

async function codecOf(name: string): Promise<Codec> {
  const message: DescMessage | undefined = byName.get(name);
  if (!message) throw new Error(`${name} is gone, but earlier releases may still send it`);
  const module = (await import(`@wonrail/proto/${message.file.name.replace(/^wonrail\//, "")}`)) as Record<
    string,
    Codec
  >;
  return module[message.typeName.slice(message.file.proto.package.length + 1).replaceAll(".", "_")]!;
}

test("every message has an example", () => {
  const known = new Set(vectors.map(([name]) => name));
  expect([...byName.keys()].filter((name) => !known.has(name))).toEqual([]);
  expect(byName.size).toBeGreaterThan(100);
});

test.each(vectors)("%s, example %i: decodes, and encodes to the same fields", async (name, _index, bytes) => {
  const codec = await codecOf(name);
  const encoded = codec.encode(codec.decode(bytes)).finish();
  // Another implementation sorts the fields: the product writes a choice where its first field stands.
  const message = byName.get(name)!;
  const sorted = Buffer.from(toBinary(message, fromBinary(message, encoded)));
  expect(sorted.toString("hex")).toBe(bytes.toString("hex"));
});

test.each(vectors)(
  "%s, example %i: fields of a later release are passed over",
  async (name, _index, bytes) => {
    const codec = await codecOf(name);
    expect(codec.decode(Buffer.concat([bytes, LATER_FIELDS]))).toEqual(codec.decode(bytes));
  },
);

const enumFields = [...byName.values()].flatMap((message) =>
  message.fields
    .filter((field) => field.enum && field.fieldKind === "enum")
    .map((field) => [message.typeName, field.localName, field.number] as const),
);

test.each(enumFields)(
  "%s.%s: a value of a later release decodes to UNRECOGNIZED",
  async (name, property, number) => {
    const codec = await codecOf(name);
    const tag = number << 3;
    const bytes = Buffer.from([...(tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7]), 0xe7, 0x07]);
    expect(codec.decode(bytes)).toMatchObject({ [property]: "UNRECOGNIZED" });
  },
);
