import { pick } from "@wonrail/kit/testing/random";
import { type Chain, FINALITY } from "../../world/chain";
import { type World } from "../../world/openWorld";
import { type Fault } from "../fault";

/** Faults of the chain, its token and its endpoints. */
export const CHAIN_FAULTS: readonly Fault[] = [
  {
    name: "chain-reorganised",
    holdMs: [0, 0],
    touches: "blocks",
    async begin({ chain }, random) {
      const depth = 1 + Math.floor(random() * (FINALITY - 2));
      await chain.node.reorganise(depth);
      return { detail: `${depth} blocks`, end: async () => undefined };
    },
  },
  {
    name: "fees-spiked",
    holdMs: [2_000, 6_000],
    touches: "blocks",
    async begin({ chain }, random) {
      const gwei = pick(random, [50, 200, 2_000]);
      await setBaseFee(chain, gwei);
      return { detail: `a base fee of ${gwei} gwei`, end: () => setBaseFee(chain, 1) };
    },
  },
  {
    name: "blocks-stalled",
    holdMs: [2_000, 6_000],
    touches: "blocks",
    async begin({ chain }) {
      await chain.stopBlocks();
      return { detail: "no block is mined", end: async () => chain.startBlocks() };
    },
  },
  endpointFault("endpoint-lying", ({ chain }, random) => {
    const lie = pick(random, ["forgeBlocks", "exaggerate"] as const);
    chain.liar[lie]();
    return { target: "liar", what: lie };
  }),
  endpointFault("endpoint-lagging", ({ chain }) => {
    chain.faulty.setFaults(["stale"]);
    chain.faulty.setRate(1);
    return { target: "faulty", what: "five blocks behind" };
  }),
  endpointFault("endpoint-silent", ({ chain }, random) => {
    const fault = pick(random, ["timeout_before", "timeout_after", "http_500", "html"] as const);
    chain.faulty.setFaults([fault]);
    chain.faulty.setRate(1);
    return { target: "faulty", what: fault };
  }),
  {
    name: "token-paused",
    holdMs: [2_000, 8_000],
    touches: "token",
    async begin({ chain }) {
      await chain.setPaused(true);
      return { detail: "the token", end: () => chain.setPaused(false) };
    },
  },
  {
    name: "wallet-blocked",
    holdMs: [5_000, 10_000],
    touches: "token",
    isSlowToHeal: true,
    async begin({ chain, organisations }, random) {
      const { wallets } = pick(random, organisations).estate;
      const { walletAddress: address } = pick(random, wallets);
      await chain.setBlocked(address, true);
      return { detail: address, end: () => chain.setBlocked(address, false) };
    },
  },
];

/** A fault of one of the endpoints. The two others agree with each other. */
function endpointFault(
  name: string,
  prepare: (world: World, random: () => number) => { target: "liar" | "faulty"; what: string },
): Fault {
  return {
    name,
    holdMs: [3_000, 10_000],
    touches: "endpoints",
    async begin(world, random) {
      const { target, what } = prepare(world, random);
      const { chain } = world;
      const number = Math.floor(random() * chain.endpoints.length);
      const endpoint = chain.endpoints[number]!;
      chain.leadTo(endpoint, target);
      return {
        detail: `endpoint ${number + 1}: ${what}`,
        async end() {
          chain.leadTo(endpoint, "node");
          chain.liar.tellTheTruth();
          chain.faulty.setRate(0);
        },
      };
    },
  };
}

async function setBaseFee({ node }: Chain, gwei: number): Promise<void> {
  const fee = `0x${(BigInt(gwei) * 10n ** 9n).toString(16)}`;
  await node.rpc("anvil_setNextBlockBaseFeePerGas", [fee]);
}
