import { chargeOf } from "../domain/testing/requests";
import { type DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { balancesOf, codeOf, postTo, requestOf, soundLedger, transferOf } from "./testing/ledger";

// Items that the database refuses, in the middle of a batch that it accepts.

const ledger = soundLedger();

test("an item that the database refuses fails alone", async () => {
  const good = await ledger.open("good", "NORMAL", 1_000n);
  const to = await ledger.open("other");
  const poison = requestOf(ledger.orgId, chargeOf(good, 1n), { requestId: `opn_${"f".repeat(32)}` });
  const transfers = Array.from({ length: 20 }, () => requestOf(ledger.orgId, transferOf(good, to, 10n)));
  const settled = await Promise.allSettled(
    [...transfers.slice(0, 9), poison, ...transfers.slice(9)].map((request) =>
      postTo(ledger.engine, request),
    ),
  );
  expect(settled.map(({ status }) => status === "fulfilled")).toEqual(settled.map((_, index) => index !== 9));
  expect(await balancesOf(ledger, [good, to])).toEqual([800n, 200n]);
});

test("an item with text that the database cannot store is REQ_001, and the others of its batch are posted", async () => {
  const walletId = await ledger.open("texts");
  const memos = ["one", "a\0b", "three", "four"];
  const settled = await Promise.allSettled(
    memos.map((memo) => ledger.post(chargeOf(walletId, 10n), { memo })),
  );
  const codes = settled.map((each) =>
    each.status === "fulfilled" ? codeOf(each.value) : (each.reason as DomainError).code,
  );
  expect(codes).toEqual(["posted", "REQ_001", "posted", "posted"]);
  expect(await balancesOf(ledger, [walletId])).toEqual([30n]);
});

test("an item past its deadline is skipped, and the others of its batch are posted", async () => {
  const walletId = await ledger.open("late");
  const request = () => requestOf(ledger.orgId, chargeOf(walletId, 10n));
  const origin = { requestId: newId("req"), traceparent: "" };
  const settled = await Promise.allSettled(
    [Infinity, Date.now() - 1, Infinity].map((deadlineMs) =>
      ledger.engine.post({ request: request(), origin, deadlineMs }),
    ),
  );
  expect(settled).toMatchObject([
    { value: { outcome: { status: "posted" } } },
    { reason: { code: "SYS_003" } },
    { value: { outcome: { status: "posted" } } },
  ]);
  expect(await balancesOf(ledger, [walletId])).toEqual([20n]);
});
