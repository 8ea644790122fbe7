import { type Journal } from "../journal/readJournal";
import { type Violation } from "../violation";
import { authorizationName, UNITS_PER_WON, type Chain } from "./readChain";
import { type Settlement } from "./readSettlements";

export interface ChainFacts {
  chain: Chain;
  journals: Journal[];
  /** The address of each wallet, by its id. */
  addresses: ReadonlyMap<string, string>;
  settlements: Settlement[];
}

/** The ledger, the chain and the supply agree, and each settlement is what the chain says. */
export function checkChain(facts: ChainFacts): Violation[] {
  const { chain, journals, settlements } = facts;
  const { minted, totalSupply } = chain;
  const supply =
    minted === totalSupply
      ? []
      : [violation("all", `the supply is ${totalSupply}, but ${minted} was minted and not burned`)];
  return [
    ...supply,
    ...journals.flatMap((journal) => checkBalances(facts, journal)),
    ...findDoubleExecutions(chain),
    ...settlements.flatMap((one) => checkSettlement(facts, one)),
  ];
}

function violation(organisation: string, message: string): Violation {
  return { check: "chain", organisation, message, operations: [] };
}

/** Only whole KRW of a deposit are in the ledger. */
function checkBalances({ chain, addresses }: ChainFacts, { organisation, accounts }: Journal): Violation[] {
  return accounts
    .filter(({ userId }) => userId !== null)
    .flatMap(({ id, balance }) => {
      const address = addresses.get(id)?.toLowerCase();
      if (address === undefined) return [violation(organisation, `${id} has no address`)];
      const onChain = (chain.balances.get(address) ?? 0n) - (chain.remainders.get(address) ?? 0n);
      const inLedger = BigInt(balance) * UNITS_PER_WON;
      if (onChain === inLedger) return [];
      return [
        violation(organisation, `${id} has ${inLedger} units in the ledger and ${onChain} on the chain`),
      ];
    });
}

function findDoubleExecutions({ executions }: Chain): Violation[] {
  return [...executions]
    .filter(([, times]) => times > 1)
    .map(([operation, times]) =>
      violation("all", `the chain executed the operation ${operation} ${times} times`),
    );
}

function checkSettlement(facts: ChainFacts, settlement: Settlement): Violation[] {
  const { organisation, ledgerRef, state } = settlement;
  const problem =
    state === "CONFIRMED"
      ? findUnproven(facts, settlement)
      : state === "FAILED"
        ? findUnprovenFailure(facts, settlement)
        : undefined;
  return problem === undefined ? [] : [violation(organisation, `${ledgerRef} is ${state}, but ${problem}`)];
}

/** A confirmed operation was executed, or each of its authorizations was used by someone else. */
function findUnproven({ chain, addresses }: ChainFacts, settlement: Settlement): string | undefined {
  const { operationId, legs } = settlement;
  if (operationId !== null && chain.executions.has(operationId)) return undefined;
  const isUsed = legs.length > 0 && legs.every((leg) => chain.used.has(nameOf(addresses, leg)));
  return isUsed ? undefined : "the chain has no event of it";
}

/**
 * A hold has failed if its authorization is unused, and cancelled or expired in the final block
 * that is its proof.
 */
function findUnprovenFailure(facts: ChainFacts, settlement: Settlement): string | undefined {
  const { chain, addresses, journals } = facts;
  const { organisation, ledgerRef, operationId, legs, proof, validUntilMs } = settlement;
  if (operationId !== null && chain.executions.has(operationId)) return "the chain executed it";
  const names = legs.map((leg) => nameOf(addresses, leg));
  if (names.some((name) => chain.used.has(name))) return "its authorization was used";
  const journal = journals.find((each) => each.organisation === organisation);
  const placed = journal?.entries.find(({ id }) => id === ledgerRef);
  if (placed?.kind !== "placeHold") return "it is not a hold";
  if (names.some((name) => chain.cancelled.has(name))) return undefined;
  if (!proof) return "it has no proof";
  const block = chain.blockAt(proof.blockNumber);
  if (block?.hash !== proof.blockHash) return `block ${proof.blockNumber} of its proof is not the chain's`;
  return validUntilMs !== null && block.timeSeconds * 1_000 <= validUntilMs
    ? "its authorization was valid in the block of its proof"
    : undefined;
}

function nameOf(
  addresses: ReadonlyMap<string, string>,
  leg: { fromWalletId: string; nonce: string },
): string {
  return authorizationName(addresses.get(leg.fromWalletId) ?? leg.fromWalletId, leg.nonce);
}
