import { status } from "@grpc/grpc-js";
import { childTraceparent, runInContext } from "@wonrail/kit/context";
import { rawSql, sql, tx } from "@wonrail/kit/db";
import { DomainError, type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { type CallOptions, createClient, fromErrorDetail } from "@wonrail/kit/grpc/client";
import { type GrpcService } from "@wonrail/kit/grpc/server";
import { eventually, openTestDatabase, startProxy } from "@wonrail/kit/testing";
import { type ErrorDetail } from "@wonrail/proto/common/v1/common";
import { readCallTable, PROCESSES, readText } from "../ops/repository";
import { padded, withLaterEnums, withLaterFields } from "./support/altered";
import { type Call, type ServiceDefinition } from "./support/callRows";
import { CALLS } from "./support/calls";
import { identityOf, parts, serve, type Services, startServices } from "./support/services";
import { makeStory, type Story } from "./support/story";

// Each consumer's calls to each server: the consumer's client and certificate, and the server's
// real validation on a real database. The kit's echo tests (deadlines, limits, codes) hold on these
// edges too.

const MAX_REQUEST_BYTES = 1024 * 1024;
const TIMEOUT_MS = 400;
/**
 * Time in which a call has ended by its own deadline on a slow machine; without one it would take
 * DEFAULT_MS.
 */
const MUCH_LATER_MS = 10_000;
const DEFAULT_MS = 20_000;

const nameOf = ({ caller, method }: Call) => `${caller} → ${method.path.slice(1)}`;
const pairOf = ({ caller, server }: Call) => `${caller} → ${server}`;
/** The first call of each pair stands for the way between the two. */
const PAIRS = CALLS.filter((call, index) => CALLS.findIndex((one) => pairOf(one) === pairOf(call)) === index);

let services: Services;
let story: Story;
let madeByThemselves: string[];
const clients = new Map<string, Client>();
const closers: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  services = await startServices();
  closers.unshift(() => services.close());
  story = await makeStory(services);
  closers.unshift(() => story.gateway.close());
  madeByThemselves = [...services.served].filter((call) => !call.startsWith("gateway "));
  for (const call of PAIRS) clients.set(pairOf(call), openClient(call, services.addressOf(call.server)));
}, 180_000);
afterAll(async () => {
  for (const close of closers) await close();
}, 60_000);

describe("the calls of this test", () => {
  const table = JSON.parse(readText("proto/callers.json")) as Record<string, Record<string, string[]>>;
  const adminServices = JSON.parse(readText("proto/adminRoles.json")) as object;
  // Admin methods are called by no service: ops/adminRoles.test.ts.
  const edges = Object.entries(table).filter(([service]) => !Object.hasOwn(adminServices, service));
  const allowed = edges.flatMap(([service, methods]) =>
    Object.entries(methods).flatMap(([method, callers]) =>
      callers.map((caller) => `${caller} → ${service}/${method}`),
    ),
  );
  const tried = CALLS.map(nameOf);

  it("are exactly those that proto/callers.json allows", () => {
    const missing = allowed.filter((call) => !tried.includes(call));
    const strange = tried.filter((call) => !allowed.includes(call));
    const sentences = [
      ...missing.map((call) => `${call} is allowed by proto/callers.json; add its row to support/calls.ts`),
      ...strange.map((call) => `${call} has a row in support/calls.ts; nobody allows it`),
    ];
    expect(sentences).toEqual([]);
  });

  it("use every edge that ARCHITECTURE.md draws", () => {
    const drawn = [...readCallTable()].flatMap(([from, to]) => to.map((server) => `${from} → ${server}`));
    expect(PAIRS.map(pairOf).sort()).toEqual(drawn.sort());
  });

  it("include the calls that payment and wallet make for the gateway", () => {
    expect(madeByThemselves.sort()).toEqual([
      "payment → wonrail.auth.v1.AuthService/GetOrganisation",
      "payment → wonrail.ledger.v1.LedgerService/ListStatement",
      "payment → wonrail.ledger.v1.LedgerService/PostBulk",
      "payment → wonrail.wallet.v1.WalletService/EnsureWallet",
      "payment → wonrail.wallet.v1.WalletService/FindWalletsByAddress",
      "payment → wonrail.wallet.v1.WalletService/GetWalletFacts",
      "wallet → wonrail.ledger.v1.LedgerService/GetBalances",
      "wallet → wonrail.ledger.v1.LedgerService/Post",
    ]);
  });
});

