import { newSecret, signedHeaders } from "./signature";

// The vector of the Standard Webhooks libraries.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const MESSAGE = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  atSeconds: 1_614_265_330,
  body: '{"test": 2432232314}',
};
const SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

test("a signature follows Standard Webhooks 1.0, one for each secret", () => {
  expect(signedHeaders(MESSAGE, [SECRET])).toEqual({
    "webhook-id": MESSAGE.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": SIGNATURE,
  });
  const [first, second] = signedHeaders(MESSAGE, [newSecret(), SECRET])["webhook-signature"]!.split(" ");
  expect(first).not.toBe(SIGNATURE);
  expect(second).toBe(SIGNATURE);
});

test("a new secret has 32 random bytes", () => {
  const secrets = Array.from({ length: 10 }, newSecret);
  expect(new Set(secrets).size).toBe(10);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/);
    expect(Buffer.from(secret.slice("whsec_".length), "base64")).toHaveLength(32);
  }
});
