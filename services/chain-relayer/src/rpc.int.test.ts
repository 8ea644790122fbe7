import { join } from "node:path";
import { newId } from "@wonrail/kit/contract/ids";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { type App } from "./app";
import { createFaucet } from "./evm";
import { rpc } from "./rpc";
import { TOKEN } from "./testing/chainDouble";
import { depositFromFaucet, type WantedDeposit } from "./x402";

const opening = buildWorld(async (open) => {
  const migrations = join(__dirname, "../migrations");
  const { db } = await open.database({ schema: "chain_relayer", migrations });
  const chain = { chainId: 1n, tokenAddress: TOKEN };
  const faucet = createFaucet(`0x${"11".repeat(32)}`);
  // The authorization is hashed and signed before the chain and the wallets are asked.
  const deps = { db, chain, faucet, now: Date.now } as Parameters<typeof depositFromFaucet>[0];
  const sandbox = { depositFromFaucet: (wanted: WantedDeposit) => depositFromFaucet(deps, wanted) };
  const { address } = await open.server(rpc({ sandbox } as App));
  return { relayer: open.client(RelayerServiceService, address) };
});
afterAll(async () => (await opening).close());

test.each(["", "\u0130", `0x${"7".repeat(39)}`, `0x${"aB".repeat(20)}`])(
  "a deposit to %j is refused, because it is no address",
  async (toAddress) => {
    const { relayer } = await opening;
    const wanted = { orgId: newId("org"), toAddress, amountWon: "1000", waitMs: 10 };
    await expect(relayer.createSandboxDeposit(wanted)).rejects.toMatchObject({
      code: "REQ_001",
      details: { fields: [{ path: "toAddress", message: "must be an address" }] },
    });
  },
);
