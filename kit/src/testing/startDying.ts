import { type GrpcService } from "../grpc/server";
import { buildWorld } from "./buildWorld";
import { type Proxy } from "./proxies/proxy";

/**
 * A server whose connection breaks during each method's first call, like a dying pod with a
 * successor.
 */
export function startDying(services: GrpcService[]): Promise<{ port: number; close(): Promise<void> }> {
  return buildWorld(async (parts) => {
    const server = await parts.server(
      services.map((service) => dying(service, () => proxy)),
      { graceMs: 0 },
    );
    const proxy = await parts.proxy(server.address);
    return { port: proxy.port };
  });
}

function dying({ definition, handlers }: GrpcService, proxy: () => Proxy): GrpcService {
  const died = new Set<string>();
  const dieOnce = (name: string, handler: Handler): Handler => {
    return async (...call) => {
      if (died.has(name)) return handler(...call);
      died.add(name);
      proxy().setMode({ kind: "reset" });
      proxy().setMode({ kind: "pass" });
      return new Promise<never>(() => undefined);
    };
  };
  const made = Object.entries(handlers).map(([name, handler]) => [
    name,
    dieOnce(name, handler as unknown as Handler),
  ]);
  return { definition, handlers: Object.fromEntries(made) as GrpcService["handlers"] };
}

type Handler = (...call: unknown[]) => Promise<unknown>;
