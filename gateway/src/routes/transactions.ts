import { z } from "zod";
import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { enumName, enumValue } from "@wonrail/kit/grpc/client";
import { NETWORKS } from "@wonrail/kit/contract/networks";
import {
  PaymentType,
  type Record as RecordMessage,
  type RecordChange as ChangeMessage,
  RecordStatus,
} from "@wonrail/proto/relayer/v1/relayer";
import { type Clients } from "../clients";
import { iso, known, pageRequest, paginationOf } from "./answers";
import { bodyHash } from "./bodyHash";
import { type Handler, operation } from "./operation";
import {
  givenId,
  idOf,
  listQuery,
  memo,
  memoGiven,
  momentOf,
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
      "The service watches and executes on the network that it runs on, which `settlement.network` names: WON_TESTNET, or WON_MAINNET in production. The others are labels that you keep up to date.",
  });

const paymentType = z.enum(["INSTANT", "SCHEDULED"]).meta({ id: "TxPaymentType" });
const status = z.enum(["PENDING", "CONFIRMED", "FAILED"]).meta({ id: "TransactionStatus" });

const address = z.string().regex(ADDRESS_FORM, { error: "must be 0x and 40 hex digits" });

const txHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, { error: "must be 0x and 64 hex digits" })
  .meta({ description: "The hash on the chain." });

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
  fromAddress: address,
  toAddress: address,
  amount: tokenUnits("In the token's smallest unit: with 6 decimals, 1 KRW is 1000000."),
  fee: tokenUnits("As amount.").optional(),
  memo,
};

const instant = z.strictObject({ ...shared, paymentType: z.literal("INSTANT"), txHash }).meta({
  id: "CreateInstantTransaction",
  description:
    "A transaction that is on the chain already. On the network that the service runs on its status follows the chain: CONFIRMED says that the transaction with this hash has succeeded in a final block. What it did is not looked at: addresses and amount are yours, and are not compared.",
});

const scheduled = z
  .strictObject({
    ...shared,
    paymentType: z.literal("SCHEDULED"),
    scheduledAt: momentOf("When it is due, in the future."),
  })
  .refine((body) => body.fromNetworkType === body.toNetworkType, {
    path: ["toNetworkType"],
    message: "must equal fromNetworkType in a SCHEDULED transaction",
  })
  .meta({
    id: "CreateScheduledTransaction",
    description:
      "A transaction that is due later, within one network. When it is due and fromAddress is a NORMAL wallet of your organisation, the service sends it, once, as a transfer of yours: do not send it yourself as well. What no transfer can ever be is then refused at once, with REQ_001: an amount that is 0, not whole KRW (a multiple of 1000000) or more than 9007199254740991 KRW, and as toAddress the zero address, its own fromAddress, the token or the payment manager. From any other address, and on a network that the service does not run on, nothing is executed: it stays PENDING until you set its status. One that is due while your organisation is suspended or its subscription is not active is not executed: it becomes FAILED, its failureReason begins with WAUTH_003, and it stays so when you may go on. A transfer that was begun before goes on to its end.",
  });

const record = z
  .strictObject({
    id: givenId("The record's id."),
    ...shared,
    fee: tokenUnits("As amount.").nullable(),
    paymentType,
    txHash: txHash.nullable(),
    memo: memoGiven,
    scheduledAt: timestamp("When it is due.").nullable(),
    status,
    failureReason: z.string().nullable().meta({
      description:
        "Why it FAILED: your own words where you have said so, or the service's, such as `amount_is_not_whole_won`, `reverted`, `scheduled_too_long_ago` when it could only be begun months after its time, or an error code with its message.",
    }),
    createdAt: timestamp("When it was recorded."),
    updatedAt: timestamp("When it last changed."),
  })
  .meta({ id: "RecordedTransaction" });

const CHANGED_BY = { api: "API", chain: "CHAIN", scheduler: "SCHEDULER" } as const;

const change = z
  .strictObject({
    status,
    scheduledAt: timestamp("When it is due since then.").nullable(),
    reason: z.string().nullable().meta({
      description:
        "`not_seen_on_chain`, `sent_as_` with the transfer's id, `sender_is_not_a_normal_wallet` when it was due and is left to you, or why it FAILED.",
    }),
    changedBy: z.enum(Object.values(CHANGED_BY)).meta({
      description: "API: a request of yours. CHAIN: a final block. SCHEDULER: the service, when it was due.",
    }),
    changedAt: timestamp("When."),
  })
  .meta({ id: "TransactionChange" });

const recordWithHistory = record
  .extend({
    history: z.array(change).meta({
      description: "What became of it and by whom, oldest first; of more than 100 changes the newest.",
    }),
  })
  .meta({ id: "RecordedTransactionWithHistory" });

const recordPath = z.strictObject({ id: idOf("txn", "TX_001", "The record's id.") });

