import { assert } from "@wonrail/kit/contract/errors";
import { hexOf } from "@wonrail/kit/contract/ids";

/** Which call from outside a request belongs to. */
export interface Origin {
  requestId: string;
  traceparent: string;
}

/** An entry, and where it comes from. */
export interface JournalRef {
  /** With any prefix: the UUID counts. */
  requestId: string;
  origin: Origin;
}

const FIXED_BYTES = 16 + 16 + 8 + 1;
const OWN_FORM = /^req_[0-9a-f]{32}$/;
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const NO_TRACE = "0".repeat(48);
/** In the length's place: the request id has the form that we make, and its 16 bytes follow. */
const OWN = 255;

/** Some 57 bytes for each entry, where its whole event would be 300: this is written once for every transfer there is. */
export function writeJournalRefs(refs: JournalRef[]): Uint8Array {
  let hex = "";
  for (const ref of refs) hex += hexOfRef(ref);
  return Buffer.from(hex, "hex");
}

export function readJournalRefs(bytes: Uint8Array): JournalRef[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const refs: JournalRef[] = [];
  for (let at = 0; at < buffer.length;) {
    assert(at + FIXED_BYTES <= buffer.length, "journal refs end in the middle of one");
    const hex = (from: number, to: number) => buffer.toString("hex", at + from, at + to);
    const length = buffer[at + FIXED_BYTES - 1]!;
    const end = FIXED_BYTES + (length === OWN ? 16 : length);
    const requestId =
      length === OWN ? `req_${hex(FIXED_BYTES, end)}` : buffer.toString("latin1", at + FIXED_BYTES, at + end);
    const traceparent = `00-${hex(16, 32)}-${hex(32, 40)}-01`;
    refs.push({ requestId: `jrn_${hex(0, 16)}`, origin: { requestId, traceparent } });
    at += end;
  }
  return refs;
}

/** Text, so that all of a batch becomes bytes in one step. */
function hexOfRef({ requestId, origin }: JournalRef): string {
  const { traceparent } = origin;
  const trace = TRACEPARENT.test(traceparent)
    ? traceparent.slice(3, 35) + traceparent.slice(36, 52)
    : NO_TRACE;
  return hexOf(requestId) + trace + hexOfOrigin(origin.requestId);
}

function hexOfOrigin(requestId: string): string {
  if (OWN_FORM.test(requestId)) return OWN.toString(16) + requestId.slice(4);
  const bytes = Buffer.from(requestId, "latin1").subarray(0, OWN - 1);
  return bytes.length.toString(16).padStart(2, "0") + bytes.toString("hex");
}
