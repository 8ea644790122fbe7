import { z } from "zod";
import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { enumValue } from "@wonrail/kit/grpc/client";
import { NETWORKS } from "@wonrail/kit/contract/networks";
import { TX_HASH_FORM } from "@wonrail/kit/contract/txHash";
import { PaymentType, type Record as RecordMessage, RecordStatus } from "@wonrail/proto/relayer/v1/relayer";
import { requirePresent, recordedTransactionJson, transactionChangeJson } from "@wonrail/kit/records";
import { type Clients } from "../clients";
import { toPageRequest, toPagination } from "./pagination";
import { bodyHash } from "./bodyHash";
import { changeOf, notes, referenceFilter, responseNotes, updatesMetadata } from "./notes";
import { type Handler, operation } from "./operation";
import {
  responseId,
  idOf,
  listQuery,
  momentOf,
  order,
  pageOf,
  queryMomentOf,
  textOf,
  timestamp,
} from "./schemas";

const networkType = z
  .enum([
    ...NETWORKS,
    "ETHEREUM_SEPOLIA",
    "BASE_SEPOLIA",
    "ARBITRUM_SEPOLIA",
    "OPTIMISM_SEPOLIA",
    "POLYGON_AMOY",
    "KAIA_KAIROS",
  ])
  .meta({
    id: "NetworkType",
    description:
      "A network. The service observes and executes only on its own network, which " +
      "`settlement.network` names: WON_TESTNET, or WON_MAINNET in production. For records of other " +
      "networks you set the status.",
  });

const paymentType = z
  .enum(["INSTANT", "SCHEDULED"])
  .meta({ id: "TxPaymentType", description: "INSTANT: on the chain already. SCHEDULED: due later." });
const status = z
  .enum(["PENDING", "CONFIRMED", "FAILED"])
  .meta({ id: "TransactionStatus", description: "PENDING, until it becomes CONFIRMED or FAILED for good." });

const address = z.string().regex(ADDRESS_FORM, { error: "must be 0x and 40 hex digits" });

const txHash = z
  .string()
  .regex(TX_HASH_FORM, { error: "must be 0x and 64 hex digits" })
  .meta({ description: "The hash of the transaction on the chain." });

function tokenUnits(description: string) {
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,77})$/, {
      error: "must be a whole number in digits, without sign, point or leading zeros",
    })
    .refine((text) => !/^[0-9]{1,78}$/.test(text) || BigInt(text) < 2n ** 256n, {
      error: "must be less than 2^256, as on the chain",
    })
    .meta({ description });
}

const shared = {
  fromNetworkType: networkType,
  toNetworkType: networkType,
  fromAddress: address.meta({ description: "The sender's address." }),
  toAddress: address.meta({ description: "The recipient's address." }),
  amount: tokenUnits("The amount in the token's smallest unit. With 6 decimals, 1 KRW is 1000000."),
  fee: tokenUnits("The fee, in the same unit as amount.").optional(),
  ...notes,
};

const instant = z
  .strictObject({
    ...shared,
    paymentType: z.literal("INSTANT").meta({ description: "The transaction is on the chain already." }),
    txHash,
  })
  .meta({
    id: "CreateInstantTransaction",
    description:
      "A transaction that is on the chain already. On the service's own network its status follows " +
      "the chain: it becomes CONFIRMED when the transaction succeeded in a final block, and FAILED " +
      "when it was reverted or does not match the record.",
  });

const scheduled = z
  .strictObject({
    ...shared,
    paymentType: z.literal("SCHEDULED").meta({ description: "The transaction is due later." }),
    scheduledAt: momentOf("When the transaction is due. Must be in the future."),
  })
  .refine((body) => body.fromNetworkType === body.toNetworkType, {
    path: ["toNetworkType"],
    message: "must equal fromNetworkType in a SCHEDULED transaction",
  })
  .meta({
    id: "CreateScheduledTransaction",
    description:
      "A transaction that is due later, within one network. If fromAddress is a NORMAL wallet of your " +
      "organisation, the service sends the transaction once, as a transfer, when it is due: do not " +
      "send it yourself. Such a transaction is refused with REQ_001 when it can never be a transfer: " +
      "an amount that is 0, not whole KRW (a multiple of 1000000) or more than 9007199254740991 KRW, " +
      "or a toAddress that is the zero address, the fromAddress, the token or the payment manager. " +
      "From other addresses, and on other networks, the service sends nothing: the record stays " +
      "PENDING until you set its status. If your organisation is suspended or its subscription is not " +
      "active at the due time, the record becomes FAILED for good and its failureReason begins with " +
      "WAUTH_003. A transfer that started before continues.",
  });

