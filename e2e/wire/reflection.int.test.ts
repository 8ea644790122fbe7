import { type GrpcServer, implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { Registry } from "@wonrail/kit/metrics";
import { testLog } from "@wonrail/kit/testing";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { type Explorer, explore } from "../support/reflection";

// Sees a server like grpcurl: from its address it learns services and methods.

const services = [
  ["wonrail.auth.v1.AuthService", AuthServiceService],
  ["wonrail.wallet.v1.WalletService", WalletServiceService],
  ["wonrail.ledger.v1.LedgerService", LedgerServiceService],
  ["wonrail.payment.v1.PaymentService", PaymentServiceService],
  ["wonrail.relayer.v1.RelayerService", RelayerServiceService],
] as const;

describe.each(services)("%s", (name, definition) => {
  let server: GrpcServer;
  let explorer: Explorer;
  beforeAll(async () => {
    server = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      services: [implement(definition as typeof AuthServiceService, {})],
      reflection: true,
      log: testLog(),
      registry: new Registry(),
    });
    explorer = explore(`127.0.0.1:${server.port}`);
  });
  afterAll(async () => {
    explorer.close();
    await server.drain(100);
  });

  it("is listed beside health, and describes every method", async () => {
    expect((await explorer.list()).sort()).toEqual(["grpc.health.v1.Health", name].sort());
    const { methods } = await explorer.describe(name);
    const paths = methods.map((method) => `/${name}/${method.name}`);
    expect(paths.sort()).toEqual(
      Object.values(definition)
        .map(({ path }) => path)
        .sort(),
    );
  });

  it("JSON calls work, and a method without implementation is refused with SYS_004", async () => {
    const { methods } = await explorer.describe(name);
    const { name: method } = methods.find(({ methodKind }) => methodKind === "unary")!;
    const refused = { ok: false, status: "UNIMPLEMENTED", code: "SYS_004" };
    expect(await explorer.call(name, method)).toEqual(refused);
  });

  it("is healthy while it serves, as a whole and by its name", async () => {
    const health = (service: string) => explorer.call("grpc.health.v1.Health", "Check", { service });
    for (const asked of ["", name])
      expect(await health(asked)).toEqual({ ok: true, message: { status: "SERVING" } });
    expect(await health("wonrail.unheard.v1.Of")).toMatchObject({ ok: false, status: "NOT_FOUND" });
    server.setServing(false);
    expect(await health(name)).toEqual({ ok: true, message: { status: "NOT_SERVING" } });
    server.setServing(true);
  });
});
