import { chargeOf } from "../domain/testing/requests";
import { won } from "@wonrail/kit/contract/money";
import { codeOf, postTo, requestOf, soundLedger } from "./testing/ledger";

const ledger = soundLedger();

test("a closed account with a deposit is reopened, emptied and closed again, each once", async () => {
  const { post, open, orgId } = ledger;
  const walletId = await open("late");
  const amountWon = won(50n);
  await post({ kind: "closeAccount", walletId });
  await post({ kind: "creditExternal", walletId, amountWon, chainLogId: "31337/0xa/0xc/1" });
  expect(codeOf(await post({ kind: "refund", walletId }))).toBe("WAL_004");

  const reopen = requestOf(orgId, { kind: "reopenAccount", walletId });
  const answers = await Promise.all([reopen, reopen, reopen].map((each) => postTo(ledger.engine, each)));
  expect(answers[0]).toMatchObject({
    status: "posted",
    entry: { kind: "reopenAccount", postings: [], balances: [{ accountId: walletId, balanceWon: 50n }] },
  });
  expect(codeOf(await post({ kind: "refund", walletId }))).toBe("posted");
  expect(codeOf(await post({ kind: "closeAccount", walletId }))).toBe("posted");
  // A repetition that comes late opens nothing.
  expect([...answers, await postTo(ledger.engine, reopen)]).toEqual(Array(4).fill(answers[0]));
  expect(codeOf(await post(chargeOf(walletId, 50n)))).toBe("WAL_004");
  await post({ kind: "reopenAccount", walletId });
  await post({ kind: "closeAccount", walletId });
});
