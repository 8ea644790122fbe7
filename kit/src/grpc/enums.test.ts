import { enumFilter, enumName, enumValue } from "./enums";

enum WalletType {
  UNSPECIFIED = "WALLET_TYPE_UNSPECIFIED",
  NORMAL = "WALLET_TYPE_NORMAL",
  INCENTIVE = "WALLET_TYPE_INCENTIVE",
  UNRECOGNIZED = "UNRECOGNIZED",
}

test("a value and its short public name convert into each other", () => {
  expect(enumName(WalletType, WalletType.NORMAL)).toBe("NORMAL");
  expect(enumValue(WalletType, "INCENTIVE")).toBe(WalletType.INCENTIVE);
});

test("unset and unknown values have no name", () => {
  expect(enumName(WalletType, WalletType.UNSPECIFIED)).toBeUndefined();
  expect(enumName(WalletType, WalletType.UNRECOGNIZED)).toBeUndefined();
  expect(enumName(WalletType, "WALLET_TYPE_GOVERNMENT" as WalletType)).toBeUndefined();
});

test("a newer filter value is refused by its field, because it would match everything", () => {
  expect(enumFilter(WalletType, WalletType.NORMAL, "walletType")).toBe("NORMAL");
  expect(enumFilter(WalletType, WalletType.UNSPECIFIED, "walletType")).toBeUndefined();
  const message = "has a value that this release does not know";
  const refusal = { code: "REQ_001", details: { fields: [{ path: "walletType", message }] } };
  expect(() => enumFilter(WalletType, WalletType.UNRECOGNIZED, "walletType")).toThrow(
    expect.objectContaining(refusal),
  );
});

test("an unknown enum name in the code is an error", () => {
  for (const name of ["GOVERNMENT", "UNSPECIFIED", "UNRECOGNIZED", "toString", ""]) {
    expect(() => enumValue(WalletType, name)).toThrow("no enum value is called");
  }
});