describe.each(CALLS.map((call) => [nameOf(call), call] as const))("%s", (_name, call) => {
  it("is answered as the consumer expects", async () => {
    expect(await outcomeOf(call, await call.good(story))).toBe("taken");
  });

  it("is answered with fields of a later release", async () => {
    expect(await outcomeOf(call, withLaterFields(await call.good(story)))).toBe("taken");
  });

  const { bad } = call;
  if (bad)
    it(`is refused as malformed: ${bad.refusal}`, async () => {
      expect(await outcomeOf(call, await bad.request(story))).toBe(bad.refusal);
    });
});

test("an enum value of a later release is read neither as another value nor as a fault", async () => {
  const answers: Record<string, string> = {};
  for (const call of CALLS)
    for (const [field, request] of withLaterEnums(call.method, await call.good(story)))
      answers[`${pairOf(call)} ${call.name} ${field}`] = await outcomeOf(call, request);
  expect(answers).toEqual({
    "gateway → auth leaseQuota quota": "REQ_001 quota",
    "gateway → wallet createWallet walletType": "REQ_001 walletType",
    "gateway → wallet listWallets walletType": "REQ_001 walletType",
    "gateway → wallet listWallets status": "REQ_001 status",
    "gateway → chain-relayer createRecord paymentType": "REQ_001 paymentType",
    "gateway → chain-relayer listRecords status": "REQ_001 status",
    "gateway → chain-relayer listRecords paymentType": "REQ_001 paymentType",
    "gateway → chain-relayer updateRecordStatus status": "REQ_001 status",
    "gateway → chain-relayer orderSandboxSettlement order": "REQ_001 order",
    "gateway → events listEvents order": "REQ_001 order",
    "gateway → events createWebhook status": "REQ_001 status",
    "gateway → events createWebhook ordering": "REQ_001 ordering",
    "gateway → events updateWebhook status": "REQ_001 status",
    "gateway → events updateWebhook ordering": "REQ_001 ordering",
    "gateway → events listDeliveries status": "REQ_001 status",
    "gateway → payment createPayout mode": "REQ_001 mode",
    "gateway → payment listCharges status": "REQ_001 status",
    "gateway → payment listPayments status": "REQ_001 status",
    "gateway → payment listPayoutRows status": "REQ_001 status",
    "gateway → payment listPayouts status": "REQ_001 status",
    "gateway → payment listTransfers status": "REQ_001 status",
    "payment → ledger listLines types": "REQ_001 types",
    "payment → ledger listStatement types": "REQ_001 types",
    "payment → wallet ensureWallet walletType": "REQ_001 walletType",
    "wallet → ledger post type": "REQ_001 type",
    "chain-relayer → wallet signAuthorizations kind": "REQ_001 intents.0.kind",
  });
});

describe.each(PAIRS.map((call) => [pairOf(call), call] as const))("%s", (_pair, call) => {
  it("transports every code of the table with its details", async () => {
    const refusing = await serve(call.server, [refuseEveryCall(call.definition)]);
    closers.unshift(() => refusing.drain(100));
    const client = openClient(call, `127.0.0.1:${refusing.port}`);
    const request = await call.good(story);
    for (const [code, { message, retryable }] of Object.entries(errorTable)) {
      const refusal = as(code, () => answerOf(client, call, request));
      await expect(refusal).rejects.toMatchObject({ code, message, retryable, details: DETAILS });
    }
  });

  it("refuses an oversized request, omits oversized metadata, and keeps the connection", async () => {
    const [host, port] = services.addressOf(call.server).split(":");
    const proxy = await startProxy({ target: { host: host!, port: Number(port) } });
    closers.unshift(() => proxy.close());
    const client = openClient(call, `127.0.0.1:${proxy.port}`);
    const send = async (sizeBytes: number, requestId = "short") => {
      const request = padded(await call.good(story), sizeBytes);
      return as(requestId, () => answerOf(client, call, request));
    };
    await send(MAX_REQUEST_BYTES);
    // New connections reach no server from here on.
    proxy.setTarget({ host: "127.0.0.1", port: 1 });
    // No consumer sends this much, so it would be a programming error.
    const tooLarge = { code: "SYS_001", cause: { cause: { code: status.RESOURCE_EXHAUSTED } } };
    await expect(send(MAX_REQUEST_BYTES + 1)).rejects.toMatchObject(tooLarge);
    await send(MAX_REQUEST_BYTES);
    // HTTP/2 would end the whole connection over so large a header.
    await send(10_000, "r".repeat(100_000));
    await send(MAX_REQUEST_BYTES);
  });
});

/** These read no table of their service. */
const WITHOUT_TABLES = [
  ...["getBalanceAt of payment", "setSandboxClock of payment"],
  "getX402Support of chain-relayer",
];

