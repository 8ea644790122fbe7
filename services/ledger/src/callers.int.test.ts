import { chargeOf } from "./domain/testing/requests";
import { makeAuthority } from "@wonrail/kit/testing/certificates";
import { createClient } from "@wonrail/kit/grpc/client";
import { type GrpcServer, startGrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { sql } from "@wonrail/kit/db";
import { callersOf } from "@wonrail/kit/service";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { createApp } from "./app";
import {
  balancesOf,
  messageOf,
  requestOf,
  startTestLedger,
  type TestLedger,
} from "./commands/testing/ledger";
import { type Intent } from "./domain/intents";
import { rpc } from "./rpc";

// The certificate of a caller decides which intents it may post.

const authority = makeAuthority("wonrail test authority");
let ledger: TestLedger;
let server: GrpcServer;
const closers: (() => Promise<void> | void)[] = [];
const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);

beforeAll(async () => {
  ledger = await startTestLedger();
  const config = {
    BATCH_QUEUES: 2,
    MAX_BATCH: 1_000,
    MAX_QUEUE: 20_000,
    MAX_CHARGED_PER_DAY_WON: 1_000_000,
  } as never;
  const parts = { log: testLog(), registry: testRegistry() };
  const services = rpc(await createApp({ ...parts, config, db: ledger.database.db, onClose }));
  const tls = authority.issue("ledger", ["DNS:ledger"]);
  const door = { host: "127.0.0.1", port: 0, tls, callers: callersOf("ledger", services) };
  server = await startGrpcServer({ ...parts, ...door, services });
});
afterAll(async () => {
  await server.drain(100);
  for (const close of closers) await close();
  await ledger.close();
});

/** A client with the caller's certificate; without a caller, with none. */
function as(caller?: string) {
  const client = createClient(LedgerServiceService, {
    name: "ledger",
    address: `127.0.0.1:${server.port}`,
    log: testLog(),
    registry: testRegistry(),
    // Without a certificate there is no answer to wait for.
    defaultTimeoutMs: caller === undefined ? 2_000 : 20_000,
    tls: caller === undefined ? undefined : authority.issue(caller, [`DNS:${caller}`]),
  });
  closers.unshift(() => client.close());
  return client;
}

const message = (intent: Intent) => messageOf(requestOf(ledger.orgId, intent, { requestId: newId("opn") }));

test("an intent that its caller may not post is refused with a code and changes nothing", async () => {
  const walletId = await ledger.open("kim");
  const charge: Intent = chargeOf(walletId, 1_000n);
  const credit: Intent = { kind: "creditExternal", walletId, amountWon: won(1_000n), chainLogId: "1:0xab:0" };
  await expect(as("gateway").post(message(charge))).rejects.toMatchObject({ code: "SYS_001" });
  await expect(as("chain-relayer").post(message(charge))).rejects.toMatchObject({ code: "SYS_001" });
  await expect(as("wallet").post(message(charge))).rejects.toMatchObject({ code: "REQ_001" });
  await expect(as("payment").post(message(credit))).rejects.toMatchObject({ code: "REQ_001" });
  await expect(as("wallet").postBulk({ items: [message(charge)] })).rejects.toMatchObject({
    code: "SYS_001",
  });
  const { outcomes } = await as("chain-relayer").postBulk({ items: [message(charge)] });
  expect(outcomes).toMatchObject([{ outcome: { $case: "error", value: { code: "REQ_001" } } }]);
  await expect(as().post(message(charge))).rejects.toMatchObject({
    code: expect.stringMatching(/SYS_00[23]/) as string,
  });
  expect(await balancesOf(ledger, [walletId])).toEqual([0n]);
});

test("an intent of the caller is posted", async () => {
  const walletId = newId("wal");
  await as("wallet").post(message({ kind: "openAccount", walletId, userId: "lee", type: "NORMAL" }));
  await as("payment").post(message(chargeOf(walletId, 1_000n)));
  const credit: Intent = { kind: "creditExternal", walletId, amountWon: won(500n), chainLogId: "1:0xcd:0" };
  const { outcomes } = await as("chain-relayer").postBulk({ items: [message(credit)] });
  expect(outcomes[0]!.outcome?.$case).toBe("posted");
  expect(await balancesOf(ledger, [walletId])).toEqual([1_500n]);
  const posters = await ledger.database.db.query<{ posted_by: string }>(sql`
    select distinct posted_by from entries where posted_by is not null order by 1`);
  expect(posters.map(({ posted_by: poster }) => poster)).toEqual(["chain-relayer", "payment", "wallet"]);
  expect(await ledger.violations()).toEqual([]);
});
