import fc from "fast-check";
import { parseCsv } from "../parseCsv";
import { camt053Writer } from "./camt053";
import { csvRecord } from "./csvRecord";
import { csvStatementWriter } from "./csvStatement";
import { jsonStatementWriter } from "./jsonStatement";
import { type ReportWriter, type StatementLine } from "./reportWriter";

const [from, to] = [new Date("2026-11-01T00:00:00Z"), new Date("2026-12-01T00:00:00Z")];
const period = { requestId: "req_1", from, to, madeAt: to };
const statement = { walletId: `wal_${"2".repeat(32)}`, openingBalance: 5, closingBalance: 7 };
const line: StatementLine = {
  ...{ walletId: statement.walletId, transactionId: `jrn_${"3".repeat(32)}-1`, type: "TRANSFER" },
  ...{ direction: "IN", amount: 2, balanceAfter: 7, counterparty: null, memo: "=1+1", reference: "a<b&c" },
  ...{ relatedId: `trf_${"4".repeat(32)}`, cancelId: null, createdAt: "2026-11-02T00:00:00.000Z" },
  status: "COMPLETED",
  settlement: { status: "CONFIRMED", network: "WON_TESTNET", txHash: `0x${"5".repeat(64)}`, blockNumber: 9 },
};

/** A whole report with one statement and two lines. */
function written(writer: ReportWriter): string {
  return [
    ...[writer.begin(), writer.open(statement, true), writer.line(line, true), writer.line(line, false)],
    ...[writer.close(statement), writer.end()],
  ].join("");
}

test("a CSV cell is read back, and none begins a formula", () => {
  const cell = fc.string({
    unit: fc.constantFrom("=", "+", "-", "@", "\t", "\r", ",", '"', "\n", "a", "\uff1d"),
  });
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 4 }), (cells) => {
      const [record] = parseCsv(csvRecord(cells));
      record!.forEach((read, index) => {
        expect([cells[index], `'${cells[index]}`]).toContain(read);
        expect(read).not.toMatch(/^[=+\-@\t\r\n\uff1d]/);
      });
    }),
  );
});

test("the CSV has a record for each line and balance, all with the same columns", () => {
  const [names, opening, first, , closing, end] = parseCsv(written(csvStatementWriter(period)));
  const named = (record?: string[]) =>
    Object.fromEntries(names!.map((name, index) => [name, record![index]]));
  expect(named(opening)).toMatchObject({
    type: "OPENING_BALANCE",
    balanceAfter: "5",
    createdAt: from.toISOString(),
  });
  expect(named(first)).toMatchObject({ type: "TRANSFER", amount: "2", memo: "'=1+1", blockNumber: "9" });
  expect(named(closing)).toMatchObject({ type: "CLOSING_BALANCE", balanceAfter: "7" });
  expect(end![0]).toBe("END");
  for (const record of [opening, first, closing, end]) expect(record).toHaveLength(names!.length);
});

test("the JSON is the envelope of every answer", () => {
  expect(JSON.parse(written(jsonStatementWriter(period)))).toEqual({
    ...{ success: true, error: null, requestId: "req_1", timestamp: to.toISOString() },
    data: {
      ...{ from: from.toISOString(), to: to.toISOString() },
      statements: [{ ...statement, transactions: [line, line] }],
    },
  });
});

/** The texts of all elements of a name. */
const textsOf = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, "g"))].map(([, text]) => text);
const camtLine = (change: Partial<StatementLine>) => camt053Writer(period).line({ ...line, ...change }, true);

test("camt.053 escapes texts and replaces characters that XML does not have", () => {
  const xml = camtLine({ memo: "a\u0000\u0085\ud800\r\u{1f600}", counterparty: "<Kim & Lee>" });
  expect(textsOf(xml, "EndToEndId")).toEqual(["a&lt;b&amp;c"]);
  expect(textsOf(xml, "Ustrd")[0]).toBe("a\u{fffd}\u0085\u{fffd}&#13;\u{1f600}");
  expect(textsOf(xml, "Nm")).toEqual(["&lt;Kim &amp; Lee&gt;"]);
});

test("camt.053 divides long texts into parts that the standard allows", () => {
  const xml = camtLine({ memo: "\u{1f600}".repeat(200), reference: "r".repeat(100) });
  expect(textsOf(xml, "Ustrd")).toEqual(["\u{1f600}".repeat(140), "\u{1f600}".repeat(60), "r".repeat(100)]);
  expect(textsOf(xml, "EndToEndId")).toEqual(["r".repeat(35)]);
  const empty = camtLine({ memo: "", reference: "" });
  expect([textsOf(empty, "Ustrd"), textsOf(empty, "EndToEndId")]).toEqual([[], ["NOTPROVIDED"]]);
});

test("the same period has the same statement id in camt.053, and another period has another", () => {
  const idOf = (changed: Partial<typeof period>) =>
    textsOf(camt053Writer({ ...period, ...changed }).open(statement, true), "Id")[0];
  expect(idOf({ madeAt: from })).toBe(idOf({}));
  expect(idOf({ from: to })).not.toBe(idOf({}));
});
