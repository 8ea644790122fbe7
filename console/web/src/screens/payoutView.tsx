import { type ReactNode } from "react";
import { call } from "../api/call";
import { useRpc } from "../api/hooks";
import { pageOf } from "../api/paging";
import { Facts } from "../blocks/facts";
import { OperationLink, OrganisationLink, WalletLink } from "../blocks/links";
import { PagedTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Empty, Loaded } from "../blocks/states";
import { formatCount, formatWon } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";

const METHOD = "wonrail.payment.v1.PaymentAdminService/GetPayoutDetails";
const PAGE = 100;

/** The organisation comes from a search, because a payout is read by organisation and id. */
export function PayoutView({ payoutId }: { payoutId: string }): ReactNode {
  const found = useRpc("wonrail.payment.v1.PaymentAdminService/Search", { text: payoutId });
  return (
    <>
      <h1>
        Payout <span className="mono">{payoutId}</span>
      </h1>
      <Loaded query={found} what="the payout">
        {({ hits }) =>
          hits[0] === undefined ? (
            <Empty>There is no such payout.</Empty>
          ) : (
            <KnownPayout orgId={hits[0].orgId} payoutId={payoutId} />
          )
        }
      </Loaded>
    </>
  );
}

function KnownPayout({ orgId, payoutId }: { orgId: string; payoutId: string }): ReactNode {
  const details = useRpc(METHOD, { orgId, payoutId, rows: { limit: 1 } });
  return (
    <>
      <Section title="Payout">
        <Loaded query={details} what="the payout">
          {({ payout }) => (
            <Facts
              items={[
                ["Organisation", <OrganisationLink org={orgId} />],
                ["From", <WalletLink walletId={payout?.fromWalletId ?? ""} />],
                ["Status", enumWords(payout?.status, "PAYOUT_STATUS_")],
                ["Total", formatWon(payout?.totalAmountWon)],
                [
                  "Accepted",
                  `${formatCount(payout?.acceptedCount, "row")}, ${formatWon(payout?.acceptedAmountWon)}`,
                ],
                ["Refused", formatCount(payout?.refusedCount, "row")],
                ["Skipped", formatCount(payout?.skippedCount, "row")],
                ["Created at", formatTime(payout?.createdAt)],
                ["Completed at", formatTime(payout?.completedAt)],
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section title="Rows">
        <PagedTable
          name="Payout rows"
          method={METHOD}
          filters={[payoutId]}
          load={async (cursor, signal) => {
            const rows = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
            const answer = await call(METHOD, { orgId, payoutId, rows }, { signal });
            return pageOf(answer.rows, answer.page);
          }}
          rowKey={({ index }) => String(index)}
          empty="It has no rows."
          columns={[
            { title: "Row", text: ({ index }) => String(index) },
            { title: "To", text: ({ row }) => row?.toWalletAddress ?? "" },
            { title: "Amount", text: ({ row }) => formatWon(row?.amountWon), align: "right" },
            { title: "Status", text: ({ status }) => enumWords(status, "PAYOUT_ROW_STATUS_") },
            {
              title: "Transfer",
              text: ({ transferId }) => transferId ?? "",
              cell: ({ transferId }) => <OperationLink id={transferId ?? ""} />,
            },
            { title: "Refusal", text: ({ error }) => error?.code ?? "" },
          ]}
        />
      </Section>
    </>
  );
}
