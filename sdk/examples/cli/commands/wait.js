import { UsageError } from "../support/failures.js";
import { idOf, show, waitUntilFinal } from "../support/records.js";

const FINAL = ["CONFIRMED", "FAILED"];

export const wait = {
  summary: "wait until a record is final",
  takes: ["<id>"],
  options: {
    until: { type: "string", multiple: true, help: `${FINAL.join(" or ")}; either of them unless given` },
    seconds: { type: "string", help: "give up after so many; 60 unless given" },
  },
  examples: ["wait last", "wait last --until CONFIRMED --seconds 120"],
  async run({ values, positionals, settings, output, signal }) {
    const seconds = Number(values.seconds ?? 60);
    if (!Number.isInteger(seconds) || seconds < 1)
      throw new UsageError("--seconds must be a whole number from 1.");
    const other = values.until?.find((until) => !FINAL.includes(until));
    // A record starts as PENDING and never returns to it.
    if (other !== undefined) throw new UsageError(`--until must be ${FINAL.join(" or ")}, not ${other}.`);
    const client = settings.client();
    const id = await idOf(client, positionals[0], signal);
    const waiting = { client, output, signal, id, until: values.until, timeoutMs: seconds * 1000 };
    show({ output, client, record: await waitUntilFinal(waiting) });
  },
};
