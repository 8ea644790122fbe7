import { childTraceparent } from "@wonrail/kit/context";
import { sql } from "@wonrail/kit/db";
import { createClient, fromErrorDetail } from "@wonrail/kit/grpc/client";
import { type GrpcServer, startGrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { testLog } from "@wonrail/kit/testing";
import { type ItemContext } from "@wonrail/proto/common/v1/common";
import {
  type ExecuteRequest,
  type ExecuteResponse,
  PaymentServiceService,
} from "@wonrail/proto/payment/v1/payment";
import { charge } from "./commands/testing/commands";
import { readJournal } from "./commands/testing/events";
import { openWorld, requestOf, type World } from "./commands/testing/world";
import { rpc } from "./rpc";

let world: World;
let server: GrpcServer;
let client: ReturnType<typeof connect>;

beforeAll(async () => {
  world = await openWorld();
  const door = { host: "127.0.0.1", port: 0, log: testLog(), registry: new Registry() };
  server = await startGrpcServer({ ...door, services: rpc(world.app(), testLog()) });
  client = connect(server.port);
}, 60_000);
afterAll(async () => {
  client.close();
  await server.drain(500);
  await world.close();
});

function connect(port: number) {
  return createClient(PaymentServiceService, {
    name: "payment",
    address: `127.0.0.1:${port}`,
    log: testLog(),
    registry: new Registry(),
    defaultTimeoutMs: 20_000,
  });
}

function chargeOf(walletId: string, context: Partial<ItemContext> = {}, memo?: string): ExecuteRequest {
  const request = requestOf(world.orgId, charge(walletId, 1_000, memo === undefined ? {} : { memo }));
  return { ...request, context: { ...request.context!, ...context } };
}

const codeOf = ({ outcome }: ExecuteResponse) =>
  outcome?.$case === "error" ? outcome.value.code : outcome?.$case;

describe("a bulk call's items", () => {
  test.each([
    ["a minute behind ours", -60_000],
    ["a minute ahead of ours", 60_000],
  ])("keep their caller's deadline when the caller's clock is %s", async (_clock, aheadMs) => {
    const { walletId } = await world.openWallet();
    const serverNowMs = Date.now() + aheadMs;
    const within = (leftMs: number) => ({ deadline: new Date(serverNowMs + leftMs) });
    const items = [24_000, 23_000, -1_000].map((leftMs) => chargeOf(walletId, within(leftMs)));
    const answers = await client.executeBulk({ items }, { timeoutMs: 24_000 });
    expect(answers.items.map(codeOf)).toEqual(["charge", "charge", "SYS_003"]);
    expect(await world.balances(walletId)).toEqual([2_000]);
  });

  test("are REQ_001 when Postgres cannot store their memo or organisation, and the others succeed", async () => {
    const { walletId } = await world.openWallet();
    const items = [
      chargeOf(walletId),
      chargeOf(walletId, { traceparent: "a\0b" }),
      chargeOf(walletId),
      chargeOf(walletId, {}, "a\0b"),
      chargeOf(walletId, { requestId: "a\0b", traceparent: childTraceparent() }),
      chargeOf(walletId, { orgId: "a\0b" }),
      chargeOf(walletId),
    ];
    const answers = await client.executeBulk({ items });
    const [done, refused] = ["charge", "REQ_001"];
    expect(answers.items.map(codeOf)).toEqual([done, done, done, refused, done, refused, done]);
    expect(await world.balances(walletId)).toEqual([5_000]);
  });
});

test("execute throws a new refusal and returns a replayed one", async () => {
  const refused = { ...chargeOf(newId("wal")), idempotencyKey: "again" };
  await expect(client.execute(refused)).rejects.toMatchObject({ code: "WAL_002" });
  expect(await client.execute(refused)).toMatchObject({
    replayed: true,
    outcome: { $case: "error", value: { code: "WAL_002" } },
  });
});

test.each<[string, () => Promise<unknown>]>([
  ["a hash of 31 bytes", () => client.execute({ ...chargeOf(newId("wal")), bodyHash: Buffer.alloc(31) })],
  ["no context", () => client.execute({ ...chargeOf(newId("wal")), context: undefined })],
  ["1,001 items", () => client.executeBulk({ items: Array(1_001).fill(chargeOf(newId("wal"))) })],
])("%s is refused as REQ_001", async (_what, ask) => {
  await expect(ask()).rejects.toMatchObject({ code: "REQ_001" });
});

const asks: [method: string, path: string, ask: (orgId: string) => Promise<unknown>][] = [
  ["execute", "context.orgId", (orgId) => client.execute(chargeOf(newId("wal"), { orgId }))],
  ["executeBulk", "context.orgId", (orgId) => executeAlone(chargeOf(newId("wal"), { orgId }))],
  ["getTransfer", "orgId", (orgId) => client.getTransfer({ orgId, transferId: newId("trf") })],
  ["getCharge", "orgId", (orgId) => client.getCharge({ orgId, chargeId: newId("chg") })],
  ["getRefund", "orgId", (orgId) => client.getRefund({ orgId, refundId: newId("rfd") })],
  ["getPayment", "orgId", (orgId) => client.getPayment({ orgId, paymentId: newId("pay") })],
  ["listTransfers", "orgId", (orgId) => client.listTransfers({ orgId })],
  ["listCharges", "orgId", (orgId) => client.listCharges({ orgId })],
  ["listPayments", "orgId", (orgId) => client.listPayments({ orgId })],
  [
    "listWalletTransactions",
    "orgId",
    (orgId) => client.listWalletTransactions({ orgId, walletId: newId("wal"), types: [] }),
  ],
];

test.each(asks)("%s refuses a malformed organisation id and changes nothing", async (_name, path, ask) => {
  const before = await everything();
  for (const orgId of ["", "acme", "org_1", newId("wal"), "a\0b"])
    await expect(ask(orgId)).rejects.toMatchObject({
      code: "REQ_001",
      details: { fields: [{ path, message: "must be an organisation's id" }] },
    });
  expect(await everything()).toEqual(before);
});

test.each<[what: string, from: Date]>([
  ["outside Date", timeAt(2 ** 62)],
  ["in the year 10000", new Date("+010000-01-01T00:00:00Z")],
])("listWalletTransactions refuses a time %s and names the field", async (_what, from) => {
  const { walletId } = await world.openWallet();
  const wanted = { orgId: world.orgId, walletId, types: [], from };
  await expect(client.listWalletTransactions(wanted)).rejects.toMatchObject({
    code: "REQ_001",
    details: { fields: [{ path: "from", message: "must be a time of the years 1 to 9999" }] },
  });
});

/** A time that only the wire format can hold. */
function timeAt(seconds: number): Date {
  return Object.assign(new Date(), { getTime: () => seconds * 1_000 });
}

async function executeAlone(request: ExecuteRequest): Promise<ExecuteResponse> {
  const [answer] = (await client.executeBulk({ items: [request] })).items;
  if (answer!.outcome?.$case === "error") throw fromErrorDetail(answer!.outcome.value);
  return answer!;
}

async function everything() {
  const { policies } = await world.databases.payment.db.one<{ policies: bigint }>(
    sql`select count(*) as policies from policies`,
  );
  return { policies, entries: (await readJournal(world)).length };
}

test.each<[string, () => Promise<unknown>]>([
  ["a memo", () => client.execute(chargeOf(newId("wal"), {}, "a\0b"))],
  ["an operation's id", () => client.getCharge({ orgId: world.orgId, chargeId: "a\0b" })],
])("%s that cannot be stored is refused as REQ_001", async (_what, ask) => {
  await expect(ask()).rejects.toMatchObject({ code: "REQ_001", details: { fields: [{}] } });
});
