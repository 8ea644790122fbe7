import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode } from "react";
import { call } from "../api/call";
import { useRpc } from "../api/hooks";
import { pageOf } from "../api/paging";
import { type AnswerOf } from "../api/services";
import { Chart } from "../blocks/chart";
import { Facts } from "../blocks/facts";
import { OperationLink, OrganisationLink, WalletLink } from "../blocks/links";
import { PagedTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Loaded } from "../blocks/states";
import { formatTokenUnits, formatWon } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { DriftsTable } from "./driftsTable";
import { FreezeActions } from "./freezeActions";

const route = getRouteApi("/wallets/$walletId");
const LINES = "wonrail.ledger.v1.LedgerAdminService/ListAccountLines";
const HOLDS = "wonrail.ledger.v1.LedgerAdminService/ListAccountHolds";
const PAGE = 100;
const DAYS = 92;

type WalletDetails = AnswerOf<"wonrail.wallet.v1.WalletAdminService/GetWalletDetails">;
interface Address {
  orgId: string;
  walletId: string;
}

export function Wallet(): ReactNode {
  const { walletId } = route.useParams();
  const details = useRpc("wonrail.wallet.v1.WalletAdminService/GetWalletDetails", { walletId });
  return (
    <>
      <h1>
        Wallet <span className="mono">{walletId}</span>
      </h1>
      <Loaded query={details} what="the wallet">
        {(wallet) => <KnownWallet details={wallet} walletId={walletId} />}
      </Loaded>
    </>
  );
}

function KnownWallet({ details, walletId }: { details: WalletDetails; walletId: string }): ReactNode {
  const address = { orgId: details.orgId, walletId };
  return (
    <>
      <WalletSection details={details} address={address} />
      <BalanceSection {...address} />
      <ChainSection {...address} />
      <Section title="Holds">
        <HoldsTable {...address} />
      </Section>
      <Section title="Statement">
        <LinesTable {...address} />
      </Section>
    </>
  );
}

function WalletSection({ details, address }: { details: WalletDetails; address: Address }): ReactNode {
  const account = useRpc("wonrail.ledger.v1.LedgerAdminService/GetAccount", { accountId: address.walletId });
  const { wallet } = details;
  const freezes = account.data;
  return (
    <Section
      title="Wallet"
      actions={<FreezeActions {...address} state={details.state} frozen={freezes?.frozenByOperator} />}
    >
      <Facts
        items={[
          ["Organisation", <OrganisationLink org={details.orgId} />],
          ["User", wallet?.userId],
          ["Type", enumWords(wallet?.walletType, "WALLET_TYPE_")],
          ["State", enumWords(details.state)],
          ["Address", <span className="mono">{wallet?.walletAddress}</span>],
          ["Balance", formatWon(wallet?.balanceWon)],
          ["Available", formatWon(wallet?.availableBalanceWon)],
          ["Held", formatWon(freezes?.account?.heldWon)],
          ["Transferred today", formatWon(freezes?.account?.transferredTodayWon)],
          ["Frozen by an operator", <Frozen level={freezes?.frozenByOperator} />],
          ["Frozen by the token's blocklist", <Frozen level={freezes?.frozenByChain} />],
          ["Signed in this hour", `${formatWon(details.signedWon)} of ${formatWon(details.signingLimitWon)}`],
          ["Created at", formatTime(wallet?.createdAt)],
          ["Changed at", formatTime(wallet?.updatedAt)],
          ["Reopened", `${details.timesReopened} times`],
          ["Metadata", JSON.stringify(wallet?.metadata ?? {})],
        ]}
      />
    </Section>
  );
}

function Frozen({ level }: { level: string | undefined }): ReactNode {
  if (level === undefined) return "—";
  if (level.endsWith("_ALL"))
    return (
      <span className="tone" data-tone="bad">
        all movements
      </span>
    );
  if (level.endsWith("_OUTGOING"))
    return (
      <span className="tone" data-tone="bad">
        outgoing movements
      </span>
    );
  return "no";
}

