import { makeAuthority } from "./testing/certificates";
import { Registry } from "./metrics";
import { readTls } from "./tls";

const EXPIRY = "tls_certificate_expiry_timestamp_seconds";

test("measures the end of its certificate", async () => {
  const registry = new Registry();
  const { cert, key, ca } = makeAuthority("authority", 90).issue("payment", ["DNS:payment"]);
  const given = { TLS_CERT: cert.toString(), TLS_KEY: key.toString(), TLS_CA: ca.toString() };
  expect(readTls(given, registry)).toEqual({ cert, key, ca });
  const seconds = Number(new RegExp(`^${EXPIRY} (.*)$`, "m").exec(await registry.metrics())?.[1]);
  expect((seconds - Date.now() / 1000) / 86_400).toBeCloseTo(90, 1);
});

test("measures no expiry without TLS", async () => {
  const registry = new Registry();
  expect(readTls({}, registry)).toBeUndefined();
  expect(await registry.metrics()).not.toContain(EXPIRY);
});
