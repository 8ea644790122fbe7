import { z } from "zod";
import { type ErrorCode } from "@wonrail/kit/contract/errors";
import { type IdPrefix, isId } from "@wonrail/kit/contract/ids";
import { MAX_OFFSET_ROWS } from "@wonrail/kit/page";

// The words that several operations share. A schema's metadata is what the OpenAPI document says about it.

/** A check whose refusal has a code of its own instead of REQ_001. */
export function refusedAs(
  code: ErrorCode,
  message: string,
): { params: { code: ErrorCode }; message: string } {
  return { params: { code }, message };
}

/** An id in a path or body. One of the wrong form cannot exist, and is answered like one that does not, which WAL_002 names. */
export function idOf(prefix: IdPrefix, absent: ErrorCode, description: string) {
  const params = { code: absent, named: absent === "WAL_002" ? "walletId" : null };
  return z
    .string()
    .refine((text) => isId(prefix, text), { params, message: "does not exist" })
    .meta({ description });
}

/** An id by which a list is filtered. One that does not exist matches nothing; one of the wrong form is a mistake to be told of. */
export function idFilter(prefix: IdPrefix, description: string) {
  return z
    .string()
    .refine((text) => isId(prefix, text), { message: `must be an id that starts with ${prefix}_` })
    .meta({ description });
}

/** An id that we give. */
export function givenId(description: string) {
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

/** Whole KRW in an answer. */
export function won(description: string) {
  return z.int().meta({ description });
}

/** Counted in characters as people count them, not in UTF-16 units. */
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

const MEMO_MAX_CHARACTERS = 200;
export const memo = textOf(MEMO_MAX_CHARACTERS, "A note of your own.").optional();
export const memoGiven = z.string().nullable().meta({ description: "The note given with the request." });

/** The years that four digits can say and PostgreSQL takes. A zone can move a moment out of them. */
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
 * One end of a time in a query, where a plus sign is a space unless it is encoded. What is listed has whole milliseconds: what lies between two of them has before it what is at
 * the first, and from it on what is at the second.
 */
export function queryMomentOf(description: string) {
  const error =
    "must be an ISO 8601 date-time with seconds and a zone: Z, or an offset whose + is written as %2B";
  return moment(description, error, roundedUp);
}

/** Date cuts off what is finer than a millisecond. */
function roundedUp(text: string): Date {
  const cutMs = Date.parse(text);
  return new Date(/\.\d{3}\d*[1-9]/.test(text) ? Math.min(cutMs + 1, LAST_MOMENT_MS) : cutMs);
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

/** A date-time in an answer. */
export function timestamp(description: string) {
  return z.iso.datetime().meta({ description });
}

export const walletType = z.enum(["NORMAL", "INCENTIVE", "GOVERNMENT"]).meta({
  id: "WalletType",
  description:
    "What a wallet is for. Payments draw on GOVERNMENT, then INCENTIVE, then NORMAL; on GOVERNMENT with 0 for now, and as it neither transfers nor is refunded, what is in it stays there but for charges that are cancelled in time.",
});

export const walletStatus = z.enum(["ACTIVE", "DEACTIVATED"]).meta({ id: "WalletStatus" });

export const settlement = z
  .strictObject({
    status: z.enum(["PENDING", "SUBMITTED", "CONFIRMED", "FAILED"]),
    network: z.string().meta({ description: "The network that the service runs on." }),
    txHash: z.string().nullable(),
    blockNumber: z.int().nullable(),
  })
  .meta({
    id: "Settlement",
    description:
      "Where the chain is with it. It changes as the chain does; read it again to follow, while `status` is PENDING or SUBMITTED. Of a transfer, and of a recorded transaction, go by the `status` of its own instead: an outside transfer can for a moment be PENDING when its settlement is CONFIRMED already. Several operations are settled together, so they can have one `txHash`. While SUBMITTED it is the hash of the last transaction that was to carry it out: what the chain has refused there goes again in another one, which may be later, and has another hash then.",
  });

export const cancellation = z
  .strictObject({
    cancelId: givenId("The cancellation's id."),
    settlement,
  })
  .meta({
    id: "Cancellation",
    description:
      "What took the charge back, or a part of it. `settlement` is that of the way back, PENDING at first; read the charge again to follow.",
  });

/** Numbers in a query are texts; only plain digits are taken. */
function queryInteger(min: number, max: number) {
  return z
    .string()
    .refine((text) => /^(0|[1-9][0-9]{0,8})$/.test(text) && Number(text) >= min && Number(text) <= max, {
      message: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
}

const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 20;

const pageFields = {
  limit: queryInteger(1, MAX_LIMIT).optional().meta({
    description: "Items on a page.",
    type: "integer",
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  }),
  currentPage: queryInteger(1, MAX_OFFSET_ROWS).optional().meta({
    // No `default`: clients that are generated from the document would send it with each cursor too.
    description:
      "From 1, which it is when it is left out. Not together with `cursor`. It goes as far as row 10,000, and the pages shift while new rows come in: `cursor` has no end, and neither repeats nor leaves out a row that was there.",
    type: "integer",
    minimum: 1,
    maximum: MAX_OFFSET_ROWS,
  }),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,512}$/, { error: "is not a cursor that an answer gave" })
    .optional()
    .meta({ description: "`pagination.nextCursor` of the page before." }),
};

/** A list's query: its filters, and which part of it is wanted. */
export function listQuery<F extends z.ZodRawShape>(filters: F) {
  return z
    .strictObject({ ...pageFields, ...filters })
    .refine((query) => !("cursor" in query && "currentPage" in query), {
      path: ["cursor"],
      message: "cannot be given together with currentPage",
    })
    .refine((query) => !isReversed(query), { path: ["from"], message: "must not be after to" })
    .refine((query) => !startsBeyondPages(query), {
      path: ["currentPage"],
      message: `starts beyond the first ${MAX_OFFSET_ROWS} rows; follow pagination.nextCursor with cursor instead`,
    });
}

function isReversed(query: object): boolean {
  const { from, to } = query as { from?: Date; to?: Date };
  return from !== undefined && to !== undefined && from > to;
}

function startsBeyondPages(query: object): boolean {
  const { limit = DEFAULT_LIMIT, currentPage = 1 } = query as { limit?: number; currentPage?: number };
  return (currentPage - 1) * limit >= MAX_OFFSET_ROWS;
}

/** A list's data. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), pagination });
}

const pagination = z
  .strictObject({
    limit: z.int(),
    currentPage: z.int().nullable().meta({ description: "null when a cursor was given." }),
    hasNext: z.boolean(),
    nextCursor: z.string().nullable(),
    totalCount: z.int().nullable().meta({ description: "null beyond 10,000." }),
  })
  .meta({ id: "Pagination" });
