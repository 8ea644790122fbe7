import { type GrpcService, startGrpcServer } from "../grpc/server";
import { Registry } from "../metrics";
import { startProxy } from "./proxies/proxy";
import { testLog } from "./testLog";

/**
 * A server whose connection breaks during each method's first call, like a dying pod with a
 * successor.
 */
export async function startDying(services: GrpcService[]): Promise<{ port: number; close(): Promise<void> }> {
  const died = new Set<string>();
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: services.map(({ definition, handlers }) => ({
      definition,
      handlers: Object.fromEntries(
        Object.entries(handlers).map(([name, handler]) => [name, dying(name, handler as unknown as Handler)]),
      ),
    })),
    log: testLog(),
    registry: new Registry(),
  });
  const proxy = await startProxy({ target: { host: "127.0.0.1", port: server.port } });

  function dying(name: string, handler: Handler): Handler {
    return async (...call) => {
      if (died.has(name)) return handler(...call);
      died.add(name);
      proxy.setMode({ kind: "reset" });
      proxy.setMode({ kind: "pass" });
      return new Promise<never>(() => undefined);
    };
  }

  return {
    port: proxy.port,
    async close() {
      await proxy.close();
      await server.drain(0);
    },
  };
}

type Handler = (...call: unknown[]) => Promise<unknown>;
