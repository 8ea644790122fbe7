import { isoTime, walletJson } from "@wonrail/kit/records";
import { type WalletCreated } from "@wonrail/proto/wallet/events/v1/events";
import { WalletStatus } from "@wonrail/proto/wallet/v1/wallet";
import { type Change, type ObjectData, type ObjectState } from "./change";
import { type EventType } from "@wonrail/kit/contract/eventTypes";

export interface Balance {
  balanceWon: bigint;
  availableWon: bigint;
}

/** A wallet without a ledger entry holds nothing. */
const EMPTY: Balance = { balanceWon: 0n, availableWon: 0n };

type Source = Pick<Change, "orgId" | "sourceId" | "occurredAt">;

export function walletCreated(
  source: Source,
  { wallet, metadata, createdAt }: WalletCreated,
  balance: Balance = EMPTY,
): Change {
  const data = walletJson({
    ...wallet!,
    ...{ metadata, createdAt, updatedAt: createdAt, status: WalletStatus.ACTIVE },
    balanceWon: balance.balanceWon.toString(),
    availableBalanceWon: balance.availableWon.toString(),
  });
  return {
    ...source,
    ...{ objectId: wallet!.walletId, types: ["wallet.created"] },
    apply: () => ({ data, failureReason: null }),
  };
}

/** A wallet that is not known yields no event: the wallet's own feed brings `wallet_created` first. */
export function walletChanged(
  source: Source & { objectId: string; type: EventType },
  changed: {
    metadata?: Record<string, string>;
    status?: "ACTIVE" | "DEACTIVATED";
    updatedAt?: Date | undefined;
  },
  balance: Balance = EMPTY,
): Change {
  const { type, ...rest } = source;
  const { updatedAt, ...fields } = changed;
  return {
    ...rest,
    types: [type],
    apply: (state) => state && withFields(state, { ...fields, ...balanceJson(balance), ...time(updatedAt) }),
  };
}

function withFields(state: ObjectState, fields: ObjectData): ObjectState {
  return { ...state, data: { ...state.data, ...fields } };
}

function balanceJson({ balanceWon, availableWon }: Balance) {
  return { balance: Number(balanceWon), availableBalance: Number(availableWon) };
}

function time(updatedAt: Date | undefined) {
  return updatedAt === undefined ? {} : { updatedAt: isoTime(updatedAt) };
}
