import {
  causesOf,
  DomainError,
  errorTable,
  invalidRequest,
  isErrorCode,
  isRefusal,
  refusedFields,
} from "./errors";

test("codes have the HTTP status of the specification", () => {
  const specified: Record<string, number> = {
    WAUTH_001: 401,
    WAUTH_002: 401,
    WAUTH_003: 403,
    WAUTH_004: 403,
    WAL_002: 404,
    WAL_004: 400,
    TRF_001: 400,
    TRF_002: 400,
    TRF_003: 400,
    CHG_003: 400,
    CHG_004: 400,
    PAY_001: 400,
    PAY_002: 400,
    PAY_003: 400,
    TX_001: 404,
    RATE_001: 429,
    SYS_001: 500,
  };
  for (const [code, http] of Object.entries(specified)) {
    expect([code, isErrorCode(code) && errorTable[code].http]).toEqual([code, http]);
  }
});

test("every message is a complete sentence", () => {
  for (const [code, row] of Object.entries(errorTable))
    expect([code, /^[A-Z].*\.$/.test(row.message)]).toEqual([code, true]);
});

test("only errors that may succeed later are retryable", () => {
  const retryable = Object.entries(errorTable)
    .filter(([, row]) => row.retryable)
    .map(([code]) => code);
  expect(retryable).toEqual(["REQ_002", "RATE_001", "SYS_002", "SYS_003"]);
});

test("SYS_002 speaks of this attempt and of the key, and does not promise that nothing was done", () => {
  const { message } = errorTable.SYS_002;
  expect(message).toContain("This attempt changed nothing.");
  expect(message).toContain("An earlier attempt with the same Idempotency-Key may have succeeded");
  expect(message).not.toMatch(/nothing was (done|changed)/i);
});

test("isRefusal is true for a refusal and false for a fault", () => {
  expect(isRefusal(new DomainError("TRF_001"))).toBe(true);
  expect(isRefusal(new DomainError("SYS_002"))).toBe(false);
  expect(isRefusal(new DomainError("SYS_001"))).toBe(false);
  expect(isRefusal(new Error("x"))).toBe(false);
});

test("causesOf writes the chain of causes as one line, outermost first", () => {
  const refused = new Error("connect ECONNREFUSED");
  const cause = new Error("/wonrail.wallet.v1.WalletService/GetWallet", { cause: refused });
  const unknown = new DomainError("SYS_003", null, { cause });
  expect(causesOf(new DomainError("SYS_002", null, { cause: unknown }))).toBe(
    "SYS_003: /wonrail.wallet.v1.WalletService/GetWallet: connect ECONNREFUSED",
  );
  expect(causesOf(new DomainError("SYS_002"))).toBeUndefined();
});

test("an invalid request names each field", () => {
  expect(invalidRequest([{ path: "amount", message: "must be an integer" }]).details).toEqual({
    fields: [{ path: "amount", message: "must be an integer" }],
  });
});

test("only an invalid request names refused fields", () => {
  const fields = [{ path: "requestId", message: "is too old" }];
  expect(refusedFields(invalidRequest(fields))).toEqual(["requestId"]);
  for (const other of [
    new DomainError("REQ_003", { fields }),
    new DomainError("REQ_001"),
    new Error("x"),
    undefined,
  ])
    expect(refusedFields(other)).toEqual([]);
});

test("names of Object.prototype are unknown codes", () => {
  expect(isErrorCode("constructor")).toBe(false);
  expect(isErrorCode("__proto__")).toBe(false);
});
