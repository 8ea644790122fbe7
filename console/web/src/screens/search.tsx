import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode } from "react";
import { useRpc } from "../api/hooks";
import { OrganisationLink } from "../blocks/links";
import { DataTable } from "../blocks/pagedTable";
import { Empty, Failure, Loading } from "../blocks/states";
import { distinctHits, type Hit, hitPath } from "./hitPaths";

const route = getRouteApi("/search");

/** Asks every service for the text, and shows the hits of all. */
export function Search(): ReactNode {
  const { q } = route.useSearch();
  if (q === "") return <Empty>Type an id, hash, address, user, reference or request id above.</Empty>;
  return <Found text={q} />;
}

function Found({ text }: { text: string }): ReactNode {
  const answers = [
    useRpc("wonrail.auth.v1.AuthAdminService/Search", { text }),
    useRpc("wonrail.wallet.v1.WalletAdminService/Search", { text }),
    useRpc("wonrail.ledger.v1.LedgerAdminService/Search", { text }),
    useRpc("wonrail.payment.v1.PaymentAdminService/Search", { text }),
    useRpc("wonrail.relayer.v1.RelayerAdminService/Search", { text }),
    useRpc("wonrail.events.v1.EventsAdminService/Search", { text }),
  ];
  const hits = distinctHits(answers.flatMap(({ data }) => data?.hits ?? []));
  const failed = answers.filter(({ error }) => error);
  return (
    <>
      <h1>Search for {text}</h1>
      {failed.map(({ error, refetch }, index) => (
        <Failure key={index} error={error} retry={() => void refetch()} />
      ))}
      {answers.some(({ isLoading }) => isLoading) ? <Loading what="the services' answers" /> : undefined}
      <DataTable
        name="Search results"
        rows={hits}
        rowKey={({ kind, id }) => `${kind} ${id}`}
        empty="No service knows it. Codes and names need their first two characters, ids need all of theirs."
        columns={[
          { title: "Kind", text: ({ kind }) => kind.replaceAll("_", " ") },
          { title: "Found", text: ({ title }) => title, cell: (hit) => <HitLink hit={hit} /> },
          { title: "Id", text: ({ id }) => id, cell: ({ id }) => <span className="mono">{id}</span> },
          {
            title: "Organisation",
            text: ({ orgId }) => orgId,
            cell: ({ orgId }) => <OrganisationLink org={orgId} />,
          },
        ]}
      />
    </>
  );
}

function HitLink({ hit }: { hit: Hit }): ReactNode {
  const path = hitPath(hit);
  const text = hit.title === "" ? hit.id : hit.title;
  return path === undefined ? text : <Link {...path}>{text}</Link>;
}
