import { type Kms } from "@wonrail/kit/kms";
import { LRUCache } from "lru-cache";
import { newSecret } from "./domain/signature";
import { type SealedSecret, type SealedSecrets } from "./store/webhooks";

interface Owner {
  orgId: string;
  webhookId: string;
}

/** The signing secrets of webhooks. They are stored sealed, and kept open in memory while deliveries need them. */
export interface Secrets {
  make(owner: Owner, version: number): Promise<{ secret: string; sealed: SealedSecret }>;
  /** The secrets that sign now: the current one first. */
  open(owner: Owner, secrets: SealedSecrets): Promise<string[]>;
}

const MAX_OPEN = 10_000;

export function createSecrets(kms: Kms): Secrets {
  const opened = new LRUCache<string, string>({ max: MAX_OPEN });

  async function openOne(owner: Owner, version: number, { kekId, bytes }: SealedSecret): Promise<string> {
    const key = `${owner.webhookId} ${version}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const secret = (await kms.open({ keyId: kekId, bytes }, contextOf(owner, version))).toString();
    opened.set(key, secret);
    return secret;
  }

  return {
    async make(owner, version) {
      const secret = newSecret();
      const { keyId, bytes } = await kms.seal(Buffer.from(secret), contextOf(owner, version));
      return { secret, sealed: { kekId: keyId, bytes } };
    },
    async open(owner, { version, current, previous }) {
      const secrets = [await openOne(owner, version, current)];
      if (previous && previous.endsAt > new Date()) secrets.push(await openOne(owner, version - 1, previous));
      return secrets;
    },
  };
}

function contextOf({ orgId, webhookId }: Owner, version: number) {
  return { orgId, objectId: webhookId, purpose: "webhook", version } as const;
}
