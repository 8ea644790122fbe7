import { createFindings } from "./findings";

interface Row {
  at: number;
  says: string;
}
const start = () => createFindings<Pick<Row, "at">, Row>(2, ({ at }) => `${at}`);

test("tells of a place until it was looked at and is sound, however often it is found there", () => {
  const findings = start();
  findings.looked([], [{ at: 1, says: "a" }]);
  findings.looked([], [{ at: 1, says: "a" }]);
  findings.looked([{ at: 2 }], []);
  expect(findings.rows()).toEqual([{ at: 1, says: "a" }]);
  findings.looked([{ at: 1 }], []);
  expect(findings.rows()).toEqual([]);
});

test("has each place once, whatever is wrong there, and of too many the newest", () => {
  const findings = start();
  const rows = [1, 2, 2, 3].map((at, index) => ({ at, says: `${index}` }));
  findings.looked([], rows);
  expect([findings.rows(), findings.places().map(({ at }) => at)]).toEqual([rows, [1, 2, 3]]);
  findings.trim();
  expect(findings.rows()).toEqual(rows.slice(1));
});
