import { tmpdir } from "node:os";
import { createTestDatabase } from "@wonrail/kit/testing";
import { runAdmin } from "./admin";
import { type AdminConfig } from "./config";

// Exit code 1 means a broken invariant. A failed verification must not exit with 1.

test("an unknown option exits with 2", async () => {
  const { code, err } = await verify({ DATABASE_URL: NOWHERE }, "--jsn");
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("unknown option '--jsn'") });
});

test("an unreachable database exits with 2 and a message without its password", async () => {
  expect(await verify({ DATABASE_URL: NOWHERE })).toEqual({
    code: 2,
    out: "",
    err: "The database at 127.0.0.1:1 cannot be reached. Start the stack with npm run up, or set DATABASE_URL.\n",
  });
});

test("a database of another service exits with 2", async () => {
  const other = await createTestDatabase({ schema: "elsewhere" });
  const output = await verify({ DATABASE_URL: other.url });
  await other.drop();
  expect(output).toEqual({ code: 2, out: "", err: expect.stringMatching(/ no schema ledger .+\.\n$/) });
});

test("verify exits with 2 and advises the next step when there is no database", async () => {
  const { code, err } = await verify({ WONRAIL_HOME: tmpdir() });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("npm run up, or set DATABASE_URL") });
});

const NOWHERE = "postgres://wonrail_ledger:hidden@127.0.0.1:1/wonrail";

async function verify(config: AdminConfig, ...args: string[]) {
  const output = { out: "", err: "" };
  const code = await runAdmin(["verify", ...args], {
    config,
    out: (text) => void (output.out += text),
    err: (text) => void (output.err += text),
  });
  return { code, ...output };
}
