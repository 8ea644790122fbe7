import {
  type Drift as DriftMessage,
  type GetDepositResponse,
  type OpenOperation as OpenOperationMessage,
  OperationEnding,
  type SignerFunds as FundsMessage,
} from "@wonrail/proto/relayer/v1/admin";
import { type DepositView } from "./deposits";
import { type Drift } from "./reconciliation";
import { type SignerFunds } from "./sender";
import { type Decision, type OpenOperation } from "./settlement";

/** Converts what operators see into messages. */

export function openOperationMessage({
  waitReason,
  txHash,
  ageSeconds,
  endings,
  ...rest
}: OpenOperation): OpenOperationMessage {
  return {
    ...rest,
    waitReason: waitReason ?? undefined,
    txHash: txHash ?? undefined,
    ageSeconds: Math.max(0, Math.round(ageSeconds)),
    endings: endings.map(endingMessage),
  };
}

export function endingMessage(decision: Decision): OperationEnding {
  return OperationEnding[decision.toUpperCase() as Uppercase<Decision>];
}

export function driftMessage({
  acknowledgedAt,
  acknowledgedBy,
  resolvedAt,
  expected,
  actual,
  ...rest
}: Drift): DriftMessage {
  return {
    ...rest,
    expected: expected.toString(),
    actual: actual.toString(),
    acknowledgedAt: acknowledgedAt ?? undefined,
    acknowledgedBy: acknowledgedBy ?? undefined,
    resolvedAt: resolvedAt ?? undefined,
  };
}

export function depositMessage({
  ledgerRef: _,
  units,
  amountWon,
  refusal,
  creditedAt,
  ...rest
}: DepositView): GetDepositResponse {
  return {
    ...rest,
    units: units.toString(),
    amountWon: amountWon.toString(),
    refusal: refusal ?? undefined,
    creditedAt: creditedAt ?? undefined,
  };
}

export function fundsMessage(
  address: string,
  { balanceWei, measuredAt, spentWei, spentOverSeconds }: SignerFunds,
): FundsMessage {
  const canLast = balanceWei !== null && spentWei > 0n;
  return {
    address,
    balanceWei: balanceWei?.toString(),
    measuredAt: measuredAt ?? undefined,
    spentWei: spentWei.toString(),
    spentOverSeconds,
    lastsSeconds: canLast ? (balanceWei * BigInt(spentOverSeconds)) / spentWei : undefined,
  };
}
