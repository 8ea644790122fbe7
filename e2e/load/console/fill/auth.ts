import { type Size } from "../numbered";

/** Organisations with two keys, a year of usage and five rows of the audit trail each. */
export function fillAuth({ organisations }: Size): string[] {
  const orgId = `uuid_text('org', o, ${organisations})::uuid`;
  const keyId = `uuid_text('key', o * 2 + k, ${organisations * 2})::uuid`;
  const madeAt = `time_of(o, ${organisations})`;
  const each = `from generate_series(0::bigint, ${organisations - 1}) o`;
  return [
    `insert into organisations (org_id, code, name, status, plan, subscription_starts_at, subscription_ends_at,
      incentive_rate_bps,
      daily_transfer_limit_won, daily_charge_limit_won, max_charge_won, rate_per_second, rate_burst, secret_key_hash,
        version, created_at, updated_at)
    select ${orgId}, 'BANK' || lpad(o::text, 6, '0'), 'Bank number ' || o,
      case when o % 200 = 7 then 'SUSPENDED' else 'ACTIVE' end,
      'ENTERPRISE', ${madeAt}, ${madeAt} + interval '1 year', 100, 5000000, 1000000000, 10000000, 100, 200,
        sha256(o::text::bytea), 1, ${madeAt}, ${madeAt}
    ${each}`,
    `insert into api_keys (org_id, key_id, lineage_id, prefix, key_hash, version, name, scopes, allowed_addresses,
      api_version, issued_at, expires_at, last_used_at)
    select ${orgId}, ${keyId}, ${keyId}, 'wk_test_' || lpad((o * 2 + k)::text, 12, '0'),
      sha256((o * 2 + k)::text::bytea), 1, 'server', '{wallets:read}', '{}',
      '2026-01-01', ${madeAt}, ${madeAt} + interval '90 days', now()
    ${each}, generate_series(0, 1) k`,
    `insert into quota_usages (org_id, quota, period, limit_units, spent_units, leased_units)
    select ${orgId}, 'MONEY_OPERATIONS', to_char(now() - make_interval(months => m), 'YYYY-MM'), 1000000000, o % 5000, 0
    ${each}, generate_series(0, 11) m
    union all select ${orgId}, 'WALLETS', 'ever', 10000000, 10, 0 ${each}`,
    `insert into audit_entries (org_id, sequence, occurred_at, actor, action, subject, details, request_id, previous_hash, hash)
    select ${orgId}, s, ${madeAt}, 'operator:kim', 'organisation_changed', 'BANK' || lpad(o::text, 6, '0'), '{}',
      'req_1', sha256('a'), sha256('b')
    ${each}, generate_series(1, 5) s`,
    `insert into audit_heads select ${orgId}, 5, sha256('b') ${each}`,
  ];
}
