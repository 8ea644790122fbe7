import { camt053Writer } from "@wonrail/gateway/routes/reports/camt053";
import { type StatementLine } from "@wonrail/gateway/routes/reports/reportWriter";
import { newId } from "@wonrail/kit/contract/ids";
import { findCamtReader } from "../support/camtReader";
import { reportSkipped } from "../support/reportSkipped";

// The gateway's camt.053 with texts at the limits of the API, read by a parser that is not ours.

jest.setTimeout(300_000);

const read = findCamtReader();
if (typeof read === "string") reportSkipped(`camt.053 is not read by PyPI's camt053: ${read}`);
const withReader = typeof read === "string" ? test.skip : test;

const [from, to] = [new Date("2026-11-01T00:00:00Z"), new Date("2026-12-01T00:00:00Z")];
const TEXTS = [
  ...["<Ntry>&amp;]]>", "two\nlines\r\n", "\"quoted\" & 'quoted'", " ", "\u0000\u000b\u001f\u007f\u0085"],
  ...[
    "\ud800",
    "\ufffe\uffff",
    "\u{1f600}".repeat(200),
    "김철수".repeat(60),
    "=1+1",
    "\u202e",
    "r".repeat(100),
  ],
];

const walletId = newId("wal");
const settled = {
  status: "CONFIRMED",
  network: "WON_TESTNET",
  txHash: `0x${"5".repeat(64)}`,
  blockNumber: 9,
};
const pending = { status: "PENDING", network: "WON_TESTNET", txHash: null, blockNumber: null };

function lineOf(text: string, index: number): StatementLine {
  return {
    ...{ walletId, transactionId: `${newId("jrn")}-${index + 1}`, type: "TRANSFER", status: "COMPLETED" },
    ...{ direction: index % 2 === 0 ? "IN" : "OUT", amount: index + 1, balanceAfter: 0 },
    ...{
      counterparty: index % 3 === 0 ? null : `0x${"Ab".repeat(20)}`,
      memo: text,
      reference: text.slice(0, 100),
    },
    ...{ relatedId: newId("trf"), cancelId: null, createdAt: from.toISOString() },
    settlement: (index % 2 === 0 ? settled : pending) as StatementLine["settlement"],
  };
}

function write(lines: StatementLine[]): string {
  const writer = camt053Writer({ requestId: "req_1", from, to, madeAt: to });
  const statement = { walletId, openingBalance: 0, closingBalance: 12 };
  const empty = { walletId: newId("wal"), openingBalance: 5, closingBalance: 5 };
  return [
    ...[writer.begin(), writer.open(statement, true), ...lines.map((line) => writer.line(line, false))],
    ...[writer.close(statement), writer.open(empty, false), writer.close(empty), writer.end()],
  ].join("");
}

withReader("a document with hostile texts is valid, and its amounts and references are read back", () => {
  if (typeof read === "string") throw new Error(read);
  const { verdict, statements } = read(write(TEXTS.map(lineOf)));
  expect(verdict).toMatchObject({ valid: true, message_type: "camt.053.001.08" });
  expect(statements).toHaveLength(2);
  expect(statements[0]).toMatchObject({
    ...{ account: walletId.slice(4), currency: "KRW", balances: { OPBD: 0, CLBD: 12 } },
    amounts: TEXTS.map((_, index) => (index % 2 === 0 ? index + 1 : -index - 1)),
  });
  expect(statements[0]!.references).toContain("<Ntry>&amp;]]>");
  expect(statements[0]!.references).toContain("r".repeat(35));
  expect(statements[1]).toMatchObject({ amounts: [], balances: { OPBD: 5, CLBD: 5 } });
});

withReader("the parser refuses a document that was cut", () => {
  if (typeof read === "string") throw new Error(read);
  const whole = write(TEXTS.map(lineOf));
  expect(() => read(whole.slice(0, whole.length * 0.7))).toThrow(/XML|Parse|parse|element/);
});
