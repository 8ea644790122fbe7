import { recordedLog } from "../grpc/echoService.testing";
import { createTestDatabase, testRegistry } from "../testing";
import { watchStandby } from "./watchStandby";

/** e2e/postgres tests a server with a stand-by. */
test("a server without a stand-by is reported as able to lose acknowledged writes", async () => {
  const database = await createTestDatabase({ schema: "sample" });
  const { log, lines } = recordedLog();
  const registry = testRegistry();
  try {
    await watchStandby(database.db, { log, registry }).run(new AbortController().signal);
    expect(await registry.metrics()).toMatch(/^pg_waits_for_standby(\{.*\})? 0$/m);
    expect(lines()).toMatchObject([{ level: "warn" }]);
  } finally {
    await database.drop();
  }
});
