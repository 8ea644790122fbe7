import { testLog } from "@wonrail/kit/testing";
import { Client } from "pg";
import { databaseOf, withDatabase } from "./databases";
import { provision } from "./provision";
import { CONSOLE, SERVICES } from "./services";

// Services share a server. No service can reach or disturb another one's database.

const OWNERS = [...SERVICES, CONSOLE];
let urls: Record<string, string>;
const clients: Client[] = [];

beforeAll(async () => {
  ({ urls } = await provision(serverUrl(), { password: () => "test" }, testLog()));
}, 60_000);
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  const admin = await connect(serverUrl());
  for (const { schema } of OWNERS) await admin.query(`drop database ${databaseOf(schema)} with (force)`);
  await admin.end();
});

test("each service's role connects to its own database and to no other service's", async () => {
  for (const { name, schema } of OWNERS) {
    for (const { schema: other } of OWNERS) {
      const connecting = connect(withDatabase(urls[name]!, databaseOf(other)));
      if (other === schema) await connecting;
      else await expect(connecting).rejects.toMatchObject({ code: "42501" });
    }
  }
});

test("a notification by payment does not reach auth's channel", async () => {
  const [auth, payment] = [await connect(urls.auth!), await connect(urls.payment!)];
  await auth.query("listen auth_changes");
  const first = new Promise((resolve) =>
    auth.once("notification", ({ payload }) => {
      resolve(payload);
    }),
  );
  await payment.query("select pg_notify('auth_changes', 'from payment')");
  await auth.query("select pg_notify('auth_changes', 'from auth')");
  expect(await first).toBe("from auth");
});

test("an advisory lock that payment holds does not block auth", async () => {
  const [auth, payment] = [await connect(urls.auth!), await connect(urls.payment!)];
  const lock = "select pg_try_advisory_lock(hashtext('outbox relay'), hashtext('auth')) as mine";
  expect((await payment.query(lock)).rows).toEqual([{ mine: true }]);
  expect((await auth.query(lock)).rows).toEqual([{ mine: true }]);
});

test("a service's role creates no temporary tables", async () => {
  const payment = await connect(urls.payment!);
  await expect(payment.query("create temporary table big (id integer)")).rejects.toMatchObject({
    code: "42501",
  });
});

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  clients.push(client);
  return client;
}

function serverUrl(): string {
  const url = process.env.WONRAIL_TEST_POSTGRES_URL;
  if (url === undefined) throw new Error("WONRAIL_TEST_POSTGRES_URL is not set: run jest's int project");
  return url;
}
