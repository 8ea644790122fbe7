import { Link } from "@tanstack/react-router";
import { type ReactNode } from "react";

export function OrganisationLink({
  org,
  children,
}: {
  org: string;
  children?: string | undefined;
}): ReactNode {
  if (org === "") return "—";
  return (
    <Link to="/organisations/$org" params={{ org }} className="mono">
      {children ?? org}
    </Link>
  );
}

/** Organisations' own accounts ("acc_…") have no screen. */
export function WalletLink({ walletId }: { walletId: string }): ReactNode {
  if (!walletId.startsWith("wal_")) return <span className="mono">{walletId === "" ? "—" : walletId}</span>;
  return (
    <Link to="/wallets/$walletId" params={{ walletId }} className="mono">
      {walletId}
    </Link>
  );
}

/** `id` is that of an entry, a hold, a deposit, a record or a payout. */
export function OperationLink({ id }: { id: string }): ReactNode {
  if (id === "") return "—";
  return (
    <Link to="/operations/$ref" params={{ ref: id }} className="mono">
      {id}
    </Link>
  );
}
