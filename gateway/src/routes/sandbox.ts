import { z } from "zod";
import { asOutcomeUnknown, DomainError } from "@wonrail/kit/contract/errors";
import { type IdPrefix, isId } from "@wonrail/kit/contract/ids";
import { enumValue } from "@wonrail/kit/grpc/client";
import { requirePresent } from "@wonrail/kit/records";
import { SandboxOrder } from "@wonrail/proto/relayer/v1/relayer";
import { WalletStatus } from "@wonrail/proto/wallet/v1/wallet";
import { type Clients } from "../clients";
import { type Principals } from "../middleware/principals";
import { keyFields, keyJson } from "./keys";
import { type Call, type Handler, operation } from "./operation";
import { amountOf, idOf, momentOf, refusedAs, responseId, timestamp, won } from "./schemas";

// The sandbox of a test network: rehearsals that no main network has. Every operation needs a test key.

const DEPOSIT_WAIT_MS = 20_000;
/** The call also checks the chain and commits. */
const DEPOSIT_CALL_MS = DEPOSIT_WAIT_MS + 8_000;
const CLOCK_TIMEOUT_MS = 5_000;

const REPEATABLE =
  "The operation has no Idempotency-Key: send the request again. A repetition changes nothing.";

const SETTLED_PREFIXES: readonly IdPrefix[] = ["trf", "chg", "ccl", "rfd", "pay", "pcl", "prf"];

const settlementPath = z.strictObject({
  id: z
    .string()
    .refine(
      (text) => SETTLED_PREFIXES.some((prefix) => isId(prefix, text)),
      refusedAs("SBX_001", "is unknown"),
    )
    .meta({ description: "The id of a transfer, charge, payment, refund or cancellation." }),
});

const orderedSettlement = z
  .strictObject({
    id: responseId("The id of the request."),
    state: z.enum(["HELD", "FAILING", "RELEASED"]).meta({
      description:
        "HELD: it is not sent until it is released. FAILING: it fails within seconds, once a final block " +
        "proves that it cannot settle. RELEASED: it goes on.",
    }),
  })
  .meta({ id: "SandboxSettlement", description: "An order for a settlement." });

const clock = z
  .strictObject({
    time: timestamp("The time that the clock shows."),
    realTime: timestamp("The real time."),
    aheadSeconds: z.int().meta({ description: "How far the clock is ahead of the real time." }),
  })
  .meta({
    id: "SandboxClock",
    description: "The test clock of your organisation. Times in other answers are real times.",
  });

export const createSandboxDeposit = operation({
  id: "createSandboxDeposit",
  tag: "Sandbox",
  summary: "Receive a deposit",
  description:
    "Sends tokens on the chain from an address outside to a wallet of yours, and waits up to 20 seconds for " +
    "a block. The wallet is credited when the block is final (`deposit.credited`).",
  access: "full",
  sandboxOnly: true,
  waitMs: DEPOSIT_WAIT_MS,
  idempotent: true,
  body: z
    .strictObject({
      walletId: idOf("wal", "WAL_002", "The wallet that receives the deposit."),
      amount: amountOf("The amount in KRW."),
    })
    .meta({ id: "CreateSandboxDeposit" }),
  status: 201,
  data: z
    .strictObject({
      walletId: responseId("The wallet that receives the deposit."),
      amount: won("The amount in KRW."),
      fromAddress: z.string().meta({ description: "The address outside that sends the tokens." }),
      txHash: z
        .string()
        .nullable()
        .meta({ description: "The hash of the chain transaction; null while it is not sent." }),
    })
    .meta({ id: "SandboxDeposit" }),
  errors: ["WAL_002", "WAL_004", "SBX_003"],
});

function settlementOperation(id: string, summary: string, description: string) {
  return operation({
    ...{ id, summary, description },
    tag: "Sandbox",
    access: "full",
    sandboxOnly: true,
    whenUnknown: REPEATABLE,
    params: settlementPath,
    status: 200,
    data: orderedSettlement,
    errors: ["SBX_001", "SBX_002"],
  });
}

export const holdSandboxSettlement = settlementOperation(
  "holdSandboxSettlement",
  "Hold a settlement",
  "Keeps a settlement from being sent until it is released. Later settlements of its wallets wait too. Most " +
    "settlements are sent within a second: use the memo `sandbox:settlement_held` to hold one from the start.",
);

export const failSandboxSettlement = settlementOperation(
  "failSandboxSettlement",
  "Fail a settlement",
  "Lets a held transfer to an outside address fail. It is FAILED, and its money is available again, once a " +
    "final block proves that it cannot settle. Other settlements cannot fail, because the money has moved " +
    "already: they are held.",
);

export const releaseSandboxSettlement = settlementOperation(
  "releaseSandboxSettlement",
  "Release a settlement",
  "Lets a held settlement go on.",
);

export const expireSandboxKey = operation({
  id: "expireSandboxKey",
  tag: "Sandbox",
  summary: "Expire an API key",
  description: "Ends the life of a key now. It can be refreshed, as any expired key.",
  access: "full",
  sandboxOnly: true,
  whenUnknown: REPEATABLE,
  params: z.strictObject({ keyId: idOf("key", "WAUTH_007", "The key's id.") }),
  status: 200,
  data: z.strictObject(keyFields).meta({ id: "ExpiredApiKey" }),
  errors: ["WAUTH_007"],
});

