import { Webhook } from "standardwebhooks";
import { unwrapWebhook } from "./unwrapWebhook.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"type":"payment.created","data":{"memo":"한국어"}}';
const NOW_MS = 1_800_000_000_000;

function signed(body = BODY, atMs = NOW_MS): Record<string, string> {
  const signature = new Webhook(SECRET).sign("evt_1", new Date(atMs), body);
  return { "webhook-id": "evt_1", "webhook-timestamp": String(atMs / 1000), "webhook-signature": signature };
}

const unwrap = (body: string, headers: Record<string, string> | Headers, secret = SECRET) =>
  unwrapWebhook(body, headers, secret, NOW_MS);

test("the test vector of the specification is accepted", async () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const body = '{"test": 2432232314}';
  expect(await unwrapWebhook(body, headers, SECRET, 1_614_265_330_000)).toEqual({ test: 2432232314 });
});

test("a signature of another library is accepted, in an object, in Headers, and beside other signatures", async () => {
  const headers = signed();
  const both = { ...headers, "webhook-signature": `v1,AAAA v1a,BBBB ${headers["webhook-signature"]}` };
  for (const given of [headers, new Headers(headers), both])
    expect(await unwrap(BODY, given)).toEqual(JSON.parse(BODY));
});

test.each([
  ["a changed body", BODY.replace("payment", "Payment"), signed(), SECRET],
  ["another secret", BODY, signed(), "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
  ["an old timestamp", BODY, signed(BODY, NOW_MS - 301_000), SECRET],
  ["a timestamp of the future", BODY, signed(BODY, NOW_MS + 301_000), SECRET],
  ["another id", BODY, { ...signed(), "webhook-id": "evt_2" }, SECRET],
  ["no signature", BODY, { ...signed(), "webhook-signature": "" }, SECRET],
  [
    "a signature of another version",
    BODY,
    { ...signed(), "webhook-signature": signed()["webhook-signature"]!.replace("v1,", "v2,") },
    SECRET,
  ],
  ["no secret", BODY, signed(), ""],
])("%s is refused", async (_, body, headers, secret) => {
  await expect(unwrap(body, headers, secret)).rejects.toMatchObject({ code: "SDK_004" });
});
