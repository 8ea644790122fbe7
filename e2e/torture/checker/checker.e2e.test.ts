import { appendFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rawSql } from "@wonrail/kit/db";
import { asAdmin } from "../../support/asAdmin";
import { newOrganisation } from "../../support/operators";
import { startStack, type TestStack } from "../../support/startStack";
import { withinOneDay } from "../../support/withinOneDay";
import { driveStack, type Drive } from "./testing/driveStack";
import { readUnfinished } from "./unfinished";
import { checkRun, collectFacts, describeRun } from "./index";

jest.setTimeout(900_000);

const PATIENCE_MS = 240_000;

let stack: TestStack;
let drive: Drive;
const folder = mkdtempSync(join(tmpdir(), "checker-"));

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
  const options = ["--incentive-bps", "500", "--daily-limit", "1000000000"];
  const organisations = [
    await newOrganisation(stack.stack(), ...options),
    await newOrganisation(stack.stack(), ...options),
  ];
  await withinOneDay(120_000);
  drive = await driveStack(stack.stack(), organisations, { folder, operations: 150, seed: 1 });
  await untilDone();
  drive.writeDeliveries();
});
afterAll(async () => {
  await drive?.close();
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const OBSERVED = { samples: [], forgedDeliveries: [], verification: null };
const collect = () => collectFacts(drive.historyFile, drive.access, OBSERVED);

test("a run without faults has no violation", async () => {
  await collect();
  expect(await checkRun(drive.historyFile)).toEqual([]);
});

interface Planted {
  schema: string;
  change: string;
  undo: string;
  /** The checks that find it. */
  checks: string[];
}

const ONE_ACCOUNT = "id = (select id from accounts where type = 1 order by balance_won desc, id limit 1)";
const ONE_POSTING =
  "(account_number, sequence) = (select min(account_number), 1 from postings where sequence = 1)";
const ONE_KEY =
  "request_id = (select request_id from request_keys where scope = 'CHARGE' order by request_id limit 1)";
const ONE_CHARGE = "charge_id = (select min(charge_id) from charges)";
const ONE_TRANSFER = "transfer_id = (select min(transfer_id) from transfers where to_wallet_id is not null)";
const ONE_EVENT = "sequence = 1 and org_id = (select min(org_id) from webhooks)";
const ONE_OPERATION = "ledger_ref = (select min(ledger_ref) from operations where ledger_ref like 'chg%')";
const ONE_REFUND = "refund_id = (select min(refund_id) from refunds)";

/** Changes of one row that the owner of the database can make. */
const PLANTED: Record<string, Planted> = {
  "an account with one KRW more": {
    schema: "ledger",
    change: `update accounts set balance_won = balance_won + 1 where ${ONE_ACCOUNT}`,
    undo: `update accounts set balance_won = balance_won - 1 where ${ONE_ACCOUNT}`,
    checks: ["chain", "journal"],
  },
  "a posting with one KRW more": {
    schema: "ledger",
    change: `update postings set amount_won = amount_won + 1 where ${ONE_POSTING}`,
    undo: `update postings set amount_won = amount_won - 1 where ${ONE_POSTING}`,
    checks: ["journal"],
  },
  "an entry whose key is another": {
    schema: "ledger",
    change: `update request_keys set key = key || '-other' where ${ONE_KEY}`,
    undo: `update request_keys set key = replace(key, '-other', '') where ${ONE_KEY}`,
    checks: ["effects", "wallets"],
  },
  "a record with another amount": {
    schema: "payment",
    change: `update charges set amount_won = amount_won + 1 where ${ONE_CHARGE}`,
    undo: `update charges set amount_won = amount_won - 1 where ${ONE_CHARGE}`,
    checks: ["acknowledged"],
  },
  "a transfer that is PENDING again": {
    schema: "payment",
    change: `update transfers set status = 'PENDING' where ${ONE_TRANSFER}`,
    undo: `update transfers set status = 'COMPLETED' where ${ONE_TRANSFER}`,
    checks: ["unfinished"],
  },
  "an event with another number of its object": {
    schema: "events",
    change: `update events set object_sequence = object_sequence + 1 where ${ONE_EVENT}`,
    undo: `update events set object_sequence = object_sequence - 1 where ${ONE_EVENT}`,
    checks: ["deliveries", "events"],
  },
  "a settled charge that is FAILED": {
    schema: "chain_relayer",
    change: `update operations set state = 'FAILED', failure_reason = 'planted', proof_block_hash = '0x0' where ${ONE_OPERATION}`,
    undo: `update operations set state = 'CONFIRMED', failure_reason = null, proof_block_hash = null where ${ONE_OPERATION}`,
    checks: ["chain"],
  },
  "a row that names another organisation's wallet": {
    schema: "payment",
    change: `update refunds r set reference = (
      select wallet_id from refunds o where o.org_id <> r.org_id order by 1 limit 1) where ${ONE_REFUND}`,
    undo: `update refunds set reference = null where ${ONE_REFUND}`,
    checks: ["acknowledged", "tenants"],
  },
};

test.each(Object.entries(PLANTED))("%s is found", async (_, { schema, change, undo, checks }) => {
  const run = (statement: string) =>
    asAdmin(stack.stack(), schema, (db) => db.write(rawSql(`${statement} returning 1`)));
  expect(await run(change)).toHaveLength(1);
  try {
    await collect();
    const { violations, text } = await describeRun(drive.historyFile);
    // An answer that reads the changed row adds its own check.
    expect(violations.map(({ check }) => check)).toEqual(expect.arrayContaining(checks));
    expect(text).toContain(violations[0]!.message);
  } finally {
    await run(undo);
  }
});

test("an answer that names another organisation's id is found", async () => {
  const [own, other] = drive.access.organisations;
  const call = {
    operation: 1_000_000,
    attempt: 1,
    client: 1,
    organisation: own!.code,
    name: "wallet.balance",
  };
  const answer = {
    kind: "answer",
    at: 1,
    ...call,
    status: 200,
    replayed: false,
    body: { data: { orgId: other!.id } },
  };
  const lines = [{ kind: "call", at: 0, method: "GET", path: "/", ...call }, answer];
  await collect();
  const copy = mkdtempSync(join(tmpdir(), "checker-"));
  cpSync(folder, copy, { recursive: true });
  const historyFile = join(copy, basename(drive.historyFile));
  appendFileSync(historyFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const violations = await checkRun(historyFile);
  rmSync(copy, { recursive: true });
  expect(violations).toEqual([
    expect.objectContaining({ check: "tenants", organisation: own!.code, operations: [1_000_000] }),
  ]);
});

/** Waits until the services have no open work and every event has arrived. */
async function untilDone(): Promise<void> {
  const pending = rawSql("select 1 from deliveries where status = 'PENDING'");
  for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(500)) {
    const open = await readUnfinished(drive.access);
    const deliveries = await asAdmin(stack.stack(), "events", (db) => db.query(pending));
    if (open.length === 0 && deliveries.length === 0) return;
    if (Date.now() > endMs) throw new Error(`still open: ${JSON.stringify([open, deliveries.length])}`);
  }
}
