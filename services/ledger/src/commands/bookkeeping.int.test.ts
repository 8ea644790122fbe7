import { testRegistry } from "@wonrail/kit/testing";
import type { Counter } from "@wonrail/kit/metrics";
import { chargeOf } from "../domain/testing/requests";
import { balancesOf, codeOf, postTo, requestOf, soundLedger, testEngine } from "./testing/ledger";

const ledger = soundLedger();

test("a committed batch is answered as posted although its metrics fail", async () => {
  const walletId = await ledger.open("counted");
  const registry = testRegistry();
  const engine = testEngine({ db: ledger.database.db, registry });
  const counter = registry.getSingleMetric("ledger_postings_total") as Counter;
  counter.inc = () => {
    throw new Error("the registry is broken");
  };
  const request = requestOf(ledger.orgId, chargeOf(walletId, 10n));
  expect(codeOf(await postTo(engine, request))).toBe("posted");
  expect(await balancesOf(ledger, [walletId])).toEqual([10n]);
  await engine.close();
});
