import { type Api, openApi } from "./api";
import { admin, newOrganisation } from "./operators";
import { type TestStack } from "./startStack";

interface World {
  stack: TestStack;
  api: Api;
}

/** A key of the organisation with these options of `key issue`. */
async function keyWith(stack: TestStack, ...options: string[]): Promise<Api> {
  const { orgCode } = await newOrganisation(stack.stack());
  const { apiKey } = await admin(stack.stack(), "key", "issue", "--org", orgCode, ...options);
  return openApi(stack.stack().gatewayUrl, apiKey!);
}

/** Requests that are refused with the codes of keys and their rights. */
export const KEY_CODES = {
  REQ_008: ({ api }: World) =>
    api.call("GET", "/api/wallets", undefined, { headers: { "Wonrail-Version": "1999-01-01" } }),
  WAUTH_005: async ({ stack }: World) => {
    const api = await keyWith(stack, "--scopes", "wallets:read");
    expect((await api.call("GET", "/api/wallets")).status).toBe(200);
    const refused = await api.call("POST", "/api/wallets", { userId: "one", walletType: "NORMAL" });
    expect(refused.body.error?.details).toEqual({ scope: "wallets:write" });
    return refused;
  },
  WAUTH_006: async ({ stack }: World) => {
    const api = await keyWith(stack, "--allowed-addresses", "192.0.2.0/24,2001:db8::/32");
    return api.call("GET", "/api/wallets");
  },
  WAUTH_007: ({ api }: World) => api.call("GET", `/api/wallet-auth/keys/key_${"0".repeat(32)}`),
  WAUTH_008: async ({ stack }: World) => {
    const { api } = await newOrganisation(stack.stack());
    const create = () => api.call("POST", "/api/wallet-auth/keys", { name: "one", scopes: ["wallets:read"] });
    for (let keys = 1; keys < 100; keys += 1) expect((await create()).status).toBe(201);
    return create();
  },
};