export const openSandboxClock = operation({
  id: "openSandboxClock",
  tag: "Sandbox",
  summary: "Read the test clock",
  description:
    "Returns the test clock of your organisation. Before its first advance it shows the real time.",
  access: "full",
  sandboxOnly: true,
  whenUnknown: REPEATABLE,
  status: 200,
  data: clock,
  errors: [],
});

export const advanceSandboxClock = operation({
  id: "advanceSandboxClock",
  tag: "Sandbox",
  summary: "Advance the test clock",
  description:
    "Moves the clock forward. The 30 days of cancellations, daily limits, scheduled transfers, ends of API " +
    "keys and retries of webhooks follow it from the answer on. It never goes back: an earlier time changes " +
    "nothing. An advance can expire the key that you use: refresh it then.",
  access: "full",
  sandboxOnly: true,
  whenUnknown: REPEATABLE,
  body: z
    .strictObject({
      to: momentOf("The time that the clock shall show, at most ten years ahead of the real time."),
    })
    .meta({ id: "AdvanceSandboxClock" }),
  status: 200,
  data: clock,
  errors: [],
});

export function createSandboxDepositWith({
  wallet: wallets,
  relayer,
}: Pick<Clients, "wallet" | "relayer">): Handler<typeof createSandboxDeposit> {
  return async ({ body: { walletId, amount } }, { principal: { orgId }, idempotencyKey }) => {
    const wallet = requirePresent((await wallets.getWallet({ orgId, walletId }, { retry: true })).wallet);
    if (wallet.status === WalletStatus.DEACTIVATED) throw new DomainError("WAL_004", { walletId });
    const wanted = {
      orgId,
      toAddress: wallet.walletAddress,
      amountWon: String(amount),
      waitMs: DEPOSIT_WAIT_MS,
    };
    const { fromAddress, txHash, replayed } = await relayer.createSandboxDeposit(
      { ...wanted, idempotencyKey },
      // A retry is safe with a key: it is the same deposit.
      { timeoutMs: DEPOSIT_CALL_MS, ...(idempotencyKey === undefined ? {} : { retry: true }) },
    );
    return { data: { walletId, amount, fromAddress, txHash: txHash ?? null }, replayed };
  };
}

type OrderName = "HOLD" | "FAIL" | "RELEASE";

export function orderSettlementWith(
  { relayer }: Pick<Clients, "relayer">,
  order: OrderName,
): Handler<typeof holdSandboxSettlement> {
  return async ({ params: { id } }, { principal: { orgId } }) => {
    const wanted = { orgId, id, order: enumValue(SandboxOrder, order) };
    const { state } = await relayer.orderSandboxSettlement(wanted, { retry: true });
    return { data: { id, state: orderedSettlement.shape.state.parse(state) } };
  };
}

export function expireSandboxKeyWith(
  { auth }: Pick<Clients, "auth">,
  principals: Pick<Principals, "forgetKey">,
): Handler<typeof expireSandboxKey> {
  return async ({ params: { keyId } }, { principal }) => {
    const wanted = { orgId: principal.orgId, keyId, issuerKeyId: principal.keyId };
    const { key } = await auth.expireSandboxKey(wanted, { timeoutMs: CLOCK_TIMEOUT_MS, retry: true });
    principals.forgetKey(keyId);
    return { data: keyJson(requirePresent(key)) };
  };
}

export function openSandboxClockWith(clients: Pick<Clients, "auth">): Handler<typeof openSandboxClock> {
  return async (_input, call) => ({ data: clockJson(await askClock(clients, call)) });
}

export function advanceSandboxClockWith(
  clients: Pick<Clients, "auth" | "payment" | "relayer" | "events">,
  principals: Pick<Principals, "forgetOrganisation">,
): Handler<typeof advanceSandboxClock> {
  return async ({ body: { to } }, call) => {
    const { orgId } = call.principal;
    const reading = await askClock(clients, call, to);
    const clock = { orgId, offsetMs: reading.offsetMs };
    const options = { timeoutMs: CLOCK_TIMEOUT_MS, retry: true } as const;
    const { payment, relayer, events } = clients;
    await Promise.all(
      [payment, relayer, events].map((service) => service.setSandboxClock(clock, options)),
    ).catch((error: unknown) => {
      // The clock of auth has moved.
      throw asOutcomeUnknown(error);
    });
    principals.forgetOrganisation(orgId);
    return { data: clockJson(reading) };
  };
}

interface Reading {
  offsetMs: bigint;
  now?: Date | undefined;
}

function askClock({ auth }: Pick<Clients, "auth">, { principal }: Call, to?: Date): Promise<Reading> {
  const { orgId, keyId } = principal;
  return auth.advanceSandboxClock({ orgId, keyId, to }, { timeoutMs: CLOCK_TIMEOUT_MS, retry: true });
}

function clockJson({ offsetMs, now }: Reading) {
  const realTime = requirePresent(now);
  return {
    time: new Date(realTime.getTime() + Number(offsetMs)).toISOString(),
    realTime: realTime.toISOString(),
    aheadSeconds: Math.floor(Number(offsetMs) / 1_000),
  };
}
