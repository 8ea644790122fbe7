/** An object that a service's Search found. */
export interface Hit {
  kind: string;
  id: string;
  orgId: string;
  title: string;
}

export type HitPath =
  | { to: "/organisations/$org"; params: { org: string } }
  | { to: "/wallets/$walletId"; params: { walletId: string } }
  | { to: "/operations/$ref"; params: { ref: string } };

/** The screen that shows a hit. Keys, webhooks and events are shown with their organisation. */
export function hitPath({ kind, id, orgId }: Hit): HitPath | undefined {
  switch (kind) {
    case "organisation":
      return { to: "/organisations/$org", params: { org: id } };
    case "wallet":
      return { to: "/wallets/$walletId", params: { walletId: id } };
    case "entry":
    case "operation":
    case "deposit":
    case "record":
    case "payout":
      return { to: "/operations/$ref", params: { ref: id } };
    case "transaction":
      return undefined;
    default:
      return orgId === "" ? undefined : { to: "/organisations/$org", params: { org: orgId } };
  }
}

/** The same object may be found by several services: the first one keeps it. */
export function distinctHits(hits: readonly Hit[]): Hit[] {
  const seen = new Set<string>();
  return hits.filter((hit) => {
    const path = hitPath(hit);
    const key = path === undefined ? `${hit.kind} ${hit.id}` : `${path.to} ${Object.values(path.params).join()} ${hit.kind}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
