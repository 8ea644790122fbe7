import { DepositCredited } from "@wonrail/proto/relayer/events/v1/events";
import { depositCredited } from "./deposits";

test("a credited deposit is confirmed on the chain", () => {
  const source = { orgId: "org_1", sourceId: "evt_1", occurredAt: new Date(0) };
  const change = depositCredited(
    source,
    DepositCredited.fromPartial({
      ...{ ledgerRef: "dep_1", walletId: "wal_1", amountWon: "700", network: "WON_TESTNET", txHash: "0x5f" },
      ...{ blockNumber: 129n, fromAddress: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8" },
    }),
  );
  expect(change).toMatchObject({ ...source, objectId: "dep_1", types: ["deposit.credited"] });
  expect(change.apply(undefined)).toEqual({
    failureReason: null,
    data: {
      ...{ depositId: "dep_1", walletId: "wal_1", amount: 700, createdAt: "1970-01-01T00:00:00.000Z" },
      fromAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      settlement: { status: "CONFIRMED", network: "WON_TESTNET", txHash: "0x5f", blockNumber: 129 },
    },
  });
});
