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
import { fundedOperations } from "../domain/fundedOperations";
import { isLeg, walletsOf } from "../domain/steps";
import { remainingSteps } from "../queries/settledByOthers";
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

/** Reasons for which the chain refuses all operations alike until an operator changes that there. */
const OF_ALL = new Set([
  "batch_reverted",
  "operator_role_missing",
  "EnforcedPause",
  "AccessControlUnauthorizedAccount",
]);
const BLOCKED = "AccountBlocked";
const NO_FUNDS = "ERC20InsufficientBalance";
const ASK_AGAIN_MS = 15_000;
/** So many are signed to find one that custody signs. */
const AT_ONCE = 20;

/**
 * Answers the operations that may go. Operations that a pause, a missing role, a block or a low
 * balance has refused are not sent again, for gas, while an eth_call says that the chain would
 * refuse them. Operations of a wallet that is blocked in a final block are never sent before.
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

/** Operations with a blocked party wait longer each time. The token is asked without gas. */
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
    steps: remainingSteps(operation, used, addresses),
  }));
  const funded = fundedOperations(spendings, balances);
  const waiting = spendings.filter((one) => !funded.has(one)).map(({ operation }) => operation);
  await postpone(deps.db, waiting, NO_FUNDS, ASK_AGAIN_MS);
  return waiting;
}

async function mayGo(deps: DryRunDeps, same: Operation[], latest: Block): Promise<boolean> {
  const one = await authorizeOne(deps, same.slice(0, AT_ONCE), latest);
  if (!one) return false;
  const reason = await findRefusal(deps, one, latest);
  // What is refused for a reason of its own is sent: its outcome is read in final blocks.
  if (reason === null || !OF_ALL.has(reason)) return true;
  await postpone(deps.db, same, reason, ASK_AGAIN_MS);
  return false;
}

/** Null when custody signs for none of them: then the others are asked about in the next round. */
async function authorizeOne(deps: DryRunDeps, operations: Operation[], latest: Block): Promise<Ready | null> {
  const { ready, refused } = await authorizeBatch(deps, operations, latest.time);
  if (ready[0]) return ready[0];
  for (const [reason, unsigned] of refused) await postponeRefused(deps.db, unsigned, reason);
  return null;
}

/** First whether the operator may settle at all, then whether the steps would be done. */
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

/** Nodes wrap what the contract gave in words of their own. One that gives none has said nothing. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof RpcRefusal)) throw error;
  const [data] = /0x[0-9a-fA-F]{8,}/.exec(JSON.stringify(error.data) ?? "") ?? [];
  return data === undefined ? null : reasonOf(data);
}
