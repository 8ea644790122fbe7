import { renderResults } from "./results";

const bug = (name: string, file: string) => ({ name, file, changes: [] });

test("the table says for each bug which run and which checks found it", () => {
  const bugs = [
    bug("store no keys", "services/ledger/src/store/changes.ts"),
    bug("drop the key", "gateway/src/routes/executeCommand.ts"),
    bug("sign another body", "services/events/src/webhooks/domain/signature.ts"),
  ];
  const results = [
    { name: "store no keys", runs: ["500x4", "5000x20"], findings: ["keys", "journal"] },
    { name: "drop the key", runs: ["500x4"], findings: [] },
  ];
  expect(renderResults(bugs, results).split("\n")).toEqual([
    "Planted: 3. Run: 2. Found: 1.",
    "",
    "| Planted | In | Run of operations x faults | Found by |",
    "|---|---|---|---|",
    "| store no keys | ledger | 2. (5000x20) | keys, journal |",
    "| drop the key | gateway | 500x4 | **not found** |",
    "| sign another body | events | not run | |",
  ]);
});
