import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError, escapeIdentifier, escapeLiteral } from "pg";
import { CONNECT_TIMEOUT_MS } from "../db/untilReachable";
import { scramVerifier } from "./scramVerifier";

export interface ProvisionOptions {
  /**
   * Database of the schema; each service has its own. The role may create roles and schemas there:
   * a superuser, or a role with CREATEROLE that owns the database.
   */
  adminUrl: string;
  schema: string;
  /**
   * Password of `wonrail_<schema>`, the service's role. It owns nothing and uses its own schema
   * only.
   */
  rolePassword: string;
  /** For `wonrail_<schema>_owner`, which runs the migrations. */
  ownerPassword: string;
}

export interface ProvisionedSchema {
  role: string;
  owner: string;
  /** For the service, and for its migrator. */
  url: string;
  ownerUrl: string;
}

const SCHEMA_NAME = /^[a-z][a-z0-9_]{0,40}$/;
const ATTEMPTS = 10;

/**
 * Creates or updates the schema, its two roles and their rights. Repeated and concurrent runs are safe.
 * Only the two roles may connect to the database. So no other service can notify its channels, hold
 * its advisory locks or fill its disk with temporary tables.
 */
export async function provisionSchema(options: ProvisionOptions): Promise<ProvisionedSchema> {
  const { adminUrl, schema, rolePassword, ownerPassword } = options;
  if (!SCHEMA_NAME.test(schema))
    throw new Error(`${schema}: a schema's name is lower case letters, digits and _`);
  const role = `wonrail_${schema}`;
  const owner = `${role}_owner`;
  const client = new Client({
    connectionString: adminUrl,
    application_name: `provision ${schema}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const verifiers = { role: scramVerifier(rolePassword), owner: scramVerifier(ownerPassword) };
    await untilUndisturbed(() => client.query(statements(schema, client.database!, verifiers)));
  } finally {
    await client.end();
  }
  return {
    role,
    owner,
    url: withUser(adminUrl, role, rolePassword),
    ownerUrl: withUser(adminUrl, owner, ownerPassword),
  };
}

/**
 * One implicit transaction. Roles belong to the server, so concurrent provisioning may change the
 * same rows.
 */
function statements(schema: string, database: string, verifiers: { role: string; owner: string }): string {
  const role = escapeIdentifier(`wonrail_${schema}`);
  const owner = escapeIdentifier(`wonrail_${schema}_owner`);
  const target = escapeIdentifier(schema);
  const base = escapeIdentifier(database);
  return `
    ${roleStatement(role, verifiers.role)}
    ${roleStatement(owner, verifiers.owner)}
    do $$ begin
      if not pg_has_role(current_user, ${escapeLiteral(`wonrail_${schema}_owner`)}, 'member') then
        grant ${owner} to current_user;
      end if;
    end $$;
    -- CONNECT and TEMPORARY, which PostgreSQL grants to every role.
    revoke all on database ${base} from public;
    grant connect on database ${base} to ${role}, ${owner};
    revoke all on schema public from public;
    create schema if not exists ${target} authorization ${owner};
    revoke all on schema ${target} from public;
    grant usage on schema ${target} to ${role};
    alter default privileges for role ${owner} in schema ${target}
      grant select, insert, update, delete on tables to ${role};
    alter default privileges for role ${owner} in schema ${target} grant usage, select on sequences to ${role};
    alter default privileges for role ${owner} in schema ${target} grant execute on functions to ${role};
    alter role ${role} in database ${base} set search_path = ${target};
    alter role ${owner} in database ${base} set search_path = ${target};`;
}

function roleStatement(role: string, verifier: string): string {
  return `
    do $$ begin
      create role ${role};
    exception when duplicate_object then null;
    end $$;
    alter role ${role} login nocreatedb nocreaterole password ${escapeLiteral(verifier)};`;
}

async function untilUndisturbed(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt >= ATTEMPTS || !isDisturbance(error)) throw error;
      await sleep(Math.random() * 50 * attempt);
    }
  }
}

/** Unique violation, deadlock, or "tuple concurrently updated", which has no code of its own. */
function isDisturbance(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  return (
    ["23505", "40P01", "42710", "42P06"].includes(error.code ?? "") || /concurrently/.test(error.message)
  );
}

function withUser(adminUrl: string, user: string, password: string): string {
  const url = new URL(adminUrl);
  url.username = user;
  url.password = encodeURIComponent(password);
  return url.toString();
}
