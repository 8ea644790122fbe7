import * as library from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { BinaryReader, BinaryWriter } from "./wire";

/** One field of a message, or a message within it. */
type Field = string | bigint | number | boolean | Uint8Array | Field[];

const longTexts = fc.integer({ min: 120, max: 140 }).map((length) => "a".repeat(length));
const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\uFEFFmark", "\uD800", "a".repeat(126) + "é", "한".repeat(43), "a".repeat(20_000)),
  longTexts,
);
const { message: messages } = fc.letrec<{ field: Field; message: Field[] }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 3 },
    texts,
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.nat(),
    fc.boolean(),
    fc.uint8Array({ maxLength: 300 }),
    tie("message"),
  ),
  message: fc.array(tie("field"), { maxLength: 20 }),
}));

function write(writer: library.BinaryWriter, message: Field[]): library.BinaryWriter {
  for (const field of message) {
    if (typeof field === "string") writer.uint32(10).string(field);
    else if (typeof field === "bigint") writer.uint32(16).uint64(field);
    else if (typeof field === "number") writer.uint32(24).int32(field);
    else if (typeof field === "boolean") writer.uint32(32).bool(field);
    else if (field instanceof Uint8Array) writer.uint32(42).bytes(field);
    else write(writer.uint32(50).fork(), field).join();
  }
  return writer;
}

const textBytes = (text: string) => new library.BinaryWriter().string(text).finish();
const kept = (writer: BinaryWriter) => (writer as unknown as { buffer: Uint8Array }).buffer;

test("encodes the same bytes as the library after any earlier use", () => {
  fc.assert(
    fc.property(fc.array(messages, { minLength: 2, maxLength: 4 }), (all) => {
      const ours = all.map((message) => write(new BinaryWriter(), message).finish());
      const theirs = all.map((message) => Buffer.from(write(new library.BinaryWriter(), message).finish()));
      expect(ours).toEqual(theirs);
    }),
  );
});

test("encodes values that are no string as the library does", () => {
  for (const value of [undefined, null, 12, { toString: () => "é" }] as unknown as string[]) {
    expect([...new BinaryWriter().string(value).finish()]).toEqual([...textBytes(value)]);
  }
});

test("writers that interleave, fail or continue after their message do not affect each other", () => {
  const [first, second] = [new BinaryWriter().string("first"), new BinaryWriter().string("second")];
  const failed = new BinaryWriter().string("failed");
  expect(() => failed.uint32(-1)).toThrow("invalid uint32");
  const bytes = [second.finish(), first.string("!").finish()];
  const later = new BinaryWriter().string("x".repeat(100));
  bytes.push(first.string("again").finish());
  expect(bytes.map(String)).toEqual(["\x06second", "\x05first\x01!", "\x05again"]);
  expect(String(later.finish())).toBe(`\x64${"x".repeat(100)}`);
});

test("the next writer reuses the last one's buffer, unless it grew very large", () => {
  const writer = new BinaryWriter();
  const buffer = kept(writer);
  writer.string("a").finish();
  const next = new BinaryWriter();
  expect(kept(next)).toBe(buffer);
  next.bytes(new Uint8Array(300_000)).finish();
  expect(kept(new BinaryWriter()).length).toBeLessThan(300_000);
});

test("decodes strings as the library does, also invalid ones", () => {
  fc.assert(
    fc.property(fc.oneof(texts.map(textBytes), fc.uint8Array({ minLength: 1, maxLength: 60 })), (bytes) => {
      const read = (of: library.BinaryReader) => {
        try {
          return { text: of.string(), pos: of.pos };
        } catch (error) {
          return String(error);
        }
      };
      expect(read(new BinaryReader(bytes))).toEqual(read(new library.BinaryReader(bytes)));
      const within = Buffer.concat([Buffer.from("before"), bytes, Buffer.from("after")]).subarray(
        6,
        6 + bytes.length,
      );
      expect(read(new BinaryReader(within))).toEqual(read(new library.BinaryReader(within)));
    }),
    { numRuns: 500 },
  );
});
