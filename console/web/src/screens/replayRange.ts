import { type RequestOf } from "../api/services";
import { type Field, type Values } from "../blocks/actionButton";

const METHOD = "wonrail.events.v1.EventsAdminService/ReplayDeliveries";
const DIGITS = /^[0-9]{1,18}$/;

export const rangeFields: readonly Field[] = [
  {
    name: "first",
    label: "First event",
    description: "Its sequence, as in the table of deliveries and in GET /api/events.",
    required: true,
  },
  { name: "last", label: "Last event", description: "Its sequence, included.", required: true },
];

/** Both ends are included. The service counts from the event before the first one. */
export function rangeOf({ first = "", last = "" }: Values): NonNullable<RequestOf<typeof METHOD>["range"]> {
  const [from, to] = [readSequence(first, "First event"), readSequence(last, "Last event")];
  if (to < from) throw new Error("Last event must not be before the first event.");
  return { after: String(from - 1n), upTo: String(to) };
}

function readSequence(text: string, label: string): bigint {
  const digits = text.trim().replaceAll(",", "");
  if (!DIGITS.test(digits) || BigInt(digits) === 0n)
    throw new Error(`${label} must be a whole number from 1.`);
  return BigInt(digits);
}
