import { WalletCreated } from "@wonrail/proto/wallet/events/v1/events";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { walletChanged, walletCreated } from "./wallets";

const source = { orgId: "org_1", sourceId: "evt_1", occurredAt: new Date(0) };
const created = WalletCreated.fromPartial({
  wallet: { walletId: "wal_1", userId: "user-1", walletType: WalletType.NORMAL, walletAddress: "0x1" },
  ...{ metadata: { branch: "5" }, createdAt: new Date(1_000) },
});
const balance = { balanceWon: 700n, availableWon: 300n };
const state = walletCreated(source, created).apply(undefined)!;

test("a new wallet is active and empty, or has the balance that the ledger told before", () => {
  const change = walletCreated(source, created);
  expect(change).toMatchObject({ ...source, objectId: "wal_1", types: ["wallet.created"] });
  expect(state).toEqual({
    data: {
      ...{ walletId: "wal_1", userId: "user-1", walletType: "NORMAL", walletAddress: "0x1" },
      ...{ balance: 0, availableBalance: 0, status: "ACTIVE", metadata: { branch: "5" } },
      ...{ createdAt: "1970-01-01T00:00:01.000Z", updatedAt: "1970-01-01T00:00:01.000Z" },
    },
    failureReason: null,
  });
  expect(walletCreated(source, created, balance).apply(undefined)!.data).toMatchObject({
    ...{ balance: 700, availableBalance: 300 },
  });
});

test("a changed wallet has the changed fields and the newest balance", () => {
  const changed = { status: "DEACTIVATED", updatedAt: new Date(2_000) } as const;
  const change = walletChanged(
    { ...source, objectId: "wal_1", type: "wallet.deactivated" },
    changed,
    balance,
  );
  expect(change).toMatchObject({ ...source, objectId: "wal_1", types: ["wallet.deactivated"] });
  expect(change).not.toHaveProperty("type");
  expect(change.apply(state)).toEqual({
    failureReason: null,
    data: {
      ...state.data,
      ...{
        balance: 700,
        availableBalance: 300,
        status: "DEACTIVATED",
        updatedAt: "1970-01-01T00:00:02.000Z",
      },
    },
  });
  expect(change.apply(undefined)).toBeUndefined();
});

test("a change without a time keeps the time of the wallet", () => {
  const change = walletChanged({ ...source, objectId: "wal_1", type: "wallet.updated" }, { metadata: {} });
  expect(change.apply(state)!.data).toEqual({ ...state.data, metadata: {} });
});
