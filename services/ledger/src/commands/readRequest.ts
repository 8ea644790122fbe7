import { hash } from "node:crypto";
import { readOrgId } from "@wonrail/kit/grpc/server";
import { idTimeMs } from "@wonrail/kit/contract/ids";
import {
  MAX_MEMO_CHARACTERS,
  MAX_METADATA_KEY_CHARACTERS,
  MAX_METADATA_PAIRS,
  MAX_METADATA_VALUE_CHARACTERS,
  MAX_REFERENCE_CHARACTERS,
} from "@wonrail/kit/contract/notes";
import { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import type { IdempotencyKey, LedgerRequest } from "../domain/types";
import { contentOf, readIntent } from "../intents";
import { anyId, check, checkText } from "../intents/fields";
import type { JournalWindow } from "../store/partitions";

const HASH_BYTES = 32;
const SCOPE = /^[A-Z0-9_]{1,32}$/;
const KEY = /^[\x20-\x7e]{1,255}$/;
const UUID_V7 = /^[a-z]{3}_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/** Reads one request. A malformed request is REQ_001 and is not stored: a corrected one may use the same id. */
export function readRequest(
  message: PostRequest,
  window: JournalWindow,
  caller: string | null,
): LedgerRequest {
  const { requestId, memo = null, reference = null, relatedId = null, metadata } = message;
  const { requestId: originId = "", traceparent = "" } = message.context ?? {};
  const orgId = readOrgId(message.context?.orgId, "context.orgId");
  check(!originId.includes("\0"), "context.requestId", "must not contain the character NUL");
  check(!traceparent.includes("\0"), "context.traceparent", "must not contain the character NUL");
  check(UUID_V7.test(requestId), "requestId", "must be a prefixed UUIDv7");
  const timeMs = idTimeMs(requestId);
  check(
    timeMs >= window.fromMs && timeMs < window.untilMs,
    "requestId",
    "is from a time that the journal does not reach",
  );
  checkText(memo, "memo", MAX_MEMO_CHARACTERS);
  checkText(reference, "reference", MAX_REFERENCE_CHARACTERS);
  checkMetadata(metadata);
  if (relatedId !== null) anyId(relatedId, "relatedId");
  const intent = readIntent(message.intent);
  const notes = { memo, reference, metadata, relatedId };
  const contentHash = hashOf(contentOf({ intent, ...notes }));
  const encode = () => PostRequest.encode(message).finish();
  return { orgId, requestId, key: readKey(message.key), contentHash, ...notes, intent, caller, encode };
}

function readKey(message: PostRequest["key"]): IdempotencyKey | null {
  if (message === undefined) return null;
  const { scope, key, bodyHash } = message;
  check(SCOPE.test(scope), "key.scope", "must be 1 to 32 capital letters, digits or underscores");
  check(KEY.test(key), "key.key", "must be 1 to 255 printable ASCII characters");
  check(bodyHash.length === HASH_BYTES, "key.bodyHash", `must be ${HASH_BYTES} bytes`);
  return { scope, key, bodyHash: Buffer.from(bodyHash).toString("hex") };
}

function checkMetadata(metadata: Record<string, string>): void {
  const pairs = Object.entries(metadata);
  check(pairs.length <= MAX_METADATA_PAIRS, "metadata", `must have at most ${MAX_METADATA_PAIRS} pairs`);
  for (const [name, value] of pairs) {
    check(name !== "", "metadata", "must have no empty key");
    checkText(name, "metadata", MAX_METADATA_KEY_CHARACTERS);
    checkText(value, `metadata.${name}`, MAX_METADATA_VALUE_CHARACTERS);
  }
}

/** Returns the first 128 bits as a UUID, the type that stores them. */
function hashOf(content: string): string {
  const hex = hash("sha256", content, "hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
