import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  type DescMethod,
  fromBinary,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { newId } from "@wonrail/kit/contract/ids";
import { pick } from "@wonrail/kit/testing/random";
import { ROOT } from "../ops/repository";
import { type Foreign } from "../money/foreignIds";
import { type Named } from "./restCases";
import { chance, hostileString, integerBetween, type Random } from "./values";

/** Values that exist, by which requests get past the first checks. */
export interface Known extends Named {
  orgIds: readonly [string, string];
}

const MAX_DEPTH = 4;
const INT32 = [0, 1, 2, 20, 100, 101, 1_000, -1, 2 ** 31 - 1, -(2 ** 31)];
const UINT32 = [0, 1, 2, 20, 100, 101, 1_000, 2 ** 32 - 1];
const INT64 = [0n, 1n, 20n, 1_000n, -1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)];
const UINT64 = [0n, 1n, 20n, 1_000n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
const DOUBLES = [0, 1, -1, 0.1, 1e308, Number.NaN, Number.POSITIVE_INFINITY];
const SECONDS = [0n, -1n, 253_402_300_799n, -62_135_596_800n, 2n ** 62n];
/** Waits of the contract. A long one would only slow the run. */
const WAITS = /^wait/;

/** Every unary and streaming method of our services. */
export function readMethods(): DescMethod[] {
  const bytes = readFileSync(join(ROOT, "proto/gen/descriptors.binpb"));
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  return [...registry]
    .filter((one) => one.kind === "service" && one.typeName.startsWith("wonrail."))
    .flatMap((one) => (one.kind === "service" ? one.methods : []));
}

/** An encoded request: mostly a message with odd values, sometimes bytes that are no message. */
export function makeMessage(random: Random, { input }: DescMethod, known: Known): Buffer {
  const hostility = pick(random, [0, 0.1, 0.4]);
  const bytes = Buffer.from(toBinary(input, create(input, messageOf(input, 0) as never)));
  return chance(random, 0.05) ? damaged(random, bytes) : bytes;

  function messageOf(type: DescMessage, depth: number): Record<string, unknown> {
    if (type.typeName === "google.protobuf.Timestamp") return timestamp();
    const fields: Record<string, unknown> = {};
    const members = type.fields.filter((field) => !field.oneof && !chance(random, hostility / 2));
    for (const field of members) fields[field.localName] = fieldOf(field, depth);
    for (const oneof of type.oneofs) {
      const chosen = pick(random, oneof.fields);
      if (!chance(random, hostility))
        fields[oneof.localName] = { case: chosen.localName, value: fieldOf(chosen, depth) };
    }
    return fields;
  }

  function fieldOf(field: DescField, depth: number): unknown {
    const value = () => single(field, depth);
    const count = chance(random, hostility / 20) ? 1_500 : integerBetween(random, 0, 2);
    if (field.fieldKind === "list") return Array.from({ length: depth < MAX_DEPTH ? count : 0 }, value);
    if (field.fieldKind === "map") return Object.fromEntries([[text("key"), value()]]);
    return value();
  }

  function single(field: DescField, depth: number): unknown {
    if (field.enum) {
      if (chance(random, hostility)) return pick(random, [-1, 99, 2 ** 31 - 1]);
      return pick(random, field.enum.values).number;
    }
    if (field.message)
      return depth < MAX_DEPTH
        ? create(field.message, messageOf(field.message, depth + 1) as never)
        : undefined;
    return scalar(field);
  }

  function scalar({ localName, scalar: type }: DescField): unknown {
    switch (type) {
      case ScalarType.STRING:
        return text(localName);
      case ScalarType.BYTES:
        return Buffer.alloc(pick(random, [0, 1, 16, 31, 32, 32, 33, 64, 65]), integerBetween(random, 0, 255));
      case ScalarType.BOOL:
        return chance(random, 0.5);
      case ScalarType.DOUBLE:
      case ScalarType.FLOAT:
        return pick(random, DOUBLES);
      case ScalarType.INT32:
      case ScalarType.SINT32:
      case ScalarType.SFIXED32:
        return pick(random, WAITS.test(localName) ? [0, -1] : INT32);
      case ScalarType.UINT32:
      case ScalarType.FIXED32:
        return pick(random, WAITS.test(localName) ? [0, 10] : UINT32);
      case ScalarType.UINT64:
      case ScalarType.FIXED64:
        return pick(random, UINT64);
      default:
        return pick(random, INT64);
    }
  }

  function text(name: string): string {
    if (chance(random, hostility)) return hostileString(random);
    if (name === "orgId") return pick(random, known.orgIds);
    const prefix = PREFIXES[name];
    if (prefix !== undefined) return idOf(prefix);
    if (/address/i.test(name)) return pick(random, known.addresses);
    if (/won$/i.test(name) || /amount/i.test(name))
      return pick(random, ["1", "1000", "0", "-1", "9".repeat(20)]);
    return pick(random, ["a text", "fuzz", "1000", pick(random, Object.values(known.own).flat())]);
  }

  /** Sometimes of another organisation, or of no object. */
  function idOf(prefix: keyof Foreign): string {
    const dice = random();
    if (dice < 0.1) return newId(prefix);
    return pick(random, dice < 0.3 ? known.foreign[prefix] : known.own[prefix]);
  }

  function timestamp(): Record<string, unknown> {
    const now = BigInt(Math.floor(Date.now() / 1_000));
    const seconds = chance(random, hostility)
      ? pick(random, SECONDS)
      : now + BigInt(integerBetween(random, -1e6, 1e6));
    return { seconds, nanos: chance(random, hostility) ? pick(random, [-1, 10 ** 9, 2 ** 31 - 1]) : 0 };
  }
}

const PREFIXES: Record<string, keyof Foreign> = {
  walletId: "wal",
  fromWalletId: "wal",
  payerWalletId: "wal",
  receiverWalletId: "wal",
  transferId: "trf",
  chargeId: "chg",
  chargeRequestId: "chg",
  paymentId: "pay",
  paymentRequestId: "pay",
  payoutId: "pyo",
  eventId: "evt",
  webhookId: "whk",
  keyId: "key",
  recordId: "txn",
};

/** Cut short, changed in one byte, or random. */
function damaged(random: Random, bytes: Buffer): Buffer {
  const dice = random();
  if (dice < 0.4) return bytes.subarray(0, Math.floor(random() * bytes.length));
  if (dice < 0.8 && bytes.length > 0) {
    const copy = Buffer.from(bytes);
    copy[Math.floor(random() * copy.length)] = integerBetween(random, 0, 255);
    return copy;
  }
  return Buffer.from(
    Array.from({ length: integerBetween(random, 1, 64) }, () => integerBetween(random, 0, 255)),
  );
}
