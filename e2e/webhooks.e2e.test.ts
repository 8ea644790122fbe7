import { Webhook as NpmWebhook } from "standardwebhooks";
import { startReceiver } from "./money/receiver";
import { type Api, type Json } from "./support/api";
import { newOrganisation } from "./support/operators";
import { reportSkipped } from "./support/reportSkipped";
import { useSharedStack } from "./support/sharedStack";
import { makeEvents } from "./webhooks/makeEvents";
import { findPythonVerifier } from "./webhooks/pythonVerifier";

// Deliveries of a running stack are verified by libraries of others.

jest.setTimeout(300_000);

const python = findPythonVerifier();
if (typeof python === "string") reportSkipped(`no delivery is verified by Python's library, ${python}`);
const withPython = typeof python === "string" ? test.skip : test;

const stack = useSharedStack();
let api: Api;

beforeAll(async () => {
  ({ api } = await newOrganisation(stack.stack()));
});

type Verify = (secret: string, headers: Record<string, string>, body: string) => unknown;

test("npm's standardwebhooks verifies deliveries, during a rotation with both secrets", async () => {
  await verifiesDeliveries((secret, headers, body) => new NpmWebhook(secret).verify(body, headers));
});

withPython("PyPI's standardwebhooks verifies deliveries, during a rotation with both secrets", async () => {
  if (typeof python !== "string") await verifiesDeliveries(python);
});

async function verifiesDeliveries(verify: Verify): Promise<void> {
  const receiver = await startReceiver();
  try {
    const { webhookId, secret } = await api.post("/api/webhooks", { url: receiver.url });
    const [walletId] = await makeEvents(api);
    const first = await receiver.until(({ body }) => body.includes(walletId!));
    const event: Json = JSON.parse(first.body);
    expect(verify(secret, first.headers, first.body)).toEqual(event);
    expect(() => verify(secret, first.headers, `${first.body} `)).toThrow();
    const rotated = await api.post(`/api/webhooks/${webhookId}/rotate-secret`, { overlapSeconds: 600 });
    const [laterId] = await makeEvents(api);
    const later = await receiver.until(({ body }) => body.includes(laterId!));
    for (const each of [secret, rotated.secret])
      expect(verify(each, later.headers, later.body)).toEqual(JSON.parse(later.body));
    await api.call("DELETE", `/api/webhooks/${webhookId}`);
  } finally {
    await receiver.close();
  }
}
