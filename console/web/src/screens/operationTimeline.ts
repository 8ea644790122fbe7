import { type AnswerOf } from "../api/services";
import { type TimelineEvent } from "../blocks/timeline";
import { formatCount, formatGwei, formatWon } from "../format/amounts";
import { enumWords } from "../format/words";
import { explainReason } from "./waitReasons";

type EntryDetails = AnswerOf<"wonrail.ledger.v1.LedgerAdminService/GetEntryDetails">;
type OperationDetails = AnswerOf<"wonrail.relayer.v1.RelayerAdminService/GetOperationDetails">;
type Signings = AnswerOf<"wonrail.wallet.v1.WalletAdminService/ListSignings">;
type ObjectEvents = AnswerOf<"wonrail.events.v1.EventsAdminService/ListObjectEvents">;
type Deposit = AnswerOf<"wonrail.relayer.v1.RelayerAdminService/GetDeposit">;
type RecordDetails = AnswerOf<"wonrail.relayer.v1.RelayerAdminService/GetRecordDetails">;
export type Entry = NonNullable<NonNullable<EntryDetails["request"]>["outcome"]>["posted"];

/** A row that a service gave as a JSON object. */
export type Row = Readonly<Record<string, unknown>>;

export function entryEvents({
  request,
  decidedAt,
  key,
  postedBy,
  holdEndings,
}: EntryDetails): TimelineEvent[] {
  const { posted, error } = request?.outcome ?? {};
  const origin = posted?.origin;
  const events: TimelineEvent[] = [];
  if (origin !== undefined)
    events.push({
      at: decidedAt,
      source: "gateway",
      title: "REST request",
      details: `X-Request-Id ${origin.requestId}, trace ${origin.traceId}`,
    });
  if (key !== undefined)
    events.push({
      at: key.createdAt,
      source: "ledger",
      title: "Idempotency key stored",
      details: `${key.scope} ${key.key}`,
    });
  if (error !== undefined)
    events.push({
      at: decidedAt,
      source: "ledger",
      title: `Refused with ${error.code}`,
      details: error.detailsJson,
      tone: "bad",
    });
  if (posted !== undefined) events.push(postedEvent(posted, decidedAt, postedBy));
  const later = [...(request?.cancellations ?? []), ...holdEndings];
  return [...events, ...later.map((entry) => postedEvent(entry, entry.postedAt, undefined))];
}

function postedEvent(
  entry: NonNullable<Entry>,
  at: string | undefined,
  postedBy: string | undefined,
): TimelineEvent {
  const lines = entry.postings.map(
    ({ accountId, type, amountWon }) =>
      `${accountId} ${enumWords(type, "TRANSACTION_TYPE_")} ${formatWon(amountWon)}`,
  );
  const by = postedBy === undefined ? [] : [`posted by ${postedBy}`];
  return {
    at: entry.postedAt ?? at,
    source: "ledger",
    title: `Entry posted: ${enumWords(entry.kind, "INTENT_KIND_")}`,
    details: [`journal entry ${entry.orgSequence}`, ...by, ...lines].join("; "),
    tone: "good",
  };
}

export function signingEvents({ signings, refusals }: Signings): TimelineEvent[] {
  const signed = signings.map(({ signedAt, kind, fromWalletId, toAddress, amountWon }) => ({
    at: signedAt,
    source: "wallet",
    title: "Custody signed",
    details: `${enumWords(kind, "AUTHORIZATION_KIND_")} of ${formatWon(amountWon)} from ${fromWalletId} to ${toAddress || "nobody (burn)"}`,
  }));
  const refused = [...refusals].reverse().map(({ refusedAt, reason, fromWalletId }) => ({
    at: refusedAt,
    source: "wallet",
    title: "Custody refused to sign",
    details: `${fromWalletId}: ${reason}`,
    tone: "bad" as const,
  }));
  return [...signed, ...refused];
}

export function settlementEvents({ operationJson, transactionsJson }: OperationDetails): TimelineEvent[] {
  const operation = parseRow(operationJson);
  const attempts = transactionsJson.map(parseRow).map((version) => ({
    at: textOf(version, "created_at"),
    source: "chain-relayer",
    title: `Transaction made with nonce ${textOf(version, "nonce")}`,
    details: [
      textOf(version, "tx_hash"),
      `at most ${formatGwei(textOf(version, "max_fee_wei"))} for a unit of gas`,
      formatCount(textOf(version, "sends"), "send"),
      textOf(version, "state"),
    ].join(", "),
  }));
  const queued: TimelineEvent = {
    at: textOf(operation, "created_at"),
    source: "chain-relayer",
    title: `Queued for settlement: ${enumWords(textOf(operation, "kind"), "INTENT_KIND_")}`,
  };
  return [queued, ...attempts, ...stateEvent(operation)];
}

