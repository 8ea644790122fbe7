import { hash } from "node:crypto";
import { newId } from "@wonrail/kit/contract/ids";
import { type Period, type ReportWriter, type StatementLine } from "./reportWriter";

// ISO 20022 camt.053.001.08: the bank-to-customer statement, with one Stmt for each wallet.

const NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08";
const CURRENCY = "KRW";
const MAX_REFERENCE_CHARACTERS = 35;
const MAX_REMITTANCE_CHARACTERS = 140;

export function camt053Writer({ from, to, madeAt }: Period): ReportWriter {
  const made = `<CreDtTm>${madeAt.toISOString()}</CreDtTm>`;
  const dates = `<FrToDt><FrDtTm>${from.toISOString()}</FrDtTm><ToDtTm>${to.toISOString()}</ToDtTm></FrToDt>`;
  return {
    contentType: "application/xml",
    extension: "xml",
    begin: () =>
      `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${NAMESPACE}"><BkToCstmrStmt>` +
      `<GrpHdr><MsgId>${hexOf(newId("req"))}</MsgId>${made}</GrpHdr>\n`,
    open: ({ walletId, openingBalance, closingBalance }) =>
      `<Stmt><Id>${statementId(walletId, from, to)}</Id>${made}${dates}` +
      `<Acct><Id><Othr><Id>${hexOf(walletId)}</Id></Othr></Id><Ccy>${CURRENCY}</Ccy></Acct>` +
      `${balance("OPBD", openingBalance, from)}${balance("CLBD", closingBalance, to)}\n`,
    line: entry,
    close: () => "</Stmt>\n",
    end: () => "</BkToCstmrStmt></Document>\n",
  };
}

function entry(line: StatementLine): string {
  const { transactionId, type, amount, direction, createdAt, relatedId } = line;
  const { entryHex, sequence } = partsOf(transactionId);
  const indicator = `<CdtDbtInd>${direction === "IN" ? "CRDT" : "DBIT"}</CdtDbtInd>`;
  return (
    `<Ntry><NtryRef>${sequence}</NtryRef><Amt Ccy="${CURRENCY}">${amount}</Amt>${indicator}<Sts><Cd>BOOK</Cd></Sts>` +
    `<BookgDt><DtTm>${createdAt}</DtTm></BookgDt><ValDt><DtTm>${createdAt}</DtTm></ValDt>` +
    `<AcctSvcrRef>${entryHex}</AcctSvcrRef><BkTxCd><Prtry><Cd>${type}</Cd></Prtry></BkTxCd><NtryDtls><TxDtls>` +
    `<Refs><EndToEndId>${endToEndId(line)}</EndToEndId><TxId>${hexOf(relatedId)}</TxId></Refs>` +
    `<Amt Ccy="${CURRENCY}">${amount}</Amt>${indicator}${otherParty(line)}${remittance(line)}` +
    `<AddtlTxInf>${settlementText(line)}</AddtlTxInf></TxDtls></NtryDtls></Ntry>\n`
  );
}

function endToEndId({ reference }: StatementLine): string {
  return xml(cut(reference || "NOTPROVIDED", MAX_REFERENCE_CHARACTERS)[0]!);
}

/** The debtor of a credit or the creditor of a debit: another wallet's id, or an outside address. */
function otherParty({ counterparty, direction }: StatementLine): string {
  if (counterparty === null) return "";
  const role = direction === "IN" ? "Dbtr" : "Cdtr";
  return `<RltdPties><${role}><Pty><Nm>${xml(counterparty)}</Nm></Pty></${role}></RltdPties>`;
}

function remittance({ memo, reference }: StatementLine): string {
  const parts = [memo, reference].flatMap((text) => cut(text ?? "", MAX_REMITTANCE_CHARACTERS));
  if (parts.length === 0) return "";
  return `<RmtInf>${parts.map((part) => `<Ustrd>${xml(part)}</Ustrd>`).join("")}</RmtInf>`;
}

function settlementText({ settlement: { network, status, txHash, blockNumber } }: StatementLine): string {
  return txHash === null
    ? `${network} ${status}`
    : `${network} ${status} ${txHash} block ${blockNumber ?? "-"}`;
}

function balance(code: "OPBD" | "CLBD", amount: number, at: Date): string {
  return (
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${CURRENCY}">${amount}</Amt>` +
    `<CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>${at.toISOString()}</DtTm></Dt></Bal>`
  );
}

/** A second report of the same period has the same statement ids, so that imports find duplicates. */
function statementId(walletId: string, from: Date, to: Date): string {
  return hash("sha256", `${walletId} ${from.toISOString()} ${to.toISOString()}`).slice(0, 32);
}

/** An id without its prefix has 32 characters: the standard allows 34 or 35. */
function hexOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

/** The entry of a line, and the line's number in the statement of its wallet. */
function partsOf(transactionId: string): { entryHex: string; sequence: string } {
  const [entryHex = "", sequence = ""] = hexOf(transactionId).split("-");
  return { entryHex, sequence };
}

/** Parts of at most so many characters. An empty text is no part. */
function cut(text: string, size: number): string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}

/** XML 1.0 has no other characters, also not as references. */
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
/** A parser would read a carriage return as a line feed. */
const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };

function xml(text: string): string {
  return text.replace(NOT_IN_XML, "\u{fffd}").replace(/[&<>\r]/g, (sign) => ESCAPES[sign]!);
}
