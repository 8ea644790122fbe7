import { randomUUID } from "node:crypto";
import { rawSql, tx } from "@wonrail/kit/db";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { idAt } from "@wonrail/kit/contract/ids";
import { createLane } from "@wonrail/kit/lane";
import { testLog } from "@wonrail/kit/testing";
import { type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { type Claim, takeAbandonedOperations } from "../store/operations";
import { claimKeys } from "./claimKeys";
import { execute, type ExecuteDeps } from "./execute";
import { type Decided, recordOutcomes } from "./recordOutcomes";
import { asOwner, type Command, openWorld, requestOf, type World } from "./testing/world";

// What a caller is told when something fails that nobody expects: never "failed" of what will be brought to its end.

let world: World;

beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.close());

test.each([
  ["the ledger does not let payment in", { post: () => Promise.reject(new DomainError("SYS_001")) }],
  ["the call fails as nothing that is known", { post: () => Promise.reject(new Error("no such thing")) }],
  [
    "the outcome cannot be written down",
    { record: () => Promise.reject(new Error("column does not exist")) },
  ],
])(
  "%s: the outcome is unknown, the operation stays open, and the same key goes on with it",
  async (_, broken) => {
    const { walletId } = await world.openWallet();
    const key = randomUUID();
    const request = requestOf(world.orgId, charge(walletId), key);
    await expect(execute(depsWith(broken), request)).rejects.toMatchObject({ code: "SYS_003" });
    expect(await stateOf(key)).toBe("CLAIMED");
    expect(await world.execute(charge(walletId), key)).toMatchObject({
      replayed: true,
      outcome: { $case: "charge" },
    });
    expect(await world.balances(walletId)).toEqual([1_000]);
  },
);

test("what is asked for under an id is done under that, and an id of another kind is refused", async () => {
  const { walletId } = await world.openWallet();
  const ask = (operationId: string) =>
    execute(depsWith({}), { ...requestOf(world.orgId, charge(walletId), randomUUID()), operationId });
  const chargeId = idAt("chg", Date.now(), "rent");
  expect(await ask(chargeId)).toMatchObject({ outcome: { value: { chargeId } } });
  await expect(ask(idAt("trf", Date.now(), "rent"))).rejects.toMatchObject({ code: "REQ_001" });
  expect(await world.balances(walletId)).toEqual([1_000]);
});

describe("what a replica of the ledger says without having decided it", () => {
  const unknownIntent = invalidRequest([
    { path: "intent", message: "is missing or unknown to this release" },
  ]);
  const goneMonth = invalidRequest([{ path: "requestId", message: "is from a time that is not reached" }]);

  test.each([
    ["another release", unknownIntent, "RELEASED"],
    // An id that no replica takes: the key gets another one.
    ["another window", goneMonth, undefined],
  ])("of %s is let go by who is alone with it, and the same key does it", async (_, refusal, state) => {
    const { walletId } = await world.openWallet();
    const key = randomUUID();
    const asked = execute(
      depsWith({ post: () => Promise.reject(refusal) }),
      requestOf(world.orgId, charge(walletId), key),
    );
    await expect(asked).rejects.toMatchObject({ code: "SYS_002", cause: refusal });
    expect(await stateOf(key)).toBe(state);
    await world.execute(charge(walletId), key);
    expect(await world.balances(walletId)).toEqual([1_000]);
  });

  test.each([
    ["of another release, to who was stopped while somebody else went on", unknownIntent],
    ["of another window, to who was stopped while somebody else went on", goneMonth],
    ["that reads the request otherwise", new DomainError("REQ_003")],
  ])("%s is not written down as refused: it was posted", async (_, refusal) => {
    const { walletId } = await world.openWallet();
    const key = randomUUID();
    const post: ExecuteDeps["post"] = async (request) => {
      await world.ledger().post(request);
      await asOwner(
        world.payment,
        `update operations set updated_at = clock_timestamp() where operation_id = '${request.requestId}'`,
      );
      throw refusal;
    };
    const asked = execute(depsWith({ post }), requestOf(world.orgId, charge(walletId), key));
    await expect(asked).rejects.toMatchObject({ code: "SYS_003" });
    expect(await stateOf(key)).toBe("CLAIMED");
    expect(await world.execute(charge(walletId), key)).toMatchObject({ outcome: { $case: "charge" } });
    expect(await world.balances(walletId)).toEqual([1_000]);
  });
});

test("who hears that nothing was done lets nothing go that the completer has taken up meanwhile", async () => {
  const { walletId } = await world.openWallet();
  const key = randomUUID();
  const post: ExecuteDeps["post"] = async () => {
    await tx(world.payment.db, (tx) => takeAbandonedOperations(tx, 0, 100));
    throw new DomainError("SYS_002");
  };
  const asked = execute(depsWith({ post }), requestOf(world.orgId, charge(walletId), key));
  await expect(asked).rejects.toMatchObject({ code: "SYS_003" });
  expect(await stateOf(key)).toBe("CLAIMED");
});