const record = z
  .strictObject({
    id: responseId("The record's id."),
    ...shared,
    fee: tokenUnits("The fee, in the same unit as amount.").nullable(),
    paymentType,
    txHash: txHash.nullable(),
    ...responseNotes,
    scheduledAt: timestamp("When the transaction is due; null for INSTANT.").nullable(),
    status,
    failureReason: z
      .string()
      .nullable()
      .meta({
        description:
          "The reason when the status is FAILED: your own text, or one of the service such as " +
          "`amount_is_not_whole_won`, `reverted`, `scheduled_too_long_ago` (the transfer could start " +
          "only months late), or an error code with its message.",
      }),
    createdAt: timestamp("When the transaction was recorded."),
    updatedAt: timestamp("When the record last changed."),
  })
  .meta({ id: "RecordedTransaction", description: "A record of an on-chain transaction." });

const change = z
  .strictObject({
    status,
    scheduledAt: timestamp("The due time after this change; null for INSTANT.").nullable(),
    reason: z
      .string()
      .nullable()
      .meta({
        description:
          "`not_seen_on_chain`; `sent_as_` with the transfer's id; `sender_is_not_a_normal_wallet` when " +
          "the transaction was due and is left to you; or the reason for FAILED.",
      }),
    changedBy: z.enum(["API", "CHAIN", "SCHEDULER"]).meta({
      description: "API: your request. CHAIN: a final block. SCHEDULER: the service, at the due time.",
    }),
    changedAt: timestamp("When the change was made."),
  })
  .meta({ id: "TransactionChange" });

const recordWithHistory = record
  .extend({
    history: z.array(change).meta({
      description: "The changes of the record, oldest first. Of more than 100 only the newest.",
    }),
  })
  .meta({ id: "RecordedTransactionWithHistory" });

const recordPath = z.strictObject({ id: idOf("txn", "TX_001", "The record's id.") });

export const createTransaction = operation({
  id: "createTransaction",
  tag: "Recorded transactions",
  summary: "Record a transaction",
  description:
    "INSTANT records a transaction that is on the chain already. SCHEDULED records one that is due " +
    "later; from a NORMAL wallet of yours the service sends it (see the body). The plan counts a " +
    "SCHEDULED transaction when it is recorded, and not again when it is sent. A txHash is recorded " +
    "once for each fromNetworkType, whatever the key: TX_002 names the first record in `details.id`. " +
    "Sent SCHEDULED transactions can share a hash.",
  access: "full",
  idempotent: true,
  quota: "RECORDED_TRANSACTIONS",
  body: z.discriminatedUnion("paymentType", [instant, scheduled]).meta({ id: "CreateTransaction" }),
  status: 201,
  data: record,
  errors: ["TX_002"],
});

export const getTransaction = operation({
  id: "getTransaction",
  tag: "Recorded transactions",
  summary: "Read a recorded transaction with its history",
  description: "Returns one record with the history of its changes.",
  access: "full",
  params: recordPath,
  status: 200,
  data: recordWithHistory,
  errors: ["TX_001"],
});

export const listTransactions = operation({
  id: "listTransactions",
  tag: "Recorded transactions",
  summary: "List recorded transactions",
  description: "Returns a page of the organisation's records, optionally filtered.",
  access: "full",
  query: listQuery({
    status: status.optional(),
    paymentType: paymentType.optional(),
    address: address.optional().meta({ description: "Only records with this sender or recipient." }),
    reference: referenceFilter,
    minAmount: tokenUnits("Only amounts of at least this, in the token's smallest unit.").optional(),
    maxAmount: tokenUnits("Only amounts of at most this, in the token's smallest unit.").optional(),
    order,
    from: queryMomentOf("Only records made at or after this time.").optional(),
    to: queryMomentOf("Only records made before this time. Must not be earlier than `from`.").optional(),
  }),
  status: 200,
  data: pageOf(record).meta({ id: "RecordedTransactionPage" }),
  errors: [],
});

export const updateTransaction = operation({
  ...updatesMetadata,
  id: "updateTransaction",
  tag: "Recorded transactions",
  summary: "Change a recorded transaction's metadata",
  params: recordPath,
  data: record,
  errors: ["TX_001"],
});

