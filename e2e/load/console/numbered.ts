import { createHash } from "node:crypto";
import { type IdPrefix } from "@wonrail/kit/contract/ids";

/** The rows of a benchmark are numbered. Their ids and times follow from their numbers. */
export interface Size {
  organisations: number;
  operations: number;
  /** When the first row was made. */
  sinceMs: number;
}

export const WALLETS_OF_AN_ORGANISATION = 10;
/** Each tenth operation belongs to organisation 0. */
const SHARE_OF_THE_LARGEST = 10;
const SPAN_MS = 20 * 86_400_000;

/** A kind of row: its id's prefix, and how many of it there are. */
interface Kind {
  prefix: IdPrefix;
  count: (size: Size) => number;
}

export const ORGANISATION: Kind = { prefix: "org", count: ({ organisations }) => organisations };
export const WALLET: Kind = {
  prefix: "wal",
  count: ({ organisations }) => organisations * WALLETS_OF_AN_ORGANISATION,
};
export const OPERATION: Kind = { prefix: "trf", count: ({ operations }) => operations };

/** The id of a row by its number, which counts from 0. */
export function idOf({ prefix, count }: Kind, number: number, size: Size): string {
  const ms = BigInt(size.sinceMs) + (BigInt(number) * BigInt(SPAN_MS)) / BigInt(count(size));
  const hash = createHash("md5").update(`${prefix}${number}`).digest("hex");
  const time = ms.toString(16).padStart(12, "0");
  return `${prefix}_${time}7${hash.slice(0, 3)}8${hash.slice(3, 18)}`;
}

/** The same in SQL: id_of('org', 7, 100) and uuid_of, for the ids of 100 organisations. */
export function sqlFunctions({ sinceMs }: Size): string {
  const made = (number: string, count: string) =>
    `(${sinceMs}::bigint + ${number} * ${SPAN_MS}::bigint / ${count})`;
  return `
    create function uuid_text(prefix text, number bigint, count bigint) returns text
    language sql immutable parallel safe return lpad(to_hex(${made("number", "count")}), 12, '0')
      || '7' || substr(md5(prefix || number::text), 1, 3) || '8' || substr(md5(prefix || number::text), 4, 15);
    create function id_of(prefix text, number bigint, count bigint) returns text
    language sql immutable parallel safe return prefix || '_' || uuid_text(prefix, number, count);
    create function time_of(number bigint, count bigint) returns timestamptz
    language sql immutable parallel safe return to_timestamp(${made("number", "count")} / 1000.0);`;
}

/** The organisation of an operation, its place there, and its payer and payee. */
interface Place {
  organisation: number;
  place: number;
  payer: number;
  payee: number;
}

export function placeOf(operation: number, { organisations }: Size): Place {
  const isOfLargest = operation % SHARE_OF_THE_LARGEST === 0;
  const other = operation - Math.floor(operation / SHARE_OF_THE_LARGEST) - 1;
  const organisation = isOfLargest ? 0 : 1 + (other % (organisations - 1));
  const place = isOfLargest ? operation / SHARE_OF_THE_LARGEST : Math.floor(other / (organisations - 1));
  const first = organisation * WALLETS_OF_AN_ORGANISATION;
  const payer = first + (place % WALLETS_OF_AN_ORGANISATION);
  const payee = first + ((place + 1) % WALLETS_OF_AN_ORGANISATION);
  return { organisation, place, payer, payee };
}

/** The operations from one number to another, with the columns of their places, as a subquery. */
function sqlOperations(from: number, until: number, { organisations, operations }: Size): string {
  const [wallets, share] = [WALLETS_OF_AN_ORGANISATION, SHARE_OF_THE_LARGEST];
  const walletId = (number: string) => `id_of('wal', ${number}, ${organisations * wallets})`;
  return `(
    select n, organisation, place, payer, payee, id_of('trf', n, ${operations}) as ref, time_of(n, ${operations}) as at,
      id_of('org', organisation, ${organisations}) as org_id, ${walletId("payer")} as from_wallet,
        ${walletId("payee")} as to_wallet
    from generate_series(${from}::bigint, ${until - 1}) n,
      lateral (select n - n / ${share} - 1 as other) o,
      lateral (select
        case when n % ${share} = 0 then 0 else 1 + other % ${organisations - 1} end as organisation,
        case when n % ${share} = 0 then n / ${share} else other / ${organisations - 1} end as place) p,
      lateral (select organisation * ${wallets} + place % ${wallets} as payer,
        organisation * ${wallets} + (place + 1) % ${wallets} as payee) w
    offset 0) as op`;
}

/** The number of operations of an organisation, in SQL. */
export function sqlPlaces(organisation: string, { organisations, operations }: Size): string {
  const ofLargest = Math.ceil(operations / SHARE_OF_THE_LARGEST);
  const others = operations - ofLargest;
  return `case when ${organisation} = 0 then ${ofLargest}
    else greatest(${others} - ${organisation} + ${organisations - 1}, 0) / ${organisations - 1} end`;
}

const CHUNK = 250_000;

/** Splits the operations into parts, each with its statement. */
export function inChunks(size: Size, statement: (operations: string) => string): string[] {
  const found: string[] = [];
  for (let from = 0; from < size.operations; from += CHUNK) {
    const until = Math.min(from + CHUNK, size.operations);
    found.push(statement(sqlOperations(from, until, size)));
  }
  return found;
}

/** 64 hex digits that follow from a number. */
export function sqlHash(salt: string, number: string): string {
  return `md5('${salt}' || ${number}) || md5('${salt}2' || ${number})`;
}

export function hashOf(salt: string, number: number): string {
  const md5 = (text: string) => createHash("md5").update(text).digest("hex");
  return md5(`${salt}${number}`) + md5(`${salt}2${number}`);
}
