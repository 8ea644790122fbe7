import { Refused, type RuleOf } from "../../domain/testing/modelBook";

export const openAccount: RuleOf<"openAccount"> = (book, { org, intent }) => {
  const { walletId, userId: user, type } = intent;
  const same = [...book.wallets].find(([, w]) => w.org === org && w.user === user && w.type === type);
  if (same?.[0] === walletId) return [];
  if (same || book.wallets.has(walletId)) throw new Refused("WAL_001");
  const freezes = { CHAIN: "NONE" as const, OPERATOR: "NONE" as const };
  const empty = { balance: 0n, held: 0n, closed: false, freezes, used: new Map() };
  book.wallets.set(walletId, { org, user, type, ...empty });
  return [];
};
