import { checkAnswer } from "./contract";

const own = { requestId: "req_0192f0c1a2b37c4d8e5f60718293a4b5", timestamp: "2026-01-14T00:30:00.000Z" };
const refusal = (code: string) => ({
  success: false,
  data: null,
  error: { code, message: "m", details: null },
  ...own,
});
const health = { success: true, data: { status: "ok" }, error: null, ...own };

test("accepts documented answers", () => {
  checkAnswer("GET", "/healthz", 200, health);
  checkAnswer("POST", "/api/wallets/charge", 400, refusal("CHG_001"));
  checkAnswer("GET", "/api/wallets/payment/pay_1", 404, refusal("PAY_004"));
  checkAnswer("GET", "/api/nowhere", 404, refusal("REQ_004"));
  checkAnswer("DELETE", "/api/wallets", 405, refusal("REQ_005"));
  checkAnswer("GET", "/api/wallets", 431, refusal("REQ_006"));
});

test.each<[string, Parameters<typeof checkAnswer>]>([
  ["a status that is not there", ["POST", "/api/wallets/charge", 418, refusal("CHG_001")]],
  ["another operation's code", ["POST", "/api/wallets/charge", 400, refusal("PAY_002")]],
  ["a field too many", ["GET", "/healthz", 200, { ...health, extra: 1 }]],
  ["a field of another type", ["GET", "/healthz", 200, { ...health, timestamp: "today" }]],
  ["a success at no documented place", ["GET", "/api/nowhere", 200, health]],
])("refuses %s", (_, answer) => {
  expect(() => checkAnswer(...answer)).toThrow(/answered/);
});