export const updateTransactionStatus = operation({
  id: "updateTransactionStatus",
  tag: "Recorded transactions",
  summary: "Set a recorded transaction's status",
  description:
    "From PENDING to CONFIRMED or FAILED, which are final. Setting the same status again " +
    "changes nothing. To stop a waiting SCHEDULED transaction set FAILED; CONFIRMED stops it too, and " +
    "means that you had it done elsewhere. After its transfer started (its history has `sent_as_`) " +
    "only the chain ends it: the change is refused with TX_003.",
  access: "full",
  whenUnknown: "This operation has no Idempotency-Key: send the request again. A repetition changes nothing.",
  params: recordPath,
  body: z
    .strictObject({ status, failureReason: textOf(500, "The reason for FAILED.").optional() })
    .refine((body) => body.failureReason === undefined || body.status === "FAILED", {
      path: ["failureReason"],
      message: "is accepted only with the status FAILED",
    })
    .meta({ id: "UpdateTransactionStatus" }),
  status: 200,
  data: record,
  errors: ["TX_001", "TX_003"],
});

export const updateTransactionSchedule = operation({
  id: "updateTransactionSchedule",
  tag: "Recorded transactions",
  summary: "Change the due time of a SCHEDULED transaction",
  description:
    "Setting the current due time again changes nothing. TX_004 when the record is not SCHEDULED, not " +
    "PENDING, or its transfer started (its history has `sent_as_`).",
  access: "full",
  whenUnknown: "This operation has no Idempotency-Key: send the request again. A repetition changes nothing.",
  params: recordPath,
  body: z
    .strictObject({ scheduledAt: momentOf("The new due time. Must be in the future.") })
    .meta({ id: "UpdateTransactionSchedule" }),
  status: 200,
  data: record,
  errors: ["TX_001", "TX_004"],
});

export function createTransactionWith({ relayer }: Clients): Handler<typeof createTransaction> {
  return async ({ body }, { principal: { orgId }, idempotencyKey, repeatOnly }) => {
    const fields = {
      ...body,
      metadata: body.metadata ?? {},
      paymentType: enumValue(PaymentType, body.paymentType),
      txHash: body.paymentType === "INSTANT" ? body.txHash : undefined,
      scheduledAt: body.paymentType === "SCHEDULED" ? body.scheduledAt : undefined,
    };
    const asked = { orgId, fields, idempotencyKey, bodyHash: bodyHash(body), repeatOnly };
    const { record, replayed } = await relayer.createRecord(asked);
    return { data: recordOf(record), replayed };
  };
}

export function getTransactionWith({ relayer }: Clients): Handler<typeof getTransaction> {
  return async ({ params: { id } }, { principal: { orgId } }) => {
    const record = requirePresent((await relayer.getRecord({ orgId, id }, { retry: true })).record);
    return { data: { ...recordOf(record), history: record.history.map(transactionChangeJson) } };
  };
}

export function listTransactionsWith({ relayer }: Clients): Handler<typeof listTransactions> {
  return async ({ query }, { principal: { orgId } }) => {
    const asked = {
      orgId,
      status: query.status ? enumValue(RecordStatus, query.status) : RecordStatus.UNSPECIFIED,
      paymentType: query.paymentType ? enumValue(PaymentType, query.paymentType) : PaymentType.UNSPECIFIED,
      address: query.address,
      reference: query.reference,
      minAmount: query.minAmount,
      maxAmount: query.maxAmount,
      from: query.from,
      to: query.to,
      page: toPageRequest(query),
    };
    const { records, page } = await relayer.listRecords(asked, { retry: true });
    return { data: { items: records.map(recordOf), pagination: toPagination(query, page) } };
  };
}

export function updateTransactionWith({ relayer }: Clients): Handler<typeof updateTransaction> {
  return async ({ params: { id }, body }, { principal: { orgId } }) => ({
    data: recordOf((await relayer.updateRecordMetadata({ orgId, id, ...changeOf(body) })).record),
  });
}

export function updateTransactionStatusWith({ relayer }: Clients): Handler<typeof updateTransactionStatus> {
  return async ({ params: { id }, body }, { principal: { orgId } }) => {
    const change = {
      orgId,
      id,
      status: enumValue(RecordStatus, body.status),
      failureReason: body.failureReason,
    };
    return { data: recordOf((await relayer.updateRecordStatus(change)).record) };
  };
}

export function updateTransactionScheduleWith({
  relayer,
}: Clients): Handler<typeof updateTransactionSchedule> {
  return async ({ params: { id }, body: { scheduledAt } }, { principal: { orgId } }) => ({
    data: recordOf((await relayer.updateRecordSchedule({ orgId, id, scheduledAt })).record),
  });
}

function recordOf(message: RecordMessage | undefined) {
  return recordedTransactionJson(requirePresent(message)) as z.output<typeof record>;
}
