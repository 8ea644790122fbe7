import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type Deps } from "../commands/deps";
import { type ApiKey } from "../domain/keys";
import { findApiKey, listKeyPage } from "../store/apiKeys";
import { findOrganisation } from "../store/organisations";

/** A key, and the database's time, by which its status is judged. */
export async function getKey(
  { db }: Deps,
  orgId: Id<"org">,
  keyId: Id<"key">,
): Promise<{ key: ApiKey; now: Date }> {
  const found = await findOrganisation(db, orgId);
  const key = found && (await findApiKey(db, orgId, keyId));
  if (!key) throw new DomainError("WAUTH_007");
  return { key, now: found.now };
}

/** A page of the organisation's keys, newest first. */
export async function getKeyPage(
  { db }: Deps,
  orgId: Id<"org">,
  page: Page,
): Promise<{ items: ApiKey[]; info: PageInfo; now: Date }> {
  const { rows, total, now } = await listKeyPage(db, orgId, page);
  return { ...cutPage(rows, page, ({ keyId }) => keyId, total), now };
}
