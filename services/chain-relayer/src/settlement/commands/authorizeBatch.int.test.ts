import { sql, tx } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { readOrgId } from "@wonrail/kit/grpc/server";
import { type AuthorizationIntent } from "@wonrail/proto/wallet/v1/wallet";
import { encodeExecute } from "../../evm/contracts";
import { type Operation } from "../store/operations";
import { saveUsedAuthorizations } from "../../indexer/store/usedAuthorizations";
import { authorizeBatch } from "./authorizeBatch";
import { createChainDouble, depsOn } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { operationOf } from "../../testing/operations";

const CHAIN_TIME = 2_000_000_000n;
const database = freshDatabase();

test("an authorization ends after a fixed chain time, and a hold's at its expiry at the latest", async () => {
  const lasting = planned();
  const hold = (endsAt: bigint) => plannedHold(new Date(Number(endsAt) * 1_000 + 999));
  const batch = [lasting, hold(CHAIN_TIME + 60n), hold(CHAIN_TIME + 86_400n)];
  const { ready, asked } = await authorize(batch);
  const ends = [CHAIN_TIME + 1_800n, CHAIN_TIME + 60n, CHAIN_TIME + 1_800n];
  expect(asked.map(({ validBefore }) => validBefore)).toEqual(ends);
  expect(ready.map(({ chainOperation }) => chainOperation.steps[0]!.validBefore)).toEqual(ends);
});

test("a hold whose clock has not started or has run out gets the clock's full length", async () => {
  const batch = [plannedHold(null), plannedHold(new Date(Number(CHAIN_TIME - 60n) * 1_000))];
  const { asked } = await authorize(batch);
  expect(asked.map(({ validBefore }) => validBefore - CHAIN_TIME)).toEqual([600n, 600n]);
});

test("an authorization's time starts now when the last block is old", async () => {
  const { now } = await database.db.one<{ now: bigint }>(
    sql`select extract(epoch from now())::bigint as now`,
  );
  const batch = [planned(), plannedHold(new Date(Number(now + 60n) * 1_000))];
  const { asked } = await authorize(batch, { chainTime: now - 86_400n });
  const [lasting, ofHold] = asked.map(({ validBefore }) => validBefore - now);
  expect(Number(lasting) - 1_800).toBeGreaterThanOrEqual(0);
  expect(Number(lasting) - 1_800).toBeLessThan(60);
  expect(ofHold).toBe(60n);
});

test("a step with a used authorization is neither signed nor sent, and the others are", async () => {
  const [first, second] = [operationOf().steps[0]!, operationOf().steps[0]!];
  const used = { fromWalletId: first.fromWalletId!, nonce: first.nonce, txHash: "0x1" };
  await tx(database.db, (tx) =>
    saveUsedAuthorizations(tx, [{ ...used, blockNumber: 1n, blockHash: "0x1", moved: null }]),
  );
  const { ready, asked } = await authorize([planned({ steps: [first, second] })]);
  expect(asked.map(({ fromWalletId }) => fromWalletId)).toEqual([second.fromWalletId]);
  expect(ready[0]!.chainOperation.steps.map(({ nonce }) => nonce)).toEqual([second.nonce]);
});

test("an operation with a wallet that custody does not know is refused completely", async () => {
  const [known, unknown] = [planned(), planned()];
  const { ready, refused, asked } = await authorize([known, unknown], {
    unknownWalletId: unknown.steps[0]!.toWalletId!,
  });
  expect(ready.map(({ operation }) => operation)).toEqual([known]);
  expect(refused).toEqual(new Map([["custody_unknown_wallet", [unknown]]]));
  expect(asked.map(({ ledgerRef }) => ledgerRef)).toEqual([known.ledgerRef]);
});

test("an operation that custody calls malformed is refused, and the others are signed", async () => {
  const batch = Array.from({ length: 7 }, () => planned());
  const [nobodys, nowhere] = [planned({ orgId: "" }), planned()];
  const { steps } = nowhere;
  nowhere.steps = steps.map((step) => ({ ...step, toWalletId: null, toAddress: "nowhere" }));
  // Custody does not name the malformed one; only its answers to parts reveal it.
  const unlucky = batch[4]!;
  const { ready, refused } = await authorize([...batch, nobodys, nowhere], {
    malformedRef: unlucky.ledgerRef,
  });
  expect(ready.map(({ operation }) => operation)).toEqual(batch.filter((one) => one !== unlucky));
  expect(refused).toEqual(new Map([["custody_malformed", [unlucky, nobodys, nowhere]]]));
});

test.each([
  ["of 64 bytes", Buffer.alloc(64, 27)],
  ["without a recovery id", Buffer.alloc(65, 1)],
  ["of nothing", Buffer.alloc(0)],
])("a signature %s excludes only its own operation", async (_, signature) => {
  const [bad, good] = [planned(), planned()];
  const { ready, refused } = await authorize([bad, good], {
    signatureOf: new Map([[bad.ledgerRef, signature]]),
  });
  expect(ready.map(({ operation }) => operation)).toEqual([good]);
  expect(refused).toEqual(new Map([["custody_bad_signature", [bad]]]));
  expect(() => encodeExecute(ready.map(({ chainOperation }) => chainOperation))).not.toThrow();
});

function planned(of: Partial<Operation> = {}): Operation {
  const { wallets: _wallets, blockedReason: _reason, ...operation } = operationOf();
  const sent = { attempts: 0, waitReason: null, transactionId: null, txHash: null, expiresAt: null };
  return { ...operation, ...sent, state: "PLANNED", ...of };
}

function plannedHold(expiresAt: Date | null): Operation {
  return planned({ kind: "INTENT_KIND_PLACE_HOLD", expiresAt });
}

/**
 * A fake custody that signs for every wallet but one. A malformed intent makes it refuse the whole
 * call.
 */
async function authorize(
  batch: Operation[],
  {
    chainTime = CHAIN_TIME,
    unknownWalletId = "",
    malformedRef = "",
    signatureOf = new Map<string, Buffer>(),
  } = {},
) {
  const asked: AuthorizationIntent[] = [];
  const wallet = {
    getWalletFacts: async ({ orgId, walletIds }: { orgId: string; walletIds: string[] }) => ({
      wallets: walletIds
        .filter((walletId) => readOrgId(orgId) && walletId !== unknownWalletId)
        .map((walletId) => ({ walletId, walletAddress: `0x${walletId.slice(-20).padStart(40, "0")}` })),
    }),
    signAuthorizations: async ({ intents }: { intents: AuthorizationIntent[] }) => {
      for (const { orgId, ledgerRef } of intents) {
        readOrgId(orgId);
        if (ledgerRef === malformedRef) throw invalidRequest([{ path: "ledgerRef", message: "is none" }]);
      }
      asked.push(...intents);
      const valueOf = (ledgerRef: string) => signatureOf.get(ledgerRef) ?? Buffer.alloc(65, 27);
      return {
        signatures: intents.map(({ ledgerRef }) => ({
          outcome: { $case: "signature", value: valueOf(ledgerRef) },
        })),
      };
    },
  } as never;
  const deps = { ...depsOn(database.db, createChainDouble()), wallet, outsideLifeMs: 600_000 };
  return { ...(await authorizeBatch(deps, batch, chainTime)), asked };
}
