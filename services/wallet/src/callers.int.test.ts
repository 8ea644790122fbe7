import { makeAuthority } from "@wonrail/kit/testing/certificates";
import { createClient } from "@wonrail/kit/grpc/client";
import { type GrpcServer, startGrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { callersOf } from "@wonrail/kit/service";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { AuthorizationKind, WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { CHAIN_ID, openWorld, TOKEN, type World } from "./commands/testing/world";
import { rpc } from "./rpc";

// The caller's certificate decides whether custody signs.

const authority = makeAuthority("wonrail test authority");
const clients: { close(): void }[] = [];
let world: World;
let server: GrpcServer;

beforeAll(async () => {
  world = await openWorld();
  const services = rpc(world.app);
  const door = { host: "127.0.0.1", port: 0, tls: authority.issue("wallet", ["DNS:wallet"]) };
  const parts = { log: testLog(), registry: testRegistry() };
  server = await startGrpcServer({ ...door, ...parts, callers: callersOf("wallet", services), services });
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.drain(100);
  await world.close();
});

/** A client with the caller's certificate; without a caller, with none. */
function as(caller?: string) {
  const client = createClient(WalletServiceService, {
    name: "wallet",
    address: `127.0.0.1:${server.port}`,
    log: testLog(),
    registry: testRegistry(),
    // Without a certificate there is no answer to wait for.
    defaultTimeoutMs: caller === undefined ? 2_000 : 20_000,
    tls: caller === undefined ? undefined : authority.issue(caller, [`DNS:${caller}`]),
  });
  clients.push(client);
  return client;
}

test("only the relayer gets a signature for a payment of the ledger", async () => {
  const orgId = newId("org");
  const wish = { orgId, walletType: WalletType.NORMAL, metadata: {} };
  const [from, to] = [
    (await as("gateway").createWallet({ ...wish, userId: "payer" })).wallet!,
    (await as("gateway").createWallet({ ...wish, userId: "payee" })).wallet!,
  ];
  const ledgerRef = newId("trf");
  world.ledger.addTransfer({ orgId, ledgerRef, from: from.walletId, to: to.walletId, amountWon: 5n });
  const intent = {
    ...{ orgId, ledgerRef, fromWalletId: from.walletId, toAddress: to.walletAddress, amountWon: "5" },
    ...{ chainId: BigInt(CHAIN_ID), tokenAddress: TOKEN, kind: AuthorizationKind.TRANSFER },
    nonce: Buffer.alloc(32, 1),
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 600),
  };
  for (const caller of ["gateway", "payment", "ledger", "auth", "wallet"])
    await expect(as(caller).signAuthorizations({ intents: [intent] })).rejects.toMatchObject({
      code: "SYS_001",
    });
  await expect(as().signAuthorizations({ intents: [intent] })).rejects.toMatchObject({
    code: expect.stringMatching(/SYS_00[23]/) as string,
  });
  const { signatures } = await as("chain-relayer").signAuthorizations({ intents: [intent] });
  expect(signatures.map(({ outcome }) => outcome?.$case)).toEqual(["signature"]);
});
