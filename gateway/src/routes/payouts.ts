import { z } from "zod";
import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { enumValue } from "@wonrail/kit/grpc/client";
import { payoutJson, payoutRowJson, requirePresent } from "@wonrail/kit/records";
import { PayoutMode, PayoutRowStatus, PayoutStatus } from "@wonrail/proto/payment/v1/payment";
import { type Clients } from "../clients";
import { validate } from "../middleware/validate";
import { keyedBy, retriedBy } from "./bodyHash";
import { notes, responseNotes } from "./notes";
import { type Handler, operation } from "./operation";
import { toPageRequest, toPagination } from "./pagination";
import { readPayoutCsv } from "./readPayoutCsv";
import { rehearseRows } from "./rehearseRefusal";
import { amountOf, errorFields, idOf, listQuery, order, pageOf, responseId, timestamp, won } from "./schemas";
import { createTransfer } from "./transfers";

const MAX_ROWS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

const mode = z.enum(["ATOMIC", "BEST_EFFORT"]);
const status = z.enum(["PENDING", "COMPLETED", "REFUSED"]);
const rowStatus = z.enum(["PENDING", "ACCEPTED", "REFUSED", "SKIPPED"]);
const count = (description: string) => z.int().meta({ description });

const payout = z
  .strictObject({
    payoutId: responseId("The payout's id."),
    status: status.meta({
      description:
        "PENDING until each row has its outcome, then COMPLETED. REFUSED: the payout is ATOMIC and a row " +
        "was refused, so nothing moved.",
    }),
    mode: mode.meta({ description: "The mode of the request." }),
    dryRun: z.boolean().meta({ description: "Whether the payout only tells what would happen." }),
    fromWalletId: responseId("The sending wallet."),
    totalAmount: won("The sum of all rows, in KRW."),
    acceptedAmount: won("The sum of the ACCEPTED rows, in KRW."),
    rowCount: count("How many rows there are."),
    acceptedCount: count("How many rows are ACCEPTED."),
    refusedCount: count("How many rows are REFUSED."),
    skippedCount: count("How many rows are SKIPPED."),
    createdAt: timestamp("When the payout was requested."),
    completedAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: "When the last row got its outcome; null while the payout is PENDING." }),
  })
  .meta({ id: "Payout", description: "Many transfers of one wallet, as one request." });

const payoutRow = z
  .strictObject({
    index: z.int().meta({ description: "The place of the row in the request, from 0." }),
    status: rowStatus.meta({
      description:
        "ACCEPTED: the transfer was made, or would be in a dry run. REFUSED: `error` tells why. SKIPPED: " +
        "the payout is ATOMIC and another row was refused.",
    }),
    toWalletAddress: z.string().meta({ description: "The destination address." }),
    amount: won("The amount of the row, in KRW."),
    ...responseNotes,
    idempotencyKey: z.string().nullable().meta({ description: "The row's own key; null without one." }),
    transferId: z
      .string()
      .nullable()
      .meta({
        description:
          "The transfer of an ACCEPTED row, otherwise null. When the row's own key was used before, it is " +
          "the earlier transfer.",
      }),
    error: errorFields
      .nullable()
      .meta({ description: "Why the row is REFUSED, with the codes of a transfer; otherwise null." }),
  })
  .meta({ id: "PayoutRow", description: "One transfer of a payout." });

const newRow = z
  .strictObject({
    toWalletAddress: z
      .string()
      .refine((text) => ADDRESS_FORM.test(text), { message: "must be 0x and 40 hex digits" })
      .meta({ description: "The destination, as of a transfer.", pattern: ADDRESS_FORM.source }),
    amount: amountOf("The amount of the row, in KRW."),
    ...notes,
    idempotencyKey: z
      .string()
      .regex(/^[\x20-\x7e]{1,255}$/, { error: "must be 1 to 255 printable ASCII characters" })
      .optional()
      .meta({
        description:
          "Your own key of the row, such as a salary's number. A key pays once, also in several payouts. " +
          "A refusal of a BEST_EFFORT row is kept under its key: give the corrected row a new one.",
      }),
  })
  .meta({ id: "PayoutOrder", description: "One transfer to make." });

const rows = z.array(newRow).min(1).max(MAX_ROWS);

