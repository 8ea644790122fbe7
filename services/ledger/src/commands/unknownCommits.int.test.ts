import { chargeOf } from "../domain/testing/requests";
import { openDatabase } from "@wonrail/kit/db";
import { startProxy, testLog } from "@wonrail/kit/testing";
import { balancesOf, codeOf, postTo, requestOf, soundLedger, testEngine } from "./testing/ledger";

const ledger = soundLedger();

test("the outcome is unknown when the database goes away during a commit, although the retry was not executed", async () => {
  const url = new URL(ledger.database.url);
  let isArmed = false;
  const proxy = await startProxy({
    target: { host: url.hostname, port: Number(url.port) },
    onRequest(chunk, proxy) {
      if (!isArmed || !chunk.toString("latin1").includes("commit")) return;
      isArmed = false;
      proxy.setMode({ kind: "dropResponses" });
      setTimeout(() => proxy.setMode({ kind: "reset" }), 100);
    },
  });
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  const log = testLog();
  const db = openDatabase({ url: url.toString(), schema: "ledger", applicationName: "test", log });
  const engine = testEngine({ db, log });
  try {
    const walletId = await ledger.open();
    const charge = (amount: bigint) => requestOf(ledger.orgId, chargeOf(walletId, amount));
    await postTo(engine, charge(1_000n));
    isArmed = true;
    const lost = charge(2_000n);
    await expect(postTo(engine, lost)).rejects.toMatchObject({ code: "SYS_003" });
    await expect(postTo(engine, charge(4_000n))).rejects.toMatchObject({ code: "SYS_002" });
    proxy.setMode({ kind: "pass" });
    expect(codeOf(await postTo(engine, lost))).toBe("posted");
    expect(await balancesOf(ledger, [walletId])).toEqual([3_000n]);
  } finally {
    await engine.close();
    await db.close();
    await proxy.close();
  }
}, 30_000);
