import { KeyIssued } from "@wonrail/proto/auth/events/v1/events";
import { issuedKey, keyChange } from "./keys";

const [issuedAt, expiresAt] = [new Date(0), new Date(86_400_000)];
const issued = KeyIssued.fromPartial({
  keyId: "key_1",
  keyPrefix: "wr_live_ab",
  name: "till",
  issuedAt,
  expiresAt,
});

test("an issued key is current and shows its prefix", () => {
  const key = issuedKey("org_1", issued);
  expect(key).toMatchObject({ orgId: "org_1", keyId: "key_1", issuedAt, expiresAt });
  expect(key.data).toMatchObject({ keyId: "key_1", prefix: "wr_live_ab", name: "till", status: "CURRENT" });
});

test.each(["issuedAt", "expiresAt"])("a key without %s is refused", (field) => {
  expect(() => issuedKey("org_1", { ...issued, [field]: undefined })).toThrow("complete");
});

test("the event of a key has the key as its object", () => {
  const key = issuedKey("org_1", issued);
  const change = keyChange({ sourceId: "evt_1", occurredAt: issuedAt }, key, "api_key.expiring");
  const place = { orgId: "org_1", objectId: "key_1", sourceId: "evt_1", occurredAt: issuedAt };
  expect(change).toMatchObject({ ...place, types: ["api_key.expiring"] });
  expect(change.apply(undefined)).toEqual({ data: key.data, failureReason: null });
});
