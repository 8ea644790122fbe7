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

/** Two services may find the same object: the first hit keeps it. */
export function distinctHits(hits: readonly Hit[]): Hit[] {
  const found = new Map(hits.map((hit) => [`${hit.kind} ${hit.id}`, hit] as const).reverse());
  return hits.filter((hit) => found.get(`${hit.kind} ${hit.id}`) === hit);
}
