import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type Outcome } from "@wonrail/kit/batchQueue";
import { type Deps } from "../commands/deps";
import { type ApiKey } from "../domain/keys";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import { findApiKey } from "../store/apiKeys";
import { findOrganisation } from "../store/organisations";
import { getUsage, type Usage } from "./getUsage";

export interface Session {
  organisation: Organisation;
  key: ApiKey;
  subscriptionActive: boolean;
  now: Date;
  usage: Usage[];
}

export interface SessionInput {
  orgId: Id<"org">;
  keyId: Id<"key">;
}

/**
 * Returns each key's organisation, subscription and usage. Reads keys sequentially, so all callers
 * together use one connection. Calls for the same key share one read.
 */
export async function getSessions(deps: Deps, inputs: SessionInput[]): Promise<Outcome<Session>[]> {
  const outcomes = new Map<string, Outcome<Session>>();
  const nameOf = ({ orgId, keyId }: SessionInput) => `${orgId} ${keyId}`;
  for (const input of inputs) {
    const name = nameOf(input);
    if (!outcomes.has(name)) outcomes.set(name, await getSession(deps, input));
  }
  return inputs.map((input) => outcomes.get(nameOf(input))!);
}

async function getSession({ db }: Deps, { orgId, keyId }: SessionInput): Promise<Outcome<Session>> {
  const found = await findOrganisation(db, orgId);
  const key = found && (await findApiKey(db, orgId, keyId));
  if (!key) return { ok: false, error: new DomainError("WAUTH_001") };
  const { organisation, now } = found;
  const usage = await getUsage(db, organisation, now);
  const subscriptionActive = isSubscriptionActive(organisation, now);
  return { ok: true, value: { organisation, key, subscriptionActive, now, usage } };
}
