import { inChunks, type Size, sqlPlaces, WALLETS_OF_AN_ORGANISATION as WALLETS } from "../numbered";

/** Each tenth organisation has a webhook. */
const ORGANISATIONS_OF_A_WEBHOOK = 10;

/** Fills in an event for each operation, and a delivery with an attempt if a webhook exists. */
export function fillEvents(size: Size): string[] {
  const { organisations, operations } = size;
  const orgId = `id_of('org', o, ${organisations})`;
  const webhooks = Math.ceil(organisations / ORGANISATIONS_OF_A_WEBHOOK);
  const webhookOf = (organisation: string) =>
    `id_of('whk', ${organisation} / ${ORGANISATIONS_OF_A_WEBHOOK}, ${webhooks})`;
  const hasWebhook = `organisation % ${ORGANISATIONS_OF_A_WEBHOOK} = 0`;
  const deliveryId = `id_of('dlv', n, ${operations})`;
  const each = `from generate_series(0::bigint, ${organisations - 1}) o`;
  return [
    `insert into organisations select ${orgId}, ${sqlPlaces("o", size)} ${each}`,
    `insert into webhooks (org_id, webhook_id, url, event_types, description, status, disabled_reason, ordering,
      secret_version, kek_id, sealed_secret, after_sequence, failing_since)
    select ${orgId}, ${webhookOf("o")}, 'https://bank' || o || '.example/hook', '{}', '',
      case when o % 1000 = 10 then 'DISABLED' else 'ENABLED' end,
      case when o % 1000 = 10 then 'FAILING' end, 'OBJECT', 1, 'test', sha256('secret'), ${sqlPlaces("o", size)},
        case when o % 500 = 10 then now() - interval '1 hour' end
    ${each} where o % ${ORGANISATIONS_OF_A_WEBHOOK} = 0`,
    ...inChunks(
      size,
      (part) => `
      insert into objects (org_id, object_id, sequence, data) select org_id, ref, 1, ${DATA} from ${part}`,
    ),
    ...inChunks(
      size,
      (part) => `
      insert into events (org_id, sequence, event_id, type, object_id, object_sequence, created_at, data, stored_at)
      select org_id, place + 1, uuid_text('evt', n, ${operations})::uuid, 'transfer.completed', ref, 1, at, ${DATA},
        at from ${part} order by n`,
    ),
    ...inChunks(
      size,
      (part) => `
      insert into deliveries (org_id, webhook_id, delivery_id, event_id, event_type, object_id, sequence, status,
        attempts, created_at, finished_at)
      select org_id, ${webhookOf("organisation")}, ${deliveryId}, uuid_text('evt', n, ${operations})::uuid,
        'transfer.completed', ref, place + 1,
        case when n % 200 = 0 then 'PENDING' else 'DELIVERED' end, 1, at, case when n % 200 > 0 then at end
      from ${part} where ${hasWebhook}`,
    ),
    ...inChunks(
      size,
      (part) => `
      insert into attempts (org_id, webhook_id, delivery_id, number, started_at, duration_ms, request_head, status_code,
        response_head)
      select org_id, ${webhookOf("organisation")}, ${deliveryId}, 1, at, 50, 'POST /hook', 204,
        'HTTP/1.1 204' from ${part} where ${hasWebhook}`,
    ),
    `insert into balances (org_id, wallet_id, balance_won, available_won)
    select ${orgId}, id_of('wal', o * ${WALLETS} + i, ${organisations * WALLETS}), 1, 1 ${each}, generate_series(0,
      ${WALLETS - 1}) i`,
  ];
}

const DATA = `('{"transferId": "' || ref || '", "status": "COMPLETED", "fromWalletId": "' || from_wallet || '", "amount": 1}')::json`;