export const createTransaction = operation({
  id: "createTransaction",
  tag: "Recorded transactions",
  summary: "Record a transaction",
  description:
    "A SCHEDULED one from a NORMAL wallet of yours moves money when it is due (see its body); an INSTANT one records what is on the chain already. A SCHEDULED one is counted by the plan now, as a recorded transaction, and not again when it is sent. Repeating the request with its Idempotency-Key is safe: it is answered with the record as it was made. The txHash of an INSTANT one is recorded once for each fromNetworkType, whatever the key: TX_002 names the first record in `details.id`. A SCHEDULED one has the hash of its transfer, and several can have the same.",
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
  access: "full",
  params: recordPath,
  status: 200,
  data: recordWithHistory,
  errors: ["TX_001"],
});

export const listTransactions = operation({
  id: "listTransactions",
  tag: "Recorded transactions",
  summary: "List recorded transactions, newest first",
  access: "full",
  query: listQuery({
    status: status.optional(),
    paymentType: paymentType.optional(),
    address: address.optional().meta({ description: "Sender or recipient." }),
    from: queryMomentOf("Recorded not before this moment.").optional(),
    to: queryMomentOf("Recorded before this moment.").optional(),
  }),
  status: 200,
  data: pageOf(record).meta({ id: "RecordedTransactionPage" }),
  errors: [],
});

export const updateTransactionStatus = operation({
  id: "updateTransactionStatus",
  tag: "Recorded transactions",
  summary: "Set a recorded transaction's status",
  description:
    "From PENDING to CONFIRMED or FAILED, which are final. The same status again changes nothing. To stop a SCHEDULED one that waits, set FAILED: it is not executed then. CONFIRMED stops it too, and says that you have had it done otherwise. A SCHEDULED one whose transfer has begun (its history says `sent_as_`) is the chain's to end: until then it is PENDING, and refused with TX_003.",
  access: "full",
  whenUnknown: "This one takes none: saying it twice changes nothing, so send it again.",
  params: recordPath,
  body: z
    .strictObject({ status, failureReason: textOf(500, "Why it FAILED.").optional() })
    .refine((body) => body.failureReason === undefined || body.status === "FAILED", {
      path: ["failureReason"],
      message: "goes with the status FAILED only",
    })
    .meta({ id: "UpdateTransactionStatus" }),
  status: 200,
  data: record,
  errors: ["TX_001", "TX_003"],
});

export const updateTransactionSchedule = operation({
  id: "updateTransactionSchedule",
  tag: "Recorded transactions",
  summary: "Change when a SCHEDULED transaction is due",
  description:
    "The time that it has already changes nothing. Once its transfer has begun (its history says `sent_as_`) another one is refused with TX_004, also while it is PENDING.",
  access: "full",
  whenUnknown: "This one takes none: saying it twice changes nothing, so send it again.",
  params: recordPath,
  body: z
    .strictObject({ scheduledAt: momentOf("The new time, in the future.") })
    .meta({ id: "UpdateTransactionSchedule" }),
  status: 200,
  data: record,
  errors: ["TX_001", "TX_004"],
});

export function createTransactionWith({ relayer }: Clients): Handler<typeof createTransaction> {
  return async ({ body }, { principal: { orgId }, idempotencyKey, repeatOnly }) => {
    const fields = {
      ...body,
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
    const record = known((await relayer.getRecord({ orgId, id }, { retry: true })).record);
    return { data: { ...recordOf(record), history: record.history.map(changeOf) } };
  };
}

export function listTransactionsWith({ relayer }: Clients): Handler<typeof listTransactions> {
  return async ({ query }, { principal: { orgId } }) => {
    const asked = {
      orgId,
      status: query.status ? enumValue(RecordStatus, query.status) : RecordStatus.UNSPECIFIED,
      paymentType: query.paymentType ? enumValue(PaymentType, query.paymentType) : PaymentType.UNSPECIFIED,
      address: query.address,
      from: query.from,
      to: query.to,
      page: pageRequest(query),
    };
    const { records, page } = await relayer.listRecords(asked, { retry: true });
    return { data: { items: records.map(recordOf), pagination: paginationOf(query, page) } };
  };
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
  const { id, fields, status: state, failureReason, createdAt, updatedAt } = known(message);
  const of = known(fields);
  return {
    id,
    fromNetworkType: of.fromNetworkType as z.output<typeof networkType>,
    toNetworkType: of.toNetworkType as z.output<typeof networkType>,
    paymentType: known(enumName(PaymentType, of.paymentType)),
    fromAddress: of.fromAddress,
    toAddress: of.toAddress,
    txHash: of.txHash ?? null,
    amount: of.amount,
    fee: of.fee ?? null,
    memo: of.memo ?? null,
    scheduledAt: of.scheduledAt?.toISOString() ?? null,
    status: known(enumName(RecordStatus, state)),
    failureReason: failureReason ?? null,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

function changeOf({ status: state, scheduledAt, reason, changedBy, changedAt }: ChangeMessage) {
  return {
    status: known(enumName(RecordStatus, state)),
    scheduledAt: scheduledAt?.toISOString() ?? null,
    reason: reason ?? null,
    changedBy: known(CHANGED_BY[changedBy as keyof typeof CHANGED_BY]),
    changedAt: iso(changedAt),
  };
}
