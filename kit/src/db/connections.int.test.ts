import { openDatabase, sql } from ".";
import { createLog } from "../log";

afterEach(() => jest.restoreAllMocks());

test("an unreachable database is logged again after a while, although the machine's clock was set back", async () => {
  const messages: string[] = [];
  const log = createLog({ service: "test", destination: { write: (line) => void messages.push(line) } });
  // A port without a listener.
  const url = "postgres://nobody@127.0.0.1:1/none";
  const db = openDatabase({ url, schema: "sample", applicationName: "test", log });
  const ask = () => expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: "SYS_002" });
  const [wallMs, startMs] = [Date.now(), performance.now()];
  await ask();
  await ask();
  expect(messages).toHaveLength(1);

  jest.spyOn(Date, "now").mockReturnValue(wallMs - 3_600_000);
  jest.spyOn(performance, "now").mockReturnValue(startMs + 10_000);
  await ask();
  expect(messages).toHaveLength(2);
  await db.close();
});
