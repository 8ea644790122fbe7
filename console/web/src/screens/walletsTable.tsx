import { TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { pageOf } from "../api/paging";
import { WalletLink } from "../blocks/links";
import { PagedTable } from "../blocks/pagedTable";
import { formatWon } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";

const LIST = "wonrail.wallet.v1.WalletAdminService/ListOrganisationWallets";
const PAGE = 100;

/** Wallets of an organisation with their balances, newest first. */
export function WalletsTable({ orgId }: { orgId: string }): ReactNode {
  const [userId, setUserId] = useState("");
  const user = userId.trim() === "" ? {} : { userId: userId.trim() };
  return (
    <>
      <div className="filters">
        <TextInput
          label="User"
          value={userId}
          onChange={({ currentTarget }) => setUserId(currentTarget.value)}
        />
      </div>
      <PagedTable
        name="Wallets"
        method={LIST}
        filters={[orgId, userId.trim()]}
        load={async (cursor, signal) => {
          const page = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
          const answer = await call(LIST, { orgId, page, ...user }, { signal });
          return pageOf(answer.wallets, answer.page);
        }}
        rowKey={({ walletId }) => walletId}
        empty="It has no such wallet."
        columns={[
          {
            title: "Wallet",
            text: ({ walletId }) => walletId,
            cell: ({ walletId }) => <WalletLink walletId={walletId} />,
          },
          { title: "User", text: (wallet) => wallet.userId },
          { title: "Type", text: ({ walletType }) => enumWords(walletType, "WALLET_TYPE_") },
          { title: "Status", text: ({ status }) => enumWords(status, "WALLET_STATUS_") },
          { title: "Balance", text: ({ balanceWon }) => formatWon(balanceWon), align: "right" },
          {
            title: "Available",
            text: ({ availableBalanceWon }) => formatWon(availableBalanceWon),
            align: "right",
          },
          {
            title: "Address",
            text: ({ walletAddress }) => walletAddress,
            cell: ({ walletAddress }) => <span className="mono">{walletAddress}</span>,
          },
          { title: "Created at", text: ({ createdAt }) => formatTime(createdAt) },
        ]}
      />
    </>
  );
}
