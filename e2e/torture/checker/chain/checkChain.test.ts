import { simulateRun } from "../testing/simulateRun";
import { checkChain, type ChainFacts } from "./checkChain";
import { authorizationName, UNITS_PER_WON } from "./readChain";
import { type Settlement } from "./readSettlements";

const BLOCK = { hash: "0xb10c", timeSeconds: 1_000 };
const LEG = { fromWalletId: "wal_ann_NORMAL", nonce: "0x01" };

/** A chain that agrees with the journal of a correct run, with a confirmed and a failed settlement. */
async function agreeingFacts() {
  const { journal } = await simulateRun(1, 150);
  const wallets = journal.accounts.filter(({ userId }) => userId !== null);
  const addresses = new Map(wallets.map(({ id }) => [id, `0x${id}`]));
  const hold = journal.entries.find(({ kind }) => kind === "placeHold")!;
  const failed: Settlement = {
    ...{ organisation: journal.organisation, ledgerRef: hold.id, state: "FAILED", operationId: "0f" },
    ...{ legs: [LEG], proof: { blockNumber: 7, blockHash: BLOCK.hash }, validUntilMs: 999_000 },
  };
  const confirmed = { ...failed, ledgerRef: "chg_1", state: "CONFIRMED", operationId: "0c", proof: null };
  const supply = wallets.reduce((sum, { balance }) => sum + BigInt(balance), 0n) * UNITS_PER_WON;
  const facts: ChainFacts = {
    journals: [journal],
    addresses,
    settlements: [failed, confirmed],
    chain: {
      balances: new Map(
        wallets.map(({ id, balance }) => [`0x${id}`.toLowerCase(), BigInt(balance) * UNITS_PER_WON]),
      ),
      ...{ remainders: new Map(), minted: supply, totalSupply: supply },
      ...{ executions: new Map([["0c", 1]]), used: new Set(), cancelled: new Set(), transfers: [] },
      blockAt: () => BLOCK,
    },
  };
  return { facts, failed, confirmed, used: authorizationName("0xwal_ann_NORMAL", LEG.nonce) };
}

test("a chain that agrees with the ledger passes", async () => {
  const { facts } = await agreeingFacts();
  expect(checkChain(facts)).toEqual([]);
});

type Planted = Awaited<ReturnType<typeof agreeingFacts>>;

test.each<[string, (planted: Planted) => unknown, string]>([
  ["a supply that nobody minted", ({ facts }) => (facts.chain.totalSupply += 1n), "the supply is"],
  [
    "a wallet with another balance",
    ({ facts }) => facts.chain.balances.set("0xwal_ann_normal", 1n),
    "on the chain",
  ],
  ["an operation that was executed twice", ({ facts }) => facts.chain.executions.set("0c", 2), "2 times"],
  ["a confirmed operation without an event", ({ facts }) => facts.chain.executions.clear(), "no event of it"],
  ["a failed hold that was executed", ({ facts }) => facts.chain.executions.set("0f", 1), "executed it"],
  ["a failed hold whose authorization was used", ({ facts, used }) => facts.chain.used.add(used), "was used"],
  ["a failed hold without proof", ({ failed }) => (failed.proof = null), "no proof"],
  ["a proof in a replaced block", ({ failed }) => (failed.proof!.blockHash = "0xold"), "is not the chain's"],
  [
    "a proof before the end of the authorization",
    ({ failed }) => (failed.validUntilMs = 1_000_000),
    "was valid",
  ],
  [
    "a failed charge",
    ({ failed, facts }) => (failed.ledgerRef = facts.journals[0]!.entries[0]!.id),
    "not a hold",
  ],
])("%s is found", async (_, plant, message) => {
  const planted = await agreeingFacts();
  plant(planted);
  const found = checkChain(planted.facts);
  expect(found.map((violation) => violation.message).join("\n")).toContain(message);
});

test("others may use the authorizations, and a cancelled one needs no proof", async () => {
  const { facts, failed, confirmed, used } = await agreeingFacts();
  facts.chain.executions.clear();
  facts.settlements = [{ ...confirmed, legs: [LEG] }];
  facts.chain.used.add(used);
  expect(checkChain(facts)).toEqual([]);
  facts.settlements = [{ ...failed, proof: null }];
  facts.chain.used.clear();
  facts.chain.cancelled.add(used);
  expect(checkChain(facts)).toEqual([]);
});
