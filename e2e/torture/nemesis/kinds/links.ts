import { type ProxyMode } from "@wonrail/kit/testing";
import { pick } from "@wonrail/kit/testing/random";
import { type Edge } from "../../world/links";
import { type World } from "../../world/openWorld";
import { type Fault } from "../fault";

const CUTS: readonly ProxyMode["kind"][] = ["blackhole", "reset", "dropResponses", "halfOpen"];
const PASS: ProxyMode = { kind: "pass" };

/** Faults of the network between processes. */
export const LINK_FAULTS: readonly Fault[] = [
  cut("gateway-service", [1_000, 8_000]),
  cut("service-postgres", [1_000, 8_000]),
  cut("service-kafka", [2_000, 12_000]),
  cut("relayer-chain", [2_000, 10_000]),
  {
    name: "link-slow",
    holdMs: [3_000, 10_000],
    async begin({ links }, random) {
      const link = pick(random, links.all);
      link.setMode({ kind: "slow", random });
      return { detail: link.name, end: async () => link.setMode(PASS) };
    },
  },
];

function cut(edge: Edge, holdMs: readonly [number, number]): Fault {
  return {
    name: `cut-${edge}`,
    holdMs,
    isPossible: ({ links }: World) => links.on(edge).length > 0,
    async begin({ links }, random) {
      const kind = pick(random, CUTS);
      const mode = { kind } as ProxyMode;
      // Two endpoints suffice for the relayer, so the fault cuts all three.
      const affected = edge === "relayer-chain" ? links.on(edge) : [pick(random, links.on(edge))];
      for (const link of affected) link.setMode(mode);
      const names = affected.map(({ name }) => name).join(", ");
      return {
        detail: `${names}: ${kind}`,
        async end() {
          // Ends the connections whose other side has given them up.
          if (kind === "halfOpen") for (const link of affected) link.setMode({ kind: "reset" });
          for (const link of affected) link.setMode(PASS);
        },
      };
    },
  };
}