test("a fact that does not come in time: nobody has begun it, and that is what is said", async () => {
  const [from, to] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const key = randomUUID();
  const value = {
    fromWalletId: from.walletId,
    toWalletAddress: to.address,
    amountWon: "1000",
    memo: undefined,
  };
  const command: Command = { $case: "transfer", value };
  const silent = { facts: { walletAt: () => Promise.reject(new DomainError("SYS_003")) } };
  const asked = execute(depsWith(silent), requestOf(world.orgId, command, key));
  await expect(asked).rejects.toMatchObject({ code: "SYS_002", cause: { code: "SYS_003" } });
  expect(await stateOf(key)).toBeUndefined();
  const down = { post: () => Promise.reject(new DomainError("SYS_002")) };
  const letGo = execute(depsWith(down), requestOf(world.orgId, command, key));
  await expect(letGo).rejects.toMatchObject({ code: "SYS_002" });
  // It is begun with the facts of today, or not at all.
  const again = execute(depsWith(silent), requestOf(world.orgId, command, key));
  await expect(again).rejects.toMatchObject({ code: "SYS_002", cause: { code: "SYS_003" } });
  expect(await stateOf(key)).toBe("RELEASED");
  expect(await world.execute(command, key)).toMatchObject({
    replayed: false,
    outcome: { $case: "transfer" },
  });
});

describe("a fact that cannot be had", () => {
  const silent = { walletAt: () => Promise.reject(new DomainError("SYS_002")) };

  async function transferred(deps: ExecuteDeps | undefined) {
    const [from, to] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    const value = { fromWalletId: from.walletId, toWalletAddress: to.address, amountWon: "1000" };
    const key = randomUUID();
    const request = requestOf(world.orgId, { $case: "transfer", value: { ...value, memo: undefined } }, key);
    const first = await (deps ? execute(deps, request) : world.app().execute(request)).catch(() => undefined);
    return { from, key, request, first };
  }

  test("takes nobody the answer that is stored under his key", async () => {
    const { request, first } = await transferred(undefined);
    const again = await execute(depsWith({ facts: silent }), request);
    expect(again).toEqual({ ...first, replayed: true });
    const other = execute(depsWith({ facts: silent }), { ...request, bodyHash: Buffer.alloc(32) });
    await expect(other).rejects.toMatchObject({ code: "REQ_003" });
  });

  test("keeps nobody from going on with what he has begun", async () => {
    const lost = { post: () => Promise.reject(new DomainError("SYS_003")) };
    const known = { walletAt: (_: string, address: string) => walletIdAt(address) };
    const { from, key, request } = await transferred(depsWith({ ...lost, facts: known }));
    expect(await stateOf(key)).toBe("CLAIMED");
    const again = await execute(depsWith({ facts: silent }), request);
    expect(again).toMatchObject({ replayed: true, outcome: { $case: "transfer" } });
    expect(await world.balances(from.walletId)).toEqual([4_000]);
  });
});

test("what is let go while it is asked for once more under a plan that is used up is not begun", async () => {
  const { walletId } = await world.openWallet();
  const key = randomUUID();
  const open = { post: () => Promise.reject(new DomainError("SYS_003")) };
  const request = { ...requestOf(world.orgId, charge(walletId), key), repeatOnly: true };
  await expect(execute(depsWith(open), { ...request, repeatOnly: false })).rejects.toBeDefined();
  const deps = depsWith({});
  const submit = deps.claims.submit.bind(deps.claims);
  deps.claims.submit = async (claim) => {
    await asOwner(world.payment, `update operations set state = 'RELEASED' where idempotency_key = '${key}'`);
    return submit(claim);
  };
  await expect(execute(deps, request)).rejects.toMatchObject({ code: "WAUTH_004" });
  expect([await stateOf(key), await world.balances(walletId)]).toEqual(["RELEASED", [0]]);
});

test("where nothing accrues a payment needs no INCENTIVE wallet, and none is made", async () => {
  const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const value = { ...ids, amountWon: "1000", incentiveAmountWon: undefined, memo: undefined };
  const ensureIncentiveWallet = jest.fn(() => Promise.resolve());
  const deps = depsWith({ facts: { ensureIncentiveWallet } });
  const paid = await execute(deps, requestOf(world.orgId, { $case: "pay", value }));
  expect([paid.outcome?.$case, ensureIncentiveWallet.mock.calls]).toEqual(["payment", []]);
});

interface Broken {
  post?: ExecuteDeps["post"];
  record?: () => Promise<never>;
  facts?: Partial<ExecuteDeps["facts"]>;
}

/** A replica with something that is broken, on the database of the others. */
function depsWith({ post, record, facts }: Broken): ExecuteDeps {
  const limits = { maxBatch: 10, maxQueue: 10 };
  const { db } = world.payment;
  const known = {
    contracts: { tokenAddress: "", paymentManagerAddress: "" },
    walletAt: () => Promise.resolve(null),
    policyOf: () => Promise.resolve({ dailyLimitWon: "1000000", incentiveRateBps: 0 }),
    network: "N",
    ...facts,
  } as ExecuteDeps["facts"];
  return {
    db,
    log: testLog(),
    facts: known,
    claims: createLane({ name: "claims", work: (claims: Claim[]) => claimKeys(db, claims), ...limits }),
    post: post ?? ((request) => world.ledger().post(request)),
    ledger: world.ledger(),
    outcomes: createLane<Decided, ExecuteResponse>({
      name: "outcomes",
      work: (decided) => record?.() ?? recordOutcomes({ db, facts: known }, decided),
      ...limits,
    }),
  };
}

function charge(walletId: string): Command {
  return { $case: "charge", value: { walletId, amountWon: "1000", memo: undefined } };
}

async function walletIdAt(address: string): Promise<string | null> {
  const { wallets } = await world.wallet().findWalletsByAddress({ orgId: world.orgId, addresses: [address] });
  return wallets[0]?.walletId ?? null;
}

async function stateOf(key: string): Promise<string | undefined> {
  const found = rawSql(`select state from operations where idempotency_key = '${key}'`);
  return (await world.payment.db.maybe<{ state: string }>(found))?.state;
}
