import { type RoleName } from "@wonrail/kit/admin";
import { type Queryable, sql } from "@wonrail/kit/db";

const SIGN_IN_MINUTES = 10;
const LINK_MINUTES = 60;

/** A sign-in that waits for the identity provider's answer. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  codeVerifier: string;
  returnTo: string;
}

/** The person behind a session. */
export interface Identity {
  operator: string;
  roles: RoleName[];
}

export async function insertSignIn(
  db: Queryable,
  tokenHash: Buffer,
  { state, nonce, codeVerifier, returnTo }: PendingSignIn,
): Promise<void> {
  await db.run(sql`
    insert into sign_ins (token_hash, state, nonce, code_verifier, return_to, expires_at)
    values (${tokenHash}, ${state}, ${nonce}, ${codeVerifier}, ${returnTo},
      now() + make_interval(mins => ${SIGN_IN_MINUTES}))`);
}

/** Deletes the sign-in and returns it, so that one of two callers gets it. */
export async function takeSignIn(db: Queryable, tokenHash: Buffer): Promise<PendingSignIn | undefined> {
  const [taken] = await db.write<PendingSignIn>(sql`
    delete from sign_ins where token_hash = ${tokenHash} and expires_at > now()
    returning state, nonce, code_verifier as "codeVerifier", return_to as "returnTo"`);
  return taken;
}

export async function insertLink(
  db: Queryable,
  tokenHash: Buffer,
  { operator, roles }: Identity,
): Promise<void> {
  await db.run(sql`
    insert into sign_in_links (token_hash, operator, roles, expires_at)
    values (${tokenHash}, ${operator}, ${roles}::text[], now() + make_interval(mins => ${LINK_MINUTES}))`);
}

/** Deletes the link and returns its operator, so that a link works once. */
export async function takeLink(db: Queryable, tokenHash: Buffer): Promise<Identity | undefined> {
  const [taken] = await db.write<Identity>(sql`
    delete from sign_in_links where token_hash = ${tokenHash} and expires_at > now()
    returning operator, roles`);
  return taken;
}

export async function deleteOldSignIns(db: Queryable): Promise<void> {
  await db.run(sql`delete from sign_ins where expires_at <= now()`);
  await db.run(sql`delete from sign_in_links where expires_at <= now()`);
}
