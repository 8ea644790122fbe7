import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pendingMigrations, readMigrations, readSet, statementsOf } from "./files";

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "migrations-"))));
afterEach(() => rmSync(dir, { recursive: true }));

const write = (name: string, text = "select 1;") => writeFileSync(join(dir, name), text);

describe("migration files", () => {
  it("are read in number order, after the kit's own", () => {
    write("0002_second.sql");
    write("0001_first.sql");
    write("README.md", "not a migration");
    expect(readSet("service", dir).map(({ number, name }) => [number, name])).toEqual([
      [1, "first"],
      [2, "second"],
    ]);
    expect(readMigrations(dir)[0]).toMatchObject({ set: "kit", number: 1, name: "outbox" });
    expect(readMigrations(undefined).every(({ set }) => set === "kit")).toBe(true);
  });

  it("are refused with a gap, a duplicate number or an empty name", () => {
    write("0001_first.sql");
    write("0003_third.sql");
    expect(() => readSet("service", dir)).toThrow(
      "0003_third.sql: migrations are numbered without gaps or twins, expected number 2",
    );
    write("0001_again.sql");
    expect(() => readSet("service", dir)).toThrow("expected number 2");
    write("0001.sql");
    expect(() => readSet("service", dir)).toThrow("named like 0001_what_it_does.sql");
    expect(() => readSet("service", join(dir, "absent"))).toThrow("there is no migrations folder");
  });

  it("have the same checksum for any line endings", () => {
    write("0001_unix.sql", "select 1;\nselect 2;\n");
    write("0002_windows.sql", "select 1;\r\nselect 2;\r\n");
    const [unix, windows] = readSet("service", dir);
    expect(unix!.checksum).toBe(windows!.checksum);
  });

  it("declare in their first line that they cannot run in a transaction", () => {
    write("0001_plain.sql", "select 1;");
    write("0002_index.sql", "-- no-transaction\ncreate index concurrently i on t (a);");
    expect(readSet("service", dir).map(({ transactional }) => transactional)).toEqual([true, false]);
  });

  it("are split at the semicolons that end a line", () => {
    const text =
      "-- no-transaction\n-- why\ndrop index concurrently if exists i;\ncreate index concurrently i\n  on t ((a || ';'));\n\n-- end\n";
    expect(statementsOf(text)).toEqual([
      "-- no-transaction\n-- why\ndrop index concurrently if exists i",
      "create index concurrently i\n  on t ((a || ';'))",
    ]);
  });
});

describe("pending migrations", () => {
  const file = (number: number, checksum = "a") => ({
    set: "service" as const,
    number,
    name: "x",
    checksum,
    text: "",
    transactional: true,
  });

  it("are the files without a row", () => {
    expect(pendingMigrations([file(1), file(2)], [file(1)])).toEqual([file(2)]);
  });

  it("are none under a newer release", () => {
    expect(pendingMigrations([file(1)], [file(1), file(2)])).toEqual([]);
  });

  it("are refused when a file was changed after being applied", () => {
    expect(() => pendingMigrations([file(1, "b"), file(2)], [file(1)])).toThrow(
      "service 0001_x: changed after being applied. Put the old text back",
    );
  });
});