export const createPayout = operation({
  id: "createPayout",
  tag: "Payouts",
  summary: "Transfer to many addresses",
  description:
    "Stores the payout and answers at once. Its rows are posted within seconds, and `payout.completed` " +
    "tells of the end. Each row is a transfer with the rules of `POST /api/wallets/transfer`, the daily " +
    "limit of the wallet included. ATOMIC posts all rows or none. BEST_EFFORT posts each row by itself. A " +
    "row in a wrong form refuses the request with REQ_001: nothing is stored, and `details.fields` names " +
    "up to 100 problems as `rows[17].amount`. Give either `rows` or `csv`. A payout counts as one " +
    "operation of the plan.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  bodyLimits: { maxBytes: MAX_BYTES, maxItems: MAX_ROWS },
  body: z
    .strictObject({
      fromWalletId: idOf("wal", "WAL_002", "The sending wallet. It must be a NORMAL wallet."),
      mode: mode.optional().meta({
        description: "ATOMIC, the default: all rows or none. BEST_EFFORT: each row by itself.",
        default: "ATOMIC",
      }),
      dryRun: z.boolean().optional().meta({
        description: "True: decide each row with the present balances, and move nothing.",
        default: false,
      }),
      rows: rows.optional().meta({ description: `The transfers to make, at most ${MAX_ROWS}.` }),
      csv: z
        .string()
        .optional()
        .meta({
          description:
            "The rows as CSV (RFC 4180) instead. The first record names the columns: `toWalletAddress` and " +
            "`amount`, and if needed `memo`, `reference` and `idempotencyKey`. An empty cell is an omitted " +
            "field. Problems are named as `csv[0].amount`, where 0 is the record behind the names.",
        }),
    })
    .refine((body) => (body.rows === undefined) !== (body.csv === undefined), {
      path: ["rows"],
      message: "must be given, or csv, and not both",
    })
    .meta({ id: "CreatePayout" }),
  status: 201,
  data: payout,
  errors: ["WAL_002"],
});

export const getPayout = operation({
  id: "getPayout",
  tag: "Payouts",
  summary: "Read a payout",
  description: "Returns one payout with the counts of its rows.",
  access: "full",
  params: z.strictObject({ payoutId: idOf("pyo", "PYO_001", "The payout's id.") }),
  status: 200,
  data: payout,
  errors: ["PYO_001"],
});

export const listPayouts = operation({
  id: "listPayouts",
  tag: "Payouts",
  summary: "List payouts",
  description: "Returns a page of payouts, sorted by the time of the request.",
  access: "full",
  query: listQuery({
    status: status.optional().meta({ description: "Only payouts with this status." }),
    order,
  }),
  status: 200,
  data: pageOf(payout).meta({ id: "PayoutPage" }),
  errors: [],
});

export const listPayoutRows = operation({
  id: "listPayoutRows",
  tag: "Payouts",
  summary: "List the rows of a payout",
  description: "Returns a page of rows with their outcomes, in the order of the request.",
  access: "full",
  params: z.strictObject({ payoutId: idOf("pyo", "PYO_001", "The payout's id.") }),
  query: listQuery({ status: rowStatus.optional().meta({ description: "Only rows with this status." }) }),
  status: 200,
  data: pageOf(payoutRow).meta({ id: "PayoutRowPage" }),
  errors: ["PYO_001"],
});

export function createPayoutWith({ payment }: Clients): Handler<typeof createPayout> {
  return async ({ body }, call) => {
    const { fromWalletId, dryRun = false } = body;
    const given = body.rows ?? validate(z.strictObject({ csv: rows }), readPayoutCsv(body.csv!), "body").csv;
    const path = body.rows ? "rows" : "csv";
    const refusals = call.isSandbox ? rehearseRows(given, createTransfer.errors, path) : [];
    const asked = {
      orgId: call.principal.orgId,
      ...{ fromWalletId, dryRun, mode: enumValue(PayoutMode, body.mode ?? "ATOMIC") },
      rows: given.map(({ amount, metadata = {}, ...same }, index) => ({
        ...{ ...same, amountWon: String(amount), metadata, rehearsedRefusal: refusals[index] },
      })),
    };
    const request = { ...asked, bodyHash: NO_HASH, ...keyedBy(call, body) };
    const { payout, replayed } = await payment.createPayout(request, retriedBy(call));
    return { data: payoutJson(requirePresent(payout)), replayed };
  };
}

/** For a request without a key, which has no earlier body to compare. */
const NO_HASH = Buffer.alloc(0);

export function getPayoutWith({ payment }: Clients): Handler<typeof getPayout> {
  return async ({ params: { payoutId } }, { principal: { orgId } }) => ({
    data: payoutJson(requirePresent((await payment.getPayout({ orgId, payoutId }, { retry: true })).payout)),
  });
}

export function listPayoutsWith({ payment }: Clients): Handler<typeof listPayouts> {
  return async ({ query }, { principal: { orgId } }) => {
    const status = query.status && enumValue(PayoutStatus, query.status);
    const asked = { orgId, status, page: toPageRequest(query) };
    const { payouts, page } = await payment.listPayouts(asked, { retry: true });
    return { data: { items: payouts.map(payoutJson), pagination: toPagination(query, page) } };
  };
}

export function listPayoutRowsWith({ payment }: Clients): Handler<typeof listPayoutRows> {
  return async ({ params: { payoutId }, query }, { principal: { orgId } }) => {
    const status = query.status && enumValue(PayoutRowStatus, query.status);
    const asked = { orgId, payoutId, status, page: toPageRequest(query) };
    const { rows, page } = await payment.listPayoutRows(asked, { retry: true });
    return { data: { items: rows.map(payoutRowJson), pagination: toPagination(query, page) } };
  };
}