describe.each(PROCESSES.filter(({ schema }) => schema !== undefined))("$name", ({ name, schema }) => {
  const calls = CALLS.filter(
    (call) => call.server === name && !WITHOUT_TABLES.includes(`${call.name} of ${name}`),
  );

  it("ends each call at its deadline, and serves again when the service recovers", async () => {
    const requests = await Promise.all(calls.map((call) => call.good(story)));
    await whileLocked(services.databases.get(name)!.adminUrl, schema!, async () => {
      const startedMs = performance.now();
      const answers = await Promise.all(
        calls.map((call, index) => outcomeOf(call, requests[index]!, { timeoutMs: TIMEOUT_MS })),
      );
      expect(performance.now() - startedMs).toBeLessThan(MUCH_LATER_MS);
      const named = calls.map((call, index) => `${nameOf(call)}: ${answers[index]}`);
      expect(named).toEqual(calls.map((call) => `${nameOf(call)}: SYS_003`));
    });
    for (const call of calls)
      await eventually(async () => expect(await outcomeOf(call, await call.good(story))).toBe("taken"), {
        timeoutMs: 30_000,
      });
  }, 120_000);
});

const DETAILS = { fields: [{ path: "금액", message: "NUL \u0000" }], limit: 3, text: "x".repeat(15_000) };

/** A server of the same contract that answers with the code in the request's id. */
function refuseEveryCall(definition: ServiceDefinition): GrpcService {
  const refuse: GrpcService["handlers"][string] = (_request, { context }) => {
    throw new DomainError(context.requestId as ErrorCode, DETAILS);
  };
  const handlers = Object.fromEntries(Object.keys(definition).map((name) => [name, refuse]));
  return { definition, handlers };
}

function as<T>(requestId: string, work: () => T): T {
  return runInContext({ requestId, traceparent: childTraceparent() }, work);
}

type Answer = Promise<unknown> | AsyncIterable<unknown>;
type Client = Record<string, (request: Buffer, options: CallOptions) => Answer> & { close(): void };

/** The consumer's client with raw request bytes, so that it can send messages of other releases. */
function openClient(pair: Call, address: string): Client {
  const { caller, server } = pair;
  const definitions = CALLS.filter((call) => pairOf(call) === pairOf(pair)).map((call) =>
    Object.entries(call.definition),
  );
  const methods = definitions
    .flat()
    .map(([name, method]) => [name, { ...method, requestSerialize: (request: Buffer) => request }]);
  const options = {
    ...parts(),
    name: server,
    address,
    tls: identityOf(caller),
    defaultTimeoutMs: DEFAULT_MS,
  };
  return createClient(Object.fromEntries(methods) as ServiceDefinition, options);
}

/** "taken", or the refusal's code and field names. */
async function outcomeOf(call: Call, request: Buffer, options: CallOptions = {}): Promise<string> {
  try {
    await answerOf(clients.get(pairOf(call))!, call, request, options);
    return "taken";
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { fields = [] } = (error.details ?? {}) as { fields?: { path: string }[] };
    return [error.code, ...fields.map(({ path }) => path)].join(" ");
  }
}

/** Returns a stream's first message, and waits for the deadline if the call has its own. */
async function answerOf(client: Client, call: Call, request: Buffer, options: CallOptions = {}) {
  const answer = client[call.name]!(request, options);
  if (!(Symbol.asyncIterator in answer)) return unlessRefused(await answer);
  for await (const message of answer) if (options.timeoutMs === undefined) return message;
  return undefined;
}

/** Throws an item's refusal in a bulk answer. */
function unlessRefused(answer: unknown): unknown {
  const lists = Object.values(answer as object).filter(Array.isArray) as { outcome?: Outcome }[][];
  const refused = lists.flat().find(({ outcome }) => outcome?.$case === "error");
  if (refused) throw fromErrorDetail(refused.outcome!.value);
  return answer;
}

interface Outcome {
  $case: string;
  value: ErrorDetail;
}

/** Locks the service's tables during the work. */
async function whileLocked(adminUrl: string, schema: string, work: () => Promise<void>): Promise<void> {
  const admin = openTestDatabase(adminUrl, schema, { max: 1 });
  try {
    await tx(admin, async (tx) => {
      const names = sql`select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = ${schema}`;
      const tables = await tx.query<{ name: string }>(names);
      await tx.run(rawSql(`lock table ${tables.map(({ name }) => name).join(", ")}`));
      await work();
    });
  } finally {
    await admin.close();
  }
}