function BalanceSection({ orgId, walletId }: Address): ReactNode {
  const history = useRpc("wonrail.ledger.v1.LedgerAdminService/GetBalanceHistory", {
    orgId,
    accountId: walletId,
    days: DAYS,
  });
  return (
    <Section title="Balance at the end of each day (Asia/Seoul)">
      <Loaded query={history} what="the balances">
        {({ days }) => (
          <Chart
            name="Balance"
            unit="KRW"
            timeZone="Asia/Seoul"
            points={days.map(({ day, balanceWon }) => ({
              atMs: Date.parse(`${day}T00:00:00+09:00`),
              value: Number(balanceWon),
            }))}
          />
        )}
      </Loaded>
    </Section>
  );
}

function ChainSection({ orgId, walletId }: Address): ReactNode {
  const chain = useRpc("wonrail.relayer.v1.RelayerAdminService/GetChainBalance", { orgId, walletId });
  return (
    <Section title="On the chain">
      <Loaded query={chain} what="the chain's balance">
        {(balance) => (
          <>
            <Facts
              items={[
                ["Balance", formatTokenUnits(balance.balanceUnits)],
                ["At the final block", balance.blockNumber],
                ["Explained by read transfers", formatTokenUnits(balance.expectedUnits)],
                ["Not in the ledger", formatTokenUnits(balance.unbookedUnits)],
                ["On the token's blocklist", balance.blocked ? "yes" : "no"],
              ]}
            />
            {balance.openDrifts.length === 0 ? undefined : <DriftsTable drifts={balance.openDrifts} />}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function HoldsTable({ orgId, walletId }: Address): ReactNode {
  return (
    <PagedTable
      name="Holds"
      method={HOLDS}
      filters={[walletId]}
      load={async (_, signal) => {
        const { holds } = await call(HOLDS, { orgId, accountId: walletId, limit: 1_000 }, { signal });
        return { rows: holds };
      }}
      rowKey={({ holdRequestId }) => holdRequestId}
      empty="It has no open hold."
      columns={[
        {
          title: "Hold",
          text: ({ holdRequestId }) => holdRequestId,
          cell: ({ holdRequestId }) => <OperationLink id={holdRequestId} />,
        },
        { title: "To", text: ({ toAddress }) => toAddress },
        { title: "Amount", text: ({ amountWon }) => formatWon(amountWon), align: "right" },
        { title: "Placed at", text: ({ placedAt }) => formatTime(placedAt) },
      ]}
    />
  );
}

function LinesTable({ orgId, walletId }: Address): ReactNode {
  return (
    <PagedTable
      name="Statement"
      method={LINES}
      filters={[walletId]}
      load={async (cursor, signal) => {
        const page = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
        const answer = await call(LINES, { orgId, accountId: walletId, page }, { signal });
        return pageOf(answer.lines, answer.page);
      }}
      rowKey={({ posting }) => posting?.sequence ?? ""}
      empty="No money has moved in it."
      columns={[
        { title: "Time", text: ({ postedAt }) => formatTime(postedAt) },
        { title: "Type", text: ({ posting }) => enumWords(posting?.type, "TRANSACTION_TYPE_") },
        { title: "Amount", text: ({ posting }) => formatWon(posting?.amountWon), align: "right" },
        {
          title: "Balance after",
          text: ({ posting }) => formatWon(posting?.balanceAfterWon),
          align: "right",
        },
        {
          title: "Operation",
          text: ({ requestId }) => requestId,
          cell: ({ requestId }) => <OperationLink id={requestId} />,
        },
        {
          title: "Counterparty",
          text: ({ counterpartyAccountIds }) => counterpartyAccountIds.join(" "),
          cell: ({ counterpartyAccountIds }) =>
            counterpartyAccountIds.map((id) => (
              <div key={id}>
                <WalletLink walletId={id} />
              </div>
            )),
        },
        { title: "Memo", text: ({ memo }) => memo ?? "" },
        { title: "Reference", text: ({ reference }) => reference ?? "" },
      ]}
    />
  );
}
