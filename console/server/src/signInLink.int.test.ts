import { sql } from "@wonrail/kit/db";
import { recordTerminal } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { join } from "node:path";
import { main } from "./signInLink";
import { hashToken } from "./identity/tokens";

const world = buildWorld((open) =>
  open.database({ schema: "console", migrations: join(__dirname, "../migrations") }),
);
afterAll(async () => (await world).close());

async function run(...args: string[]) {
  const { url } = await world;
  const { terminal, output } = recordTerminal();
  const config = { DATABASE_URL: url, PUBLIC_URL: "https://console.example.com" };
  return { code: await main(args, { ...terminal, config }), ...output };
}

test("prints a link and stores only its hash, with the operator and the roles", async () => {
  const { code, out } = await run("--operator", "kim", "--role", "support", "--role", "treasury");
  const [, token] = /^https:\/\/console\.example\.com\/auth\/link\?token=([\w-]{43})\n$/.exec(out)!;
  expect(code).toBe(0);
  const rows = await (await world).db.query(sql`select token_hash, operator, roles from sign_in_links`);
  expect(rows).toEqual([{ token_hash: hashToken(token), operator: "kim", roles: ["support", "treasury"] }]);
});

test.each([
  [["--operator", "kim"]],
  [["--role", "admin"]],
  [["--operator", "kim", "--role", "root"]],
  [["--operator", "", "--role", "admin"]],
  [["--operator", "kim\u0000", "--role", "admin"]],
])("refuses the command line %j", async (args) => {
  expect(await run(...args)).toMatchObject({ code: 2, out: "" });
});
