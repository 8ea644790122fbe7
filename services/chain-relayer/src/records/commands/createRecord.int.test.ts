import { newId } from "@wonrail/kit/contract/ids";
import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { DomainError } from "@wonrail/kit/contract/errors";
import { MAX_WON, TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { createRecord, type CreateRecordDeps } from "./createRecord";
import { PAYMENT_MANAGER, TOKEN } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { depsForRecords, INCENTIVE, NORMAL, OUTSIDE } from "../../testing/schedules";

const database = freshDatabase();

const IMPOSSIBLE: [string, Record<string, string>, string[]][] = [
  ["nothing", { amount: "0" }, ["amount"]],
  ["half a won", { amount: "1500000" }, ["amount"]],
  ["more than one movement can have", { amount: `${(MAX_WON + 1n) * TOKEN_UNITS_PER_WON}` }, ["amount"]],
  ["to nobody", { toAddress: ZERO_ADDRESS }, ["toAddress"]],
  ["to itself", { toAddress: NORMAL.toLowerCase() }, ["toAddress"]],
  ["to the token", { toAddress: TOKEN }, ["toAddress"]],
  ["to the payment manager", { toAddress: PAYMENT_MANAGER, amount: "0" }, ["toAddress", "amount"]],
];

test.each(IMPOSSIBLE)(
  "%s: no transfer can ever be that, so out of a NORMAL wallet it is refused at once",
  async (_name, change, paths) => {
    const refused = { code: "REQ_001", details: { fields: paths.map((path) => ({ path })) } };
    await expect(schedule(change)).rejects.toMatchObject(refused);
    for (const fromAddress of [INCENTIVE, OUTSIDE])
      expect((await schedule({ ...change, fromAddress })).record.status).toBe("PENDING");
    const elsewhere = { fromNetworkType: "BASE_SEPOLIA", toNetworkType: "BASE_SEPOLIA" };
    expect((await schedule({ ...change, ...elsewhere })).record.run).toBe("UNATTENDED");
  },
);

test("the largest amount of one movement is recorded", async () => {
  const amount = `${MAX_WON * TOKEN_UNITS_PER_WON}`;
  expect((await schedule({ amount })).record.run).toBe("WAITING");
});

test("valid transfers are recorded while the wallet service is away, and invalid ones get a retryable error", async () => {
  const away = { findWalletsByAddress: () => Promise.reject(new DomainError("SYS_002")) };
  expect((await schedule({}, { wallet: away })).record.run).toBe("WAITING");
  await expect(schedule({ amount: "0" }, { wallet: away })).rejects.toMatchObject({ code: "SYS_002" });
});

function schedule(change: Record<string, string>, other: Partial<CreateRecordDeps> = {}) {
  const fields = {
    fromNetworkType: "WON_TESTNET",
    toNetworkType: "WON_TESTNET",
    fromAddress: NORMAL,
    toAddress: OUTSIDE,
    amount: "1000000",
    scheduledAt: new Date(Date.now() + 3_600_000),
    ...change,
  };
  const deps = { ...depsForRecords(database.db), ...other };
  return createRecord(deps, { orgId: newId("org"), paymentType: "SCHEDULED", fields, key: null });
}
