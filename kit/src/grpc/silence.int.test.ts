import { DomainError } from "../contract/errors";
import { closeAll, echoClient, openProxy, startEcho } from "./echoService.testing";

afterEach(closeAll);

const PATIENT_CALLS = 6;

test.each<[string, { timeoutMs: number } | { signal: () => AbortSignal }]>([
  ["are in a hurry", { timeoutMs: 20 }],
  ["leave", { signal: () => AbortSignal.timeout(20) }],
])("a silent connection is replaced although some callers %s", async (_name, other) => {
  const { port } = await startEcho({ say: async (note) => note });
  const proxy = await openProxy(port);
  const client = echoClient(proxy.port, { defaultTimeoutMs: 100, breaker: { volumeThreshold: 1_000 } });
  await client.say({ text: "" }, { timeoutMs: 5_000 });
  proxy.setMode({ kind: "halfOpen" });

  for (let call = 0; call < PATIENT_CALLS; call += 1) {
    await client.say({ text: "" }).catch(() => undefined);
    const options = "signal" in other ? { signal: other.signal() } : other;
    await client
      .say({ text: "" }, options)
      .catch((error: unknown) => expect(error).toBeInstanceOf(DomainError));
  }
  await expect(client.say({ text: "there" }, { timeoutMs: 5_000 })).resolves.toEqual({ text: "there" });
});
