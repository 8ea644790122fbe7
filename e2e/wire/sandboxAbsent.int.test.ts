import { createApp as createRelayer } from "@wonrail/chain-relayer/app";
import { rpc as relayerRpc } from "@wonrail/chain-relayer/rpc";
import { createClient } from "@wonrail/kit/grpc/client";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { type Call, type ServiceDefinition } from "./support/callRows";
import { SANDBOX_CALLS } from "./support/sandboxCalls";
import { CHAIN, identityOf, parts, serve, startServices, type Services } from "./support/services";
import { makeStory, type Story } from "./support/story";

// On a main network no service has an RPC of the sandbox.

let services: Services;
let story: Story;
let relayerAddress: string;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  services = await startServices("WON_MAINNET");
  closers.push(() => services.close());
  story = await makeStory(services);
  closers.unshift(() => story.gateway.close());
  relayerAddress = await startRelayer();
}, 120_000);
afterAll(async () => {
  for (const close of closers) await close();
}, 60_000);

test.each(SANDBOX_CALLS.map((call) => [`${call.caller} → ${call.server} ${call.name}`, call] as const))(
  "%s is not implemented",
  async (_name, call) => {
    const address = call.server === "chain-relayer" ? relayerAddress : services.addressOf(call.server);
    const client = openRaw(call, address);
    try {
      await expect(client[call.name]!(await call.good(story))).rejects.toMatchObject({ code: "SYS_004" });
    } finally {
      client.close();
    }
  },
);

type RawClient = Record<string, (request: Buffer) => Promise<unknown>> & { close(): void };

/** A client that sends encoded requests. */
function openRaw({ caller, server, definition }: Call, address: string): RawClient {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    { ...method, requestSerialize: (request: Buffer) => request },
  ]);
  const options = { ...parts(), name: server, address, tls: identityOf(caller), defaultTimeoutMs: 10_000 };
  return createClient(Object.fromEntries(methods) as ServiceDefinition, options) as never;
}

/** The whole chain-relayer, whose chain is away. */
async function startRelayer(): Promise<string> {
  const { db } = services.databases.get("chain-relayer")!;
  const addresses = ["AUTH", "WALLET", "LEDGER", "PAYMENT"].map((name) => [
    `${name}_ADDRESS`,
    services.addressOf(name.toLowerCase()),
  ]);
  const config = {
    ...{ ...CHAIN, ...Object.fromEntries(addresses), NETWORK: "WON_MAINNET", FINALITY: "finalized" },
    ...{
      CHAIN_RPC_URLS: ["http://127.0.0.1:1"],
      CHAIN_RPC_TIMEOUT_MS: 1_000,
      OPERATOR_KEY: `0x${"11".repeat(32)}`,
    },
    ...{
      LEASE_MS: 1_000,
      AUTHORIZATION_LIFE_MS: 1_000,
      FEE_CAP_GWEI: 1,
      START_BLOCK: 0,
      X402_GAS_PER_DAY: 0,
    },
  };
  const { app, close } = await buildWorld(async (open) => ({
    app: await open.app((onClose) =>
      createRelayer({ ...parts(), config, db, tls: identityOf("chain-relayer"), onClose }, fail),
    ),
  }));
  closers.unshift(close);
  const server = await serve("chain-relayer", relayerRpc(app));
  closers.unshift(() => server.drain(100));
  return `127.0.0.1:${server.port}`;
}

function fail(error: unknown): void {
  throw error;
}
