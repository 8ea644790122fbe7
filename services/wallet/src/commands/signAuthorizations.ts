import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { groupBy } from "@wonrail/kit/groupBy";
import { type Log } from "@wonrail/kit/log";
import { type Counter } from "@wonrail/kit/metrics";
import { sumWon, type Won, wonToTokenUnits } from "@wonrail/kit/contract/money";
import {
  isRepeat,
  organisationScope,
  GLOBAL_SCOPE,
  type RefusalReason,
  refusalOf,
  type SignedLeg,
  type SigningIntent,
  spendVelocity,
  type VelocityLimits,
  walletScope,
} from "../domain/signingPolicy";
import { type Wallet } from "../domain/wallet";
import { type Keyring } from "../keys/keyring";
import { type TypedData } from "../keys/typedData";
import { findOperations } from "../queries/findOperations";
import { insertRefusals, legKey, lockAuthorizations, saveAuthorizations } from "../store/authorizations";
import { findSeeds } from "../store/seeds";
import { lockVelocity, saveVelocity } from "../store/velocity";
import { listWalletsById, lockWallets } from "../store/wallets";
import { type LedgerClient } from "./openAccount";

export interface SignDeps {
  db: Database;
  ledger: LedgerClient;
  keyring: Keyring;
  typedData: TypedData;
  chain: { chainId: bigint; tokenAddress: string };
  limits: VelocityLimits;
  horizonMs: number;
  refusals: Counter<"reason">;
  log: Log;
}

export type SigningOutcome = { signature: Buffer } | { refused: RefusalReason };

/**
 * Signs only payments that the ledger confirms. Each leg is stored before it is signed, so a second
 * nonce for the leg is refused for every caller, after a crash too.
 */
export async function signAuthorizations(
  deps: SignDeps,
  intents: SigningIntent[],
): Promise<SigningOutcome[]> {
  const wallets = await walletsOf(deps.db, intents);
  const operations = await findOperations(deps, intents);
  const reasons = await decideAndRecord(deps, intents, { wallets, operations });
  if (deps.log.isLevelEnabled("debug"))
    for (const intent of intents)
      deps.log.debug({ ...originOf(intent, operations), ledgerRef: intent.ledgerRef }, "asked to sign");
  await recordRefusals(deps, intents, { operations, reasons });
  const granted = intents.filter((_, index) => reasons[index] === null);
  const outcomes = await signAll(deps, granted, wallets);
  await recordRefusals(deps, granted, {
    operations,
    reasons: outcomes.map((outcome) => ("refused" in outcome ? outcome.refused : null)),
  });
  return reasons.map((refused) => (refused === null ? outcomes.shift()! : { refused }));
}

interface Known {
  wallets: Map<string, Wallet>;
  operations: Awaited<ReturnType<typeof findOperations>>;
}

function decideAndRecord(deps: SignDeps, intents: SigningIntent[], { wallets, operations }: Known) {
  return tx(deps.db, async (tx) => {
    // A leg that another call is inserting has no row to lock yet. So this statement locks the
    // payers' wallets first, and the next statement reads the legs.
    await lockWallets(
      tx,
      intents.flatMap((intent) =>
        payersOf(intent, operations).map((walletId) => ({ orgId: intent.orgId, walletId })),
      ),
    );
    const earlier = await lockAuthorizations(tx, intents);
    const scopes = intents.flatMap((intent) => [walletScope(intent), organisationScope(intent)]);
    const { nowMs, used } = await lockVelocity(tx, [...scopes, GLOBAL_SCOPE]);
    const granted: SigningIntent[] = [];
    const reasons = intents.map((intent): RefusalReason | null => {
      const before = earlier.get(legKey(intent));
      const refused = refusalOf(intent, {
        ...deps.chain,
        nowMs,
        horizonMs: deps.horizonMs,
        walletKnown: wallets.get(intent.fromWalletId)?.orgId === intent.orgId,
        operation: operations.get(operationKey(intent)),
        earlier: before,
        ...sumOtherLegs(intent, earlier),
      });
      if (refused !== null) return refused;
      const full = isRepeat(intent, before) ? null : spendVelocity(used, intent, deps.limits);
      if (full !== null) return full;
      earlier.set(legKey(intent), intent);
      granted.push(intent);
      return null;
    });
    const saved = await saveAuthorizations(tx, granted);
    // Another writer without the lock stored a leg in between. This call signs nothing, and the
    // caller asks again.
    if (saved !== new Set(granted.map(legKey)).size) throw new DomainError("SYS_002", { retryAfterMs: 100 });
    await saveVelocity(tx, used);
    return reasons;
  });
}

