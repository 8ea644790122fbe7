import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { flag, hostPort, list, loadConfig, port, rule } from "./config";

const schema = z.object({
  HTTP_PORT: port,
  DATABASE_URL: z.url(),
  BROKERS: list.default([]),
  VERBOSE: flag.default(false),
});

const brokersRule = rule({ HTTP_PORT: port, BROKERS: schema.shape.BROKERS }, ({ HTTP_PORT, BROKERS }) =>
  HTTP_PORT === 1 && BROKERS.length === 1 ? ["BROKERS needs two with this port"] : [],
);

function problemsOf(env: Record<string, string>): string {
  try {
    loadConfig(schema, env, [brokersRule], (message) => {
      throw new Error(message);
    });
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

test("reads, converts and applies defaults", () => {
  expect(
    loadConfig(schema, {
      HTTP_PORT: "8080",
      DATABASE_URL: "postgres://x/y",
      BROKERS: "a:1, b:2",
      VERBOSE: "true",
    }),
  ).toEqual({
    HTTP_PORT: 8080,
    DATABASE_URL: "postgres://x/y",
    BROKERS: ["a:1", "b:2"],
    VERBOSE: true,
  });
});

test("reports every problem at once", () => {
  const problems = problemsOf({ HTTP_PORT: "99999" });
  expect(problems).toContain("HTTP_PORT:");
  expect(problems).toContain("DATABASE_URL is not set");
});

test("reports contradictions between settings with the rest, and skips them for an invalid setting", () => {
  expect(problemsOf({ HTTP_PORT: "1", BROKERS: "a:1" })).toBe(
    "The configuration is not usable:\n  - DATABASE_URL is not set\n  - BROKERS needs two with this port\n",
  );
  expect(problemsOf({ HTTP_PORT: "x", BROKERS: "a:1", DATABASE_URL: "postgres://x/y" })).not.toContain(
    "BROKERS",
  );
});

test("never prints a value, which may be a secret", () => {
  expect(problemsOf({ HTTP_PORT: "1", DATABASE_URL: "hunter2 is not a url" })).not.toContain("hunter2");
});

test("reads a value from the file that NAME_FILE names, and reports a failure", () => {
  const folder = mkdtempSync(join(tmpdir(), "config-"));
  try {
    writeFileSync(join(folder, "url"), "postgres://from/file\n");
    const env = { HTTP_PORT: "1", DATABASE_URL_FILE: join(folder, "url") };
    expect(loadConfig(schema, env).DATABASE_URL).toBe("postgres://from/file");
    expect(problemsOf({ HTTP_PORT: "1", DATABASE_URL_FILE: join(folder, "absent") })).toContain(
      "DATABASE_URL_FILE",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(["ledger:7000", "127.0.0.1:7000", "[::1]:7000"])("%s is a valid host:port", (text) => {
  expect(hostPort.parse(text)).toBe(text);
});

test.each(["ledger", "dns:///ledger:7000", "http://ledger:7000", "ledger:7000/", "::1:7000", "a:1,b:2"])(
  "%s is not host:port, and a call there would never arrive",
  (text) => {
    expect(hostPort.safeParse(text).error?.issues[0]?.message).toBe("must be host:port");
  },
);

test.each(["auth:0", "auth:65536", "auth:99999", "[::1]:99999"])("%s has an invalid port", (text) => {
  const messages = hostPort.safeParse(text).error?.issues.map(({ message }) => message);
  expect(messages).toEqual(["must have a port from 1 to 65535"]);
});

test.each(["65536", "-1", "0x1F90", "1e4", "80.5", "8 0"])("%s is an invalid port", (text) => {
  expect(problemsOf({ HTTP_PORT: text, DATABASE_URL: "postgres://x/y" })).toBe(
    "The configuration is not usable:\n  - HTTP_PORT: must be a port, from 0 to 65535\n",
  );
});

test("spaces count as absent, because as a number they would be 0", () => {
  expect(problemsOf({ HTTP_PORT: " ", DATABASE_URL: "\t\n" })).toBe(
    "The configuration is not usable:\n  - HTTP_PORT is not set\n  - DATABASE_URL is not set\n",
  );
});
