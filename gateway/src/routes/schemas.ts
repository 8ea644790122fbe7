import { z } from "zod";
import { type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { type IdPrefix, isId } from "@wonrail/kit/contract/ids";
import { MAX_OFFSET_ROWS } from "@wonrail/kit/page";

// Schemas that several operations share. Their metadata becomes text of the OpenAPI document.

/** A check with its own code instead of REQ_001. */
export function refusedAs(
  code: ErrorCode,
  message: string,
): { params: { code: ErrorCode }; message: string } {
  return { params: { code }, message };
}

/** An id in a path or body. A malformed id is answered like an id that does not exist. */
export function idOf(prefix: IdPrefix, absent: ErrorCode, description: string) {
  const params = { code: absent, named: absent === "WAL_002" ? "walletId" : null };
  return z
    .string()
    .refine((text) => isId(prefix, text), { params, message: "does not exist" })
    .meta({ description });
}

/** An id that filters a list. An unknown id matches nothing; a malformed one is REQ_001. */
export function idFilter(prefix: IdPrefix, description: string) {
  return z
    .string()
    .refine((text) => isId(prefix, text), { message: `must be an id that starts with ${prefix}_` })
    .meta({ description });
}

/** An id in a response. */
export function responseId(description: string) {
  return z.string().meta({ description });
}

/** Whole KRW in a request. */
export function amountOf(description: string, minimum = 1, belowMinimum: ErrorCode = "REQ_001") {
  const message = `must be at least ${minimum}`;
  return z
    .int()
    .refine(
      (amount) => amount >= minimum,
      belowMinimum === "REQ_001" ? { message } : refusedAs(belowMinimum, message),
    )
    .meta({ description, minimum, maximum: Number.MAX_SAFE_INTEGER });
}

/** Whole KRW in a response. */
export function won(description: string) {
  return z.int().meta({ description });
}

/** Counts Unicode characters, not UTF-16 units. */
export function textOf(maxCharacters: number, description: string, minCharacters = 0) {
  return z
    .string()
    .refine((text) => characters(text) <= maxCharacters, {
      message: `must be at most ${maxCharacters} characters long`,
    })
    .refine((text) => characters(text) >= minCharacters, {
      message: `must be at least ${minCharacters} characters long`,
    })
    .meta({
      description,
      ...(minCharacters > 0 ? { minLength: minCharacters } : {}),
      maxLength: maxCharacters,
    });
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Range of years with four digits that PostgreSQL accepts. A zone can move a time beyond it. */
const FIRST_MOMENT_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LAST_MOMENT_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** An ISO 8601 date-time with its zone, in a body. */
export function momentOf(description: string) {
  return moment(
    description,
    "must be an ISO 8601 date-time with seconds and a zone",
    (text) => new Date(text),
  );
}

/**
 * A bound of a time range in a query, where an unencoded plus sign means a space. Listed times have
 * whole milliseconds, so a finer time is rounded up.
 */
export function queryMomentOf(description: string) {
  const error =
    "must be an ISO 8601 date-time with seconds and a zone: Z, or an offset whose + is written as %2B";
  return moment(description, error, roundedUp);
}

/** Date truncates to milliseconds. */
function roundedUp(text: string): Date {
  const truncatedMs = Date.parse(text);
  return new Date(/\.\d{3}\d*[1-9]/.test(text) ? Math.min(truncatedMs + 1, LAST_MOMENT_MS) : truncatedMs);
}

function moment(description: string, error: string, read: (text: string) => Date) {
  return z.iso
    .datetime({ offset: true, error: ({ input }) => (input === undefined ? undefined : error) })
    .refine((text) => !isBeyondYears(Date.parse(text)), {
      message: "must be within the years 1 to 9999 in UTC",
    })
    .transform(read)
    .meta({ description, type: "string", format: "date-time" });
}

function isBeyondYears(momentMs: number): boolean {
  return momentMs < FIRST_MOMENT_MS || momentMs > LAST_MOMENT_MS;
}

/** A date-time in a response. */
export function timestamp(description: string) {
  return z.iso.datetime().meta({ description });
}

export const walletType = z.enum(["NORMAL", "INCENTIVE", "GOVERNMENT"]).meta({
  id: "WalletType",
  description:
    "The type of a wallet. A payment uses GOVERNMENT, then INCENTIVE, then NORMAL. In this version " +
    "the GOVERNMENT part is 0, and a GOVERNMENT wallet cannot transfer: refund it, or cancel its " +
    "charge within 30 days, to take the money out.",
});

export const walletStatus = z.enum(["ACTIVE", "DEACTIVATED"]).meta({
  id: "WalletStatus",
  description: "A DEACTIVATED wallet can only be read.",
});

export const settlement = z
  .strictObject({
    status: z.enum(["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"]).meta({
      description:
        "PENDING: not sent to the chain. SUBMITTED: sent. CONFIRMED: in a final block. FAILED: will not be settled.",
    }),
    network: z.string().meta({ description: "The network of this service." }),
    txHash: z
      .string()
      .nullable()
      .meta({ description: "The hash of the chain transaction; null before there is one." }),
    blockNumber: z
      .int()
      .nullable()
      .meta({ description: "The block of the transaction; null before it is in one." }),
  })
  .meta({
    id: "Settlement",
    description:
      "The state of a movement on the chain. Read the object again while `status` is PENDING or " +
      "SUBMITTED. For transfers and recorded transactions use their own `status` instead: an outside " +
      "transfer can be PENDING for a moment while its settlement is CONFIRMED. Several movements are " +
      "settled together and can have the same `txHash`. While SUBMITTED, `txHash` is that of the last " +
      "attempt; a later attempt has another hash.",
  });

/** Numbers in a query are strings; only plain digits are accepted. */
export function queryInteger(min: number, max: number) {
  return z
    .string()
    .refine((text) => /^(0|[1-9][0-9]{0,8})$/.test(text) && Number(text) >= min && Number(text) <= max, {
      message: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
}

/** A bound of the amount in a query. */
function queryWon(description: string) {
  return z
    .string()
    .refine((text) => /^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text)), {
      message: `must be a whole number of KRW from 0 to ${Number.MAX_SAFE_INTEGER}`,
    })
    .meta({ description, type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
    .optional();
}

/** The filters that every list of money has. */
export const moneyFilters = {
  settlementStatus: z
    .enum(["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"])
    .meta({ description: "Only with this settlement status." })
    .optional(),
  minAmount: queryWon("Only amounts of at least this many KRW."),
  maxAmount: queryWon("Only amounts of at most this many KRW."),
};

export const order = z
  .enum(["asc", "desc"])
  .meta({
    description: "asc: oldest first. desc or omitted: newest first. Use a cursor with the order of its page.",
    default: "desc",
  })
  .optional();

const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 20;

const pageFields = {
  limit: queryInteger(1, MAX_LIMIT).optional().meta({
    description: "How many items a page has.",
    type: "integer",
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  }),
  currentPage: queryInteger(1, MAX_OFFSET_ROWS)
    .optional()
    .meta({
      // No `default`: generated clients would send it beside each cursor too.
      description:
        "The page, from 1; omitted: 1. Not together with `cursor`. Pages end at row 10,000 and shift " +
        "while new rows arrive. `cursor` has no end, and neither repeats nor omits a row.",
      type: "integer",
      minimum: 1,
      maximum: MAX_OFFSET_ROWS,
    }),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,512}$/, { error: "is not a valid cursor; use pagination.nextCursor" })
    .optional()
    .meta({ description: "`pagination.nextCursor` of the previous page." }),
};

/** A list's query: its filters and the page. */
export function listQuery<F extends z.ZodRawShape>(filters: F) {
  return z
    .strictObject({ ...pageFields, ...filters })
    .refine((query) => !("cursor" in query && "currentPage" in query), {
      path: ["cursor"],
      message: "cannot be given together with currentPage",
    })
    .refine((query) => !isReversed(query), { path: ["from"], message: "must not be after to" })
    .refine((query) => !isAmountReversed(query), {
      path: ["minAmount"],
      message: "must not be more than maxAmount",
    })
    .refine((query) => !startsBeyondPages(query), {
      path: ["currentPage"],
      message: `starts beyond the first ${MAX_OFFSET_ROWS} rows; follow pagination.nextCursor with cursor instead`,
    });
}

function isReversed(query: object): boolean {
  const { from, to } = query as { from?: Date; to?: Date };
  return from !== undefined && to !== undefined && from > to;
}

function isAmountReversed(query: object): boolean {
  const { minAmount, maxAmount } = query as { minAmount?: string; maxAmount?: string };
  const areDigits = [minAmount, maxAmount].every((text) => /^[0-9]{1,78}$/.test(text ?? ""));
  return areDigits && BigInt(minAmount!) > BigInt(maxAmount!);
}

function startsBeyondPages(query: object): boolean {
  const { limit = DEFAULT_LIMIT, currentPage = 1 } = query as { limit?: number; currentPage?: number };
  return (currentPage - 1) * limit >= MAX_OFFSET_ROWS;
}

/** A list's data. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item).meta({ description: "The items of this page." }),
    pagination,
  });
}

const pagination = z
  .strictObject({
    limit: z.int().meta({ description: "How many items a page has." }),
    currentPage: z.int().nullable().meta({ description: "The page; null when a cursor was given." }),
    hasNext: z.boolean().meta({
      description:
        "Whether there is another page. With filters a page can have fewer items than `limit`, or none, " +
        "and another one all the same: the service reads at most 10,000 objects for a page.",
    }),
    nextCursor: z.string().nullable().meta({ description: "The cursor of the next page; null on the last." }),
    totalCount: z
      .int()
      .nullable()
      .meta({ description: "The number of all items; null when it is not known, as beyond 10,000." }),
  })
  .meta({ id: "Pagination" });

/** An error in an answer. */
export const errorFields = z.strictObject({
  code: z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]).meta({
    id: "ErrorCode",
    description:
      "The codes of this release. A later release can add codes: handle unknown ones by their status.",
  }),
  message: z.string().meta({ description: "The cause and the remedy, for people. One text for each code." }),
  details: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: "The data of the error, such as fields, ids, amounts or a reason." }),
});
