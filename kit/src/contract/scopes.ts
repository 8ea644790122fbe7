/** The scopes of API keys. A name is API: never rename or reuse one. */
export const SCOPES = [
  "wallets:read",
  "wallets:write",
  "transfers:read",
  "transfers:write",
  "charges:read",
  "charges:write",
  "payments:read",
  "payments:write",
  "transactions:read",
  "transactions:write",
  "events:read",
  "webhooks:read",
  "webhooks:write",
  "x402:read",
  "x402:write",
  "keys:manage",
  "sandbox:write",
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** The scopes in the order of the list, each once. */
export function sortScopes(scopes: readonly Scope[]): Scope[] {
  return SCOPES.filter((scope) => scopes.includes(scope));
}