/** The present state, at the time of the newest change. */
function stateEvent(operation: Row): TimelineEvent[] {
  const at = textOf(operation, "changed_at");
  const block = textOf(operation, "block_number");
  const reason = textOf(operation, "failure_reason") ?? explainReason(textOf(operation, "wait_reason"));
  const source = "chain-relayer";
  switch (textOf(operation, "state")) {
    case "CONFIRMED":
      return [
        {
          at,
          source,
          title: block === undefined ? "Settled without work on the chain" : `Final in block ${block}`,
          details: textOf(operation, "tx_hash"),
          tone: "good",
        },
      ];
    case "PASSED":
      return [{ at, source, title: "Needs no work on the chain", tone: "good" }];
    case "FAILED":
      return [{ at, source, title: "Failed for good", details: reason, tone: "bad" }];
    case "BLOCKED":
      return [{ at, source, title: "BLOCKED: an operator must end it", details: reason, tone: "bad" }];
    default:
      return [{ at, source, title: waitTitle(operation), details: reason, tone: "waits" }];
  }
}

function waitTitle(operation: Row): string {
  const attempts = textOf(operation, "attempts") ?? "0";
  return `${enumWords(textOf(operation, "state"))} after ${formatCount(attempts, "attempt")}`;
}

export function publicEvents({ events }: ObjectEvents): TimelineEvent[] {
  return events.flatMap(({ event, deliveries }) => [
    {
      at: event?.createdAt,
      source: "events",
      title: `Event ${event?.type}`,
      details: `${event?.eventId}, sequence ${event?.sequence}`,
    },
    ...deliveries.flatMap(({ url, delivery }) =>
      (delivery?.attempts ?? []).map((attempt) => attemptEvent(url, attempt)),
    ),
  ]);
}

type Attempt = NonNullable<
  ObjectEvents["events"][number]["deliveries"][number]["delivery"]
>["attempts"][number];

function attemptEvent(
  url: string,
  { startedAt, number, statusCode, error, durationMs }: Attempt,
): TimelineEvent {
  const isDelivered = statusCode !== undefined && statusCode >= 200 && statusCode < 300;
  return {
    at: startedAt,
    source: "events",
    title: `Webhook attempt ${number}: ${statusCode ?? "no answer"}`,
    details: [url, `${durationMs} ms`, ...(error === undefined ? [] : [error])].join(", "),
    tone: isDelivered ? "good" : "bad",
  };
}

export function depositEvents(deposit: Deposit): TimelineEvent[] {
  const seen: TimelineEvent = {
    at: deposit.createdAt,
    source: "chain-relayer",
    title: `Deposit seen in block ${deposit.blockNumber}`,
    details: `${formatWon(deposit.amountWon)} from ${deposit.fromAddress}, ${deposit.txHash}`,
  };
  const refused: TimelineEvent[] =
    deposit.refusal === undefined
      ? []
      : [{ source: "ledger", title: "Credit refused", details: deposit.refusal, tone: "bad" }];
  const credited: TimelineEvent[] =
    deposit.creditedAt === undefined
      ? []
      : [{ at: deposit.creditedAt, source: "ledger", title: "Deposit credited", tone: "good" }];
  return [seen, ...refused, ...credited];
}

export function recordEvents({ record, requestId, traceId }: RecordDetails): TimelineEvent[] {
  const made: TimelineEvent = {
    at: record?.createdAt,
    source: "gateway",
    title: "Transaction recorded",
    details: `X-Request-Id ${requestId}, trace ${traceId}`,
  };
  const changes = (record?.history ?? []).map(({ changedAt, status, changedBy, reason }) => ({
    at: changedAt,
    source: "chain-relayer",
    title: `${enumWords(status, "RECORD_STATUS_")} by ${changedBy}`,
    details: reason,
  }));
  return [made, ...changes];
}

export function parseRow(json: string): Row {
  try {
    const row: unknown = JSON.parse(json);
    return typeof row === "object" && row !== null ? (row as Row) : {};
  } catch {
    return {};
  }
}

/** Undefined for a missing or null column. Objects are written as JSON. */
export function textOf(row: Row, column: string): string | undefined {
  const value = row[column];
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
