import { createHash, randomUUID } from "node:crypto";

/**
 * Prefixes of the kinds of id. The rest is a UUIDv7 in 32 hex digits, so ids sort by creation time.
 */
export type IdPrefix =
  | "org"
  | "key"
  | "wal"
  | "acc"
  | "trf"
  | "chg"
  | "ccl"
  | "pay"
  | "pcl"
  | "prf"
  | "pyo"
  | "rfd"
  | "txn"
  | "evt"
  | "whk"
  | "dlv"
  | "jrn"
  | "hld"
  | "opn"
  | "prp"
  | "req";
export type Id<P extends IdPrefix> = `${P}_${string}`;

export function newId<P extends IdPrefix>(prefix: P, nowMs: number = Date.now()): Id<P> {
  // The digits behind the version: a UUIDv4 has them random, and the variant in the same place.
  const random = randomUUID().replaceAll("-", "").slice(13);
  return `${prefix}_${idTimeOf(nowMs)}7${random}`;
}

/**
 * Equal parts always give the same id (a UUIDv8 over SHA-256), so a retry of a step finds the first
 * attempt's result.
 */
export function derivedId<P extends IdPrefix>(prefix: P, ...parts: string[]): Id<P> {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return stamp(prefix, hash.digest().subarray(0, 16), 0x80);
}

/** An id derived from another one for a purpose: with the same time, and always the same. */
export function siblingId<P extends IdPrefix>(prefix: P, id: string, purpose: string): Id<P> {
  return idAt(prefix, idTimeMs(id), `${purpose}:${id}`);
}

/** The id of a scheduled action: the same for every caller who knows time and name. */
export function idAt<P extends IdPrefix>(prefix: P, ms: number, what: string): Id<P> {
  const bytes = createHash("sha256").update(what).digest().subarray(0, 16);
  bytes.writeUIntBE(ms, 0, 6);
  return stamp(prefix, bytes, 0x70);
}

export function isId<P extends IdPrefix>(prefix: P, text: unknown): text is Id<P> {
  return (
    typeof text === "string" &&
    text.startsWith(`${prefix}_`) &&
    /^[0-9a-f]{32}$/.test(text.slice(prefix.length + 1))
  );
}

/** The id in Postgres' uuid form: 16 bytes instead of 36. */
export function idToUuid(id: string): string {
  const hex = hexOf(id);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function uuidToId<P extends IdPrefix>(prefix: P, uuid: string): Id<P> {
  return joinId(prefix, uuid) as Id<P>;
}

/** Joins a prefix and a UUID that were stored apart. */
export function joinId(prefix: string, uuid: string): string {
  return `${prefix}_${uuid.replaceAll("-", "")}`;
}

export function prefixOf(id: string): string {
  return id.slice(0, id.indexOf("_"));
}

/** An id's 32 hex digits, which Postgres takes as a uuid as well as the form with hyphens. */
export function hexOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

/** Start of the ids of this millisecond, behind their prefix. */
function idTimeOf(ms: number): string {
  return ms.toString(16).padStart(12, "0");
}

/** The lowest text of ids that are made at this time or later. A time before 1970 is the year 1970. */
export function firstIdAt(prefix: IdPrefix, time: Date): string {
  return `${prefix}_${idTimeOf(Math.max(time.getTime(), 0))}`;
}

/** The creation time of a time-ordered id. */
export function idTimeMs(id: string): number {
  return Number.parseInt(hexOf(id).slice(0, 12), 16);
}

function stamp<P extends IdPrefix>(prefix: P, bytes: Buffer, version: number): Id<P> {
  bytes[6] = (bytes[6]! & 0x0f) | version;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return `${prefix}_${bytes.toString("hex")}`;
}
