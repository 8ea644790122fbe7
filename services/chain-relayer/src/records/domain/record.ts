import { type Address, readAddress, sameAddress, ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { DomainError, type FieldProblem, invalidRequest, never } from "@wonrail/kit/contract/errors";
import { noteProblems, textProblems } from "@wonrail/kit/contract/notes";
import { MAX_WON, TOKEN_UNITS_PER_WON, type Won, won } from "@wonrail/kit/contract/money";
import { TX_HASH_FORM } from "@wonrail/kit/contract/txHash";

export type PaymentType = "INSTANT" | "SCHEDULED";
export type RecordStatus = "PENDING" | "CONFIRMED" | "FAILED";

/** Work of the service on a record; see the table. */
export type Run = "WATCHED" | "WAITING" | "STARTED" | "SENT" | "UNATTENDED" | "DONE";

/** A transaction that a partner has recorded. Amounts are in the token's smallest unit. */
export interface TransactionRecord extends RecordFields {
  orgId: string;
  recordId: string;
  status: RecordStatus;
  failureReason: string | null;
  /** All pairs after the last change of them. Null: they were not changed. */
  changedMetadata: Record<string, string> | null;
  run: Run;
  /** The real time at which the test clock of the sandbox shows `scheduledAt`. Null: they are equal. */
  dueAt: Date | null;
  transferId: string | null;
  attempts: number;
  version: bigint;
  /** Request that created it; later events carry its id. */
  requestId: string;
  traceparent: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface RecordFields {
  fromNetwork: string;
  toNetwork: string;
  paymentType: PaymentType;
  fromAddress: Address;
  toAddress: Address;
  /** In lower case. */
  txHash: string | null;
  amount: bigint;
  fee: bigint | null;
  memo: string | null;
  reference: string | null;
  /** The pairs of the request. */
  metadata: Record<string, string>;
  scheduledAt: Date | null;
}

export type ChangedBy = "api" | "chain" | "scheduler";

/** One change of a record: new state, reason and author. */
export interface RecordChange {
  version: bigint;
  status: RecordStatus;
  scheduledAt: Date | null;
  reason: string | null;
  changedBy: ChangedBy;
  changedAt: Date;
}

/** The fields as they arrive. */
export interface GivenFields {
  fromNetworkType: string;
  toNetworkType: string;
  fromAddress: string;
  toAddress: string;
  txHash?: string | undefined;
  amount: string;
  fee?: string | undefined;
  memo?: string | undefined;
  reference?: string | undefined;
  metadata?: Record<string, string> | undefined;
  scheduledAt?: Date | undefined;
}

const DAY_MS = 86_400_000;
const MAX_REASON_CHARACTERS = 500;
const NETWORK = /^[A-Z][A-Z0-9_]{0,39}$/;
const UNITS = /^(0|[1-9][0-9]{0,77})$/;

/** An amount in the token's smallest unit. */
export function isUnits(text: string): boolean {
  return UNITS.test(text);
}

/** Reads a new record, and names every field that is wrong. */
export function readFields(paymentType: PaymentType, given: GivenFields, now: Date): RecordFields {
  const problems: FieldProblem[] = [];
  const check = (holds: boolean, path: string, message: string) => {
    if (!holds) problems.push({ path, message });
  };
  const { fromNetworkType, toNetworkType, txHash, amount, fee, scheduledAt } = given;
  const { memo, reference, metadata = {} } = given;
  const fromAddress = readAddress(given.fromAddress);
  const toAddress = readAddress(given.toAddress);
  check(NETWORK.test(fromNetworkType), "fromNetworkType", "is not the name of a network");
  check(NETWORK.test(toNetworkType), "toNetworkType", "is not the name of a network");
  check(fromAddress !== null, "fromAddress", NOT_AN_ADDRESS);
  check(toAddress !== null, "toAddress", NOT_AN_ADDRESS);
  check(isUnits(amount), "amount", NOT_UNITS);
  check(fee === undefined || isUnits(fee), "fee", NOT_UNITS);
  problems.push(...noteProblems({ memo, reference, metadata }));
  if (paymentType === "INSTANT") {
    check(TX_HASH_FORM.test(txHash ?? ""), "txHash", "must be 0x and 64 hex digits");
    check(scheduledAt === undefined, "scheduledAt", "goes with paymentType SCHEDULED only");
  } else {
    check(txHash === undefined, "txHash", "goes with paymentType INSTANT only");
    check(isFuture(scheduledAt, now), "scheduledAt", NOT_IN_FUTURE);
    check(
      fromNetworkType === toNetworkType,
      "toNetworkType",
      "must equal fromNetworkType in a SCHEDULED transaction",
    );
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return {
    fromNetwork: fromNetworkType,
    toNetwork: toNetworkType,
    paymentType,
    fromAddress: fromAddress!,
    toAddress: toAddress!,
    txHash: txHash?.toLowerCase() ?? null,
    amount: BigInt(amount),
    fee: fee === undefined ? null : BigInt(fee),
    memo: memo ?? null,
    reference: reference ?? null,
    metadata,
    scheduledAt: scheduledAt ?? null,
  };
}

/** The record as created, from the first entry of its history. */
export function asMade(
  record: TransactionRecord,
  { scheduledAt, version }: Pick<RecordChange, "scheduledAt" | "version">,
): TransactionRecord {
  // A scheduled record's hash is the transfer's, which came later.
  const txHash = record.paymentType === "INSTANT" ? record.txHash : null;
  const outcome = { status: "PENDING" as const, failureReason: null, txHash, changedMetadata: null };
  return { ...record, ...outcome, scheduledAt, version, updatedAt: record.createdAt };
}

/** The real time at which a scheduled record is due. */
export function dueTimeOf({ dueAt, scheduledAt }: Pick<TransactionRecord, "dueAt" | "scheduledAt">): Date {
  return (dueAt ?? scheduledAt)!;
}

/**
 * The real time at which a clock that is ahead shows this time, and null when it is not ahead. Not
 * before the creation, because the transfer's id contains it.
 */
export function realDueTime(scheduledAt: Date | null, createdAt: Date, offsetMs: number): Date | null {
  if (scheduledAt === null || offsetMs === 0) return null;
  return new Date(Math.max(createdAt.getTime(), scheduledAt.getTime() - offsetMs));
}

/** Work on a new record. The service knows one network, so both ends must be on it. */
export function firstRun({ paymentType, fromNetwork, toNetwork }: RecordFields, ourNetwork: string): Run {
  if (fromNetwork !== ourNetwork || toNetwork !== ourNetwork) return "UNATTENDED";
  return paymentType === "INSTANT" ? "WATCHED" : "WAITING";
}

/**
 * Returns true when the owner's status changes the record, and false when it is already set. After
 * the start of a scheduled transfer only the chain decides.
 */
export function statusChanges(
  record: Pick<TransactionRecord, "status" | "run">,
  wanted: RecordStatus,
): boolean {
  if (wanted === record.status) return false;
  if (record.status !== "PENDING" || isRunning(record.run))
    throw new DomainError("TX_003", { status: record.status });
  return true;
}

export function readReason(wanted: RecordStatus, reason: string | undefined): string | null {
  if (reason === undefined) return null;
  const path = "failureReason";
  if (wanted !== "FAILED") throw invalidRequest([{ path, message: "goes with the status FAILED only" }]);
  const problems = textProblems(path, reason, MAX_REASON_CHARACTERS);
  if (problems.length > 0) throw invalidRequest(problems);
  return reason;
}

/** Returns true when the time changes, and false when it is already set. */
export function scheduleChanges(
  { status, paymentType, run, scheduledAt }: TransactionRecord,
  wanted: Date,
  now: Date,
): boolean {
  // Accepted also after the start: the first answer may have been lost.
  if (scheduledAt?.getTime() === wanted.getTime()) return false;
  const refuse = (reason: string) => new DomainError("TX_004", { status, reason });
  if (paymentType !== "SCHEDULED") throw refuse("not_scheduled");
  if (status !== "PENDING") throw refuse("not_pending");
  if (isRunning(run)) throw refuse("transfer_started");
  if (!isFuture(wanted, now)) throw invalidRequest([{ path: "scheduledAt", message: NOT_IN_FUTURE }]);
  return true;
}

/** The amount in KRW, or the reason why it cannot be transferred. */
export function transferableWon(amount: bigint): { amountWon: Won } | { problem: string } {
  if (amount === 0n) return { problem: "amount_is_zero" };
  if (amount % TOKEN_UNITS_PER_WON !== 0n) return { problem: "amount_is_not_whole_won" };
  const amountWon = won(amount / TOKEN_UNITS_PER_WON);
  return amountWon > MAX_WON ? { problem: "amount_is_too_large" } : { amountWon };
}

/** Lists every field that makes a transfer from a NORMAL wallet impossible, by payment's rules. */
export function findTransferProblem(
  { fromAddress, toAddress, amount }: Pick<RecordFields, "fromAddress" | "toAddress" | "amount">,
  contracts: string[],
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const isOneOf = (addresses: string[]) => addresses.some((one) => sameAddress(one, toAddress));
  if (isOneOf([ZERO_ADDRESS, ...contracts])) problems.push({ path: "toAddress", message: CANNOT_RECEIVE });
  if (isOneOf([fromAddress])) problems.push({ path: "toAddress", message: "must not be fromAddress" });
  if ("problem" in transferableWon(amount)) problems.push({ path: "amount", message: NOT_WHOLE_WON });
  return problems;
}

/** Pause until the next look-up, which grows with the hash's age up to a day. */
export function nextCheckMs(ageMs: number): number {
  return Math.min(Math.max(ageMs / 10, 1_000), DAY_MS);
}

/** A hash that no node has seen for so long is not looked up again. */
export const LAST_CHECK_MS = 30 * DAY_MS;

/**
 * The first field in which the record differs from every transfer of our token in its transaction;
 * null if one matches. `token` if our token did not move there.
 */
export function differingField(
  { fromAddress, toAddress, amount }: Pick<RecordFields, "fromAddress" | "toAddress" | "amount">,
  transfers: readonly { from: string; to: string; units: bigint }[],
): "token" | "fromAddress" | "toAddress" | "amount" | null {
  if (transfers.length === 0) return "token";
  const ofSender = transfers.filter(({ from }) => sameAddress(from, fromAddress));
  if (ofSender.length === 0) return "fromAddress";
  const toReceiver = ofSender.filter(({ to }) => sameAddress(to, toAddress));
  if (toReceiver.length === 0) return "toAddress";
  return toReceiver.some(({ units }) => units === amount) ? null : "amount";
}

function isRunning(run: Run): boolean {
  switch (run) {
    case "STARTED":
    case "SENT":
      return true;
    case "WATCHED":
    case "WAITING":
    case "UNATTENDED":
    case "DONE":
      return false;
    default:
      return never(run);
  }
}

function isFuture(time: Date | undefined, now: Date): boolean {
  return time !== undefined && time.getTime() > now.getTime();
}

const CANNOT_RECEIVE = "must not be the zero address, the token or the payment manager, which cannot receive";
const NOT_WHOLE_WON =
  "must be whole KRW out of a NORMAL wallet of yours: " +
  `a multiple of ${TOKEN_UNITS_PER_WON}, from that to ${MAX_WON * TOKEN_UNITS_PER_WON}`;
const NOT_AN_ADDRESS = "must be 0x and 40 hex digits, with a correct checksum if mixed-case";
const NOT_UNITS = "must be a whole number in digits, without sign, point or leading zeros";
const NOT_IN_FUTURE = "must be in the future";