function payersOf(intent: SigningIntent, operations: Known["operations"]): string[] {
  return [intent.fromWalletId, ...(operations.get(operationKey(intent))?.outflow.keys() ?? [])];
}

/**
 * The amounts signed for the operation's other legs: from the same wallet, and from other wallets
 * to the same end.
 */
function sumOtherLegs(
  intent: SigningIntent,
  earlier: Map<string, SignedLeg>,
): { otherLegsWon: Won; otherPayersWon: Won } {
  const [otherLegs, otherPayers]: [Won[], Won[]] = [[], []];
  const to = intent.toAddress.toLowerCase();
  for (const { ledgerRef, orgId, fromWalletId, kind, toAddress, amountWon } of earlier.values()) {
    if (ledgerRef !== intent.ledgerRef || orgId !== intent.orgId) continue;
    const sameEnd = kind === intent.kind && toAddress.toLowerCase() === to;
    if (fromWalletId !== intent.fromWalletId) otherPayers.push(...(sameEnd ? [amountWon] : []));
    else if (!sameEnd) otherLegs.push(amountWon);
  }
  return { otherLegsWon: sumWon(otherLegs), otherPayersWon: sumWon(otherPayers) };
}

function operationKey({ orgId, ledgerRef }: SigningIntent): string {
  return `${orgId}|${ledgerRef}`;
}

/** The ledger names the call that moved the money, so that one payment is found in all logs by its request id. */
function originOf(intent: SigningIntent, operations: Known["operations"]): object {
  return operations.get(operationKey(intent))?.origin ?? {};
}

async function recordRefusals(
  { db, refusals, log }: SignDeps,
  intents: SigningIntent[],
  { operations, reasons }: Pick<Known, "operations"> & { reasons: (RefusalReason | null)[] },
): Promise<void> {
  const refused = intents.flatMap((intent, index) => {
    const reason = reasons[index];
    return reason ? [{ ...intent, reason }] : [];
  });
  if (refused.length === 0) return;
  for (const intent of refused) {
    const { reason, ledgerRef, orgId, amountWon } = intent;
    refusals.inc({ reason });
    const which = { reason, ledgerRef, orgId, amountWon: amountWon.toString() };
    log.warn({ ...originOf(intent, operations), ...which }, "refused to sign");
  }
  await insertRefusals(db, refused);
}

async function walletsOf(db: Database, intents: SigningIntent[]): Promise<Map<string, Wallet>> {
  const byOrganisation = groupBy(intents, (intent) => intent.orgId);
  const found = await Promise.all(
    [...byOrganisation].map(([orgId, of]) =>
      listWalletsById(db, orgId, [...new Set(of.map((intent) => intent.fromWalletId))]),
    ),
  );
  return new Map(found.flat().map((wallet) => [wallet.walletId, wallet]));
}

/**
 * An organisation whose seed does not open does not delay the others. Its stored legs stay: the
 * same nonce is signed when the seed opens again.
 */
async function signAll(
  { db, keyring, typedData, log }: SignDeps,
  intents: SigningIntent[],
  wallets: Map<string, Wallet>,
): Promise<SigningOutcome[]> {
  const seeds = await findSeeds(db, [...new Set(intents.map((intent) => intent.orgId))]);
  const outcomes = new Array<SigningOutcome>(intents.length).fill({ refused: "key_unavailable" });
  const places = intents.map((intent, place) => {
    const { address, keyIndex } = wallets.get(intent.fromWalletId)!;
    return { orgId: intent.orgId, place, keyIndex, digest: digestOf(typedData, intent, address) };
  });
  for (const [orgId, of] of groupBy(places, (each) => each.orgId)) {
    try {
      await keyring.withSeed(seeds.get(orgId)!, (keys) => {
        for (const { place, keyIndex, digest } of of)
          outcomes[place] = { signature: keys.sign(keyIndex, digest) };
      });
    } catch (error) {
      log.error({ err: error, orgId }, "seed of the organisation could not be decrypted");
    }
  }
  return outcomes;
}

function digestOf(typedData: TypedData, intent: SigningIntent, from: string): Uint8Array {
  const authorization = {
    from,
    value: wonToTokenUnits(intent.amountWon),
    validBefore: BigInt(intent.validBeforeMs / 1000),
    nonce: Buffer.from(intent.nonce, "hex"),
  };
  return intent.kind === "BURN"
    ? typedData.burnDigest(authorization)
    : typedData.transferDigest({ ...authorization, to: intent.toAddress });
}
