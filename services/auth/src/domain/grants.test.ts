import { LATEST_API_VERSION } from "@wonrail/kit/contract/apiVersions";
import { SCOPES } from "@wonrail/kit/contract/scopes";
import { isAddressAllowed, limitToIssuer, makeGrant } from "./grants";

const grant = (scopes: (typeof SCOPES)[number][], ...allowedAddresses: string[]) =>
  makeGrant({ scopes, allowedAddresses });

test("a grant without scopes has all of them, from any address, in the newest version", () => {
  const made = makeGrant({});
  expect(made).toEqual({
    name: "API key",
    scopes: SCOPES,
    allowedAddresses: [],
    apiVersion: LATEST_API_VERSION,
  });
  expect(isAddressAllowed(made, "203.0.113.7")).toBe(true);
});

test("scopes and addresses are kept once, scopes in the order of the contract", () => {
  const { scopes, allowedAddresses } = grant(
    ["payments:write", "wallets:read", "payments:write"],
    ...["192.0.2.1", "192.0.2.1"],
  );
  expect([scopes, allowedAddresses]).toEqual([["wallets:read", "payments:write"], ["192.0.2.1"]]);
});

const FIFTY_ONE = Array<string>(51).fill("192.0.2.1");

test.each([
  ["name", { name: "" }, "must be 1 to 100 characters long"],
  ["name", { name: "n".repeat(101) }, "must be 1 to 100 characters long"],
  ["scopes", { scopes: [] }, "must name at least one scope"],
  ["allowedAddresses[1]", { allowedAddresses: ["192.0.2.1", "192.0.2.1/24"] }, "is no address range"],
  ["allowedAddresses", { allowedAddresses: FIFTY_ONE }, "must have at most 50 entries"],
])("a wrong %s is refused", (path, given, message) => {
  const refusal = { code: "REQ_001", details: { fields: [{ path, message }] } };
  expect(() => makeGrant(given)).toThrow(expect.objectContaining(refusal));
});

test("a key that lacks a scope cannot give it", () => {
  const issuer = grant(["wallets:read", "keys:manage"]);
  expect(limitToIssuer(grant(["wallets:read"]), issuer).scopes).toEqual(["wallets:read"]);
  expect(() => limitToIssuer(grant(["wallets:read", "wallets:write"]), issuer)).toThrow(
    expect.objectContaining({ code: "WAUTH_005", details: { scope: "wallets:write" } }),
  );
});

test("a key with an allow-list gives this list or a part of it", () => {
  const issuer = grant(["keys:manage"], "203.0.113.0/24", "2001:db8::/32");
  expect(limitToIssuer(grant(["keys:manage"]), issuer).allowedAddresses).toEqual(issuer.allowedAddresses);
  const part = grant(["keys:manage"], "203.0.113.128/25", "2001:db8::1");
  expect(limitToIssuer(part, issuer)).toEqual(part);
  const message = "is outside of the allow-list of your own key";
  const fields = [{ path: "allowedAddresses[1]", message }];
  expect(() => limitToIssuer(grant(["keys:manage"], "203.0.113.7", "0.0.0.0/0"), issuer)).toThrow(
    expect.objectContaining({ code: "REQ_001", details: { fields } }),
  );
});

test("an allow-list contains its ranges and nothing that is no address", () => {
  const limited = grant(["wallets:read"], "203.0.113.0/24");
  expect(["203.0.113.9", "203.0.114.9", "unknown"].map((one) => isAddressAllowed(limited, one))).toEqual([
    ...[true, false, false],
  ]);
});

test("a name of one or a hundred characters and fifty addresses are accepted", () => {
  for (const name of ["n", "😀".repeat(100)]) expect(makeGrant({ name }).name).toBe(name);
  const addresses = Array.from({ length: 50 }, (_, index) => `192.0.2.${index}`);
  expect(grant(["wallets:read"], ...addresses).allowedAddresses).toEqual(addresses);
});

test("a key without an allow-list lets the new key have its own", () => {
  const wanted = grant(["keys:manage"], "203.0.113.7");
  expect(limitToIssuer(wanted, grant(["keys:manage"]))).toEqual(wanted);
});
