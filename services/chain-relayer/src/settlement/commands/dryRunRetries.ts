import { TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { type Database } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import {
  type Block,
  encodeBalanceOf,
  encodeExecute,
  encodeIsBlocked,
  encodeTakeAll,
  type Provider,
  reasonOf,
  RpcRefusal,
  type Signer,
} from "../../evm";
import { selectFundedOperations } from "../domain/selectFundedOperations";
import { isLeg, walletsOf } from "../domain/steps";
import { findRemainingSteps } from "../queries/settlementsByOthers";
import { type Operation } from "../store/operations";
import { findBlockedWallets } from "../store/walletBlocks";
import { postpone, postponeBlocked, postponeRefused } from "../store/plannedOperations";
import { findUsedAuthorizations } from "../../indexer";
import { authorizeBatch, type AuthorizeDeps, type Ready } from "./authorizeBatch";
import { resolveAddresses } from "./resolveAddresses";

export interface DryRunDeps extends AuthorizeDeps {
  db: Database;
  provider: Pick<Provider, "callAt" | "callManyAt">;
  signer: Pick<Signer, "address">;
  chain: AuthorizeDeps["chain"] & { tokenAddress: string; paymentManagerAddress: string };
}

/** Reasons for which the chain refuses all operations until an operator changes its state. */
const OF_ALL = new Set([
  "batch_reverted",
  "operator_role_missing",
  "EnforcedPause",
  "AccessControlUnauthorizedAccount",
]);
const BLOCKED = "AccountBlocked";
const NO_FUNDS = "ERC20InsufficientBalance";
const ASK_AGAIN_MS = 15_000;
/** Limit of signed operations until one is found that custody signs. */
const AT_ONCE = 20;

/**
 * Returns the operations that may go. Operations refused by a pause, a missing role or a block are
 * not sent while an eth_call still shows the refusal, because that would cost gas.
 */
export async function dryRunRetries(
  deps: DryRunDeps,
  planned: Operation[],
  latest: Block,
): Promise<Operation[]> {
  const refused = planned.filter(({ waitReason }) => waitReason !== null && OF_ALL.has(waitReason));
  const left = new Set<Operation>();
  for (const same of groupBy(refused, ({ waitReason }) => waitReason!).values())
    if (!(await mayGo(deps, same, latest))) for (const operation of same) left.add(operation);
  for (const operation of await withBlockedParty(deps, planned, latest)) left.add(operation);
  for (const operation of await withoutFunds(deps, planned, latest)) left.add(operation);
  return planned.filter((operation) => !left.has(operation));
}

/** Operations with a blocked party wait with growing pauses. The token is asked without gas. */
async function withBlockedParty(deps: DryRunDeps, planned: Operation[], latest: Block): Promise<Operation[]> {
  const known = await findBlockedWallets(deps.db, [
    ...new Set(planned.flatMap(({ steps }) => walletsOf(steps))),
  ]);
  const refused = planned.filter(
    ({ waitReason, steps }) =>
      waitReason === BLOCKED || walletsOf(steps).some((walletId) => known.has(walletId)),
  );
  if (refused.length === 0) return [];
  const { addresses } = await resolveAddresses(deps, refused);
  const partiesOf = ({ steps }: Operation) => [
    ...walletsOf(steps).flatMap((walletId) => addresses.get(walletId) ?? []),
    ...steps.flatMap(({ toAddress }) => toAddress ?? []),
  ];
  const parties = [...new Set(refused.flatMap(partiesOf))];
  const answers = await deps.provider.callManyAt(
    deps.chain.tokenAddress,
    parties.map(encodeIsBlocked),
    latest.number,
  );
  const blocked = new Set(parties.filter((_, index) => BigInt(answers[index]!) !== 0n));
  const waiting = refused.filter((operation) => partiesOf(operation).some((party) => blocked.has(party)));
  await postponeBlocked(deps.db, waiting, BLOCKED);
  return waiting;
}

/**
 * Finds operations whose wallet still has too little. An entry that a block holds up for weeks may
 * bring the money.
 */
async function withoutFunds(deps: DryRunDeps, planned: Operation[], latest: Block): Promise<Operation[]> {
  const refused = planned.filter(({ waitReason }) => waitReason === NO_FUNDS);
  if (refused.length === 0) return [];
  const { addresses } = await resolveAddresses(deps, refused);
  const legs = refused.flatMap(({ steps }) => steps.filter(isLeg));
  const used = await findUsedAuthorizations(deps.db, legs);
  const payers = [...new Set(legs.map(({ fromWalletId }) => fromWalletId))].filter((id) => addresses.has(id));
  const answers = await deps.provider.callManyAt(
    deps.chain.tokenAddress,
    payers.map((walletId) => encodeBalanceOf(addresses.get(walletId)!)),
    latest.number,
  );
  const balances = new Map(
    payers.map((walletId, index) => [walletId, BigInt(answers[index]!) / TOKEN_UNITS_PER_WON]),
  );
  const spendings = refused.map((operation) => ({
    operation,
    steps: findRemainingSteps(operation, used, addresses),
  }));
  const funded = selectFundedOperations(spendings, balances);
  const waiting = spendings.filter((one) => !funded.has(one)).map(({ operation }) => operation);
  await postpone(deps.db, waiting, NO_FUNDS, ASK_AGAIN_MS);
  return waiting;
}

async function mayGo(deps: DryRunDeps, same: Operation[], latest: Block): Promise<boolean> {
  const one = await authorizeOne(deps, same.slice(0, AT_ONCE), latest);
  if (!one) return false;
  const reason = await findRefusal(deps, one, latest);
  // An operation with its own reason is sent: its outcome is read in final blocks.
  if (reason === null || !OF_ALL.has(reason)) return true;
  await postpone(deps.db, same, reason, ASK_AGAIN_MS);
  return false;
}

/** Returns null when custody signs none of them; the next round tries others. */
async function authorizeOne(deps: DryRunDeps, operations: Operation[], latest: Block): Promise<Ready | null> {
  const { ready, refused } = await authorizeBatch(deps, operations, latest.time);
  if (ready[0]) return ready[0];
  for (const [reason, unsigned] of refused) await postponeRefused(deps.db, unsigned, reason);
  return null;
}

/** Checks first whether the operator may settle, then whether the steps would succeed. */
async function findRefusal(
  { provider, signer, chain }: DryRunDeps,
  { chainOperation }: Ready,
  latest: Block,
): Promise<string | null> {
  const manager = chain.paymentManagerAddress;
  const ask = (data: Buffer, from: string) =>
    provider.callAt(manager, `0x${data.toString("hex")}`, latest.number, from).then(() => null, refusalOf);
  const ofBatch = await ask(encodeExecute([chainOperation]), signer.address);
  if (ofBatch === "AccessControlUnauthorizedAccount") return "operator_role_missing";
  return ask(encodeTakeAll(chainOperation.steps), manager);
}

/** The contract's error, which nodes wrap differently; null when there is none. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof RpcRefusal)) throw error;
  const [data] = /0x[0-9a-fA-F]{8,}/.exec(JSON.stringify(error.data) ?? "") ?? [];
  return data === undefined ? null : reasonOf(data);
}
