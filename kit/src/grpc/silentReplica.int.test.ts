import { experimental } from "@grpc/grpc-js";
import { closeAll, echoClient, openProxy, startEcho } from "./echoService.testing";

afterEach(closeAll);

test("a silent server among several is avoided, although the others answer between its timeouts", async () => {
  const served = [0, 0];
  const servers = await Promise.all(
    served.map((_, index) => startEcho({ say: async (note) => ((served[index]! += 1), note) })),
  );
  const proxy = await openProxy(servers[0]!.port);
  resolveTo(proxy.port, servers[1]!.port);
  const client = echoClient(0, { defaultTimeoutMs: 100, breaker: { volumeThreshold: 1_000 } });
  while (served.includes(0)) await client.say({ text: "" }, { timeoutMs: 5_000 });
  proxy.setMode({ kind: "halfOpen" });

  const outcomeOf = (options = {}) => {
    const reply = client.say({ text: "" }, options);
    return reply.then(
      () => "served",
      () => "not served",
    );
  };
  // Calls alternate between the servers, until one has failed five consecutive ones.
  const outcomes: string[] = [];
  for (let call = 0; call < 12; call += 1) outcomes.push(await outcomeOf());
  expect(outcomes.filter((outcome) => outcome === "not served").length).toBeGreaterThanOrEqual(5);
  const later = await Promise.all(Array.from({ length: 10 }, () => outcomeOf({ timeoutMs: 5_000 })));
  expect(later).toEqual(Array(10).fill("served"));
});

/** Resolves every name to several servers, like a service's pods. */
function resolveTo(...ports: number[]): void {
  const endpoints = ports.map((port) => ({ addresses: [{ host: "127.0.0.1", port }] }));
  class Names implements experimental.Resolver {
    static getDefaultAuthority = () => "pods";
    constructor(
      _name: unknown,
      private readonly hear: experimental.ResolverListener,
    ) {}
    updateResolution(): void {
      setImmediate(() => this.hear(experimental.statusOrFromValue(endpoints), {}, null, ""));
    }
    destroy(): void {}
  }
  experimental.registerResolver("dns", Names);
}
