import { findPython } from "../clients/python";
import { run } from "../clients/run";

export interface CamtStatement {
  account: string;
  currency: string;
  /** Amounts by the code of the balance. */
  balances: Record<string, number>;
  /** Positive for a credit. */
  amounts: number[];
  /** The end-to-end ids of the entries. */
  references: string[];
}

export interface CamtReport {
  /** The verdict of the XML schema of ISO 20022. */
  verdict: { valid: boolean; message_type: string };
  statements: CamtStatement[];
}

const READ = `
import json, sys
from camt053 import parse_document
from camt053.xml.validate_statement import validate_statement
xml = sys.stdin.read()
verdict = validate_statement(xml)
sign = lambda entry: 1 if entry.credit_debit_indicator == "CRDT" else -1
print(json.dumps({"verdict": verdict, "statements": [{
    "account": one.account.other_id,
    "currency": one.account.currency,
    "balances": {each.type_code: int(each.amount) * sign(each) for each in one.balances},
    "amounts": [int(each.amount) * sign(each) for each in one.entries],
    "references": [detail.end_to_end_id for each in one.entries for detail in each.details],
} for one in parse_document(xml).statements]}))
`;

/** Validates and reads a document with PyPI's camt053. */
export type CamtReader = (xml: string) => CamtReport;

/** Returns the reason instead when this machine cannot run the library. */
export function findCamtReader(): CamtReader | string {
  const python = findPython();
  if (!python.ok) return python.why;
  return (xml) => {
    const { ok, output } = run(python.command, ["-W", "ignore", "-c", READ], { input: xml });
    if (!ok) throw new Error(output);
    return JSON.parse(output) as CamtReport;
  };
}
