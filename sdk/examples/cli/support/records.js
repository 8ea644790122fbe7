import { formatUnits, toUnits } from "@wonrail/sdk";
import { UsageError } from "./failures.js";

/** An id as given; `last` is the newest record. */
export async function idOf(client, given, signal) {
  if (given !== "last") return given;
  const { items } = await client.transactions.list({ limit: 1 }, { signal });
  if (items.length === 0) throw new UsageError("Nothing is recorded yet, so there is no last record.");
  return items[0].id;
}

/** Prints a record with a readable amount, a link to the chain and, on request, its history. */
export function show({ output, client, record }) {
  const isLinked = record.txHash && record.toNetworkType === client.network.type;
  const explorer = isLinked ? client.explorer.transaction(record.txHash) : undefined;
  const history = record.history?.map(textOfChange);
  output.result(record, { won: formatUnits(record.amount), explorer, history });
}

function textOfChange({ changedAt, status, changedBy, reason }) {
  return `${changedAt} ${status} by ${changedBy}${reason === null ? "" : `: ${reason}`}`;
}

/** A moment: ISO 8601 with a zone, or from now: +30s, +10m, +2h. */
export function momentOf(text) {
  const [, count, unit] = /^\+(\d{1,6})([smh])$/.exec(text) ?? [];
  if (count === undefined) return text;
  return new Date(Date.now() + Number(count) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit]);
}

export function required(values, name) {
  if (values[name] === undefined) throw new UsageError(`--${name} is missing.`);
  return values[name];
}

/** An amount in KRW, in the token's smallest unit. */
export function unitsOf(values, name) {
  const given = required(values, name);
  try {
    return toUnits(given);
  } catch (error) {
    throw new UsageError(`--${name} ${error.details.fields[0].message}.`);
  }
}

/** Waits until the record is final, with a spinner that shows its status. */
export async function waitUntilFinal({ client, output, signal, id, until = [], timeoutMs }) {
  const spinner = output.spinner(`waiting for ${id}`);
  const startedMs = Date.now();
  const isAwaited = (record) => {
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    spinner.update(`${record.id} is ${record.status} (${seconds} s)`);
    return until.length > 0 ? until.includes(record.status) : record.status !== "PENDING";
  };
  try {
    return await client.transactions.waitForStatus(id, isAwaited, {
      signal,
      ...(timeoutMs && { timeoutMs }),
    });
  } finally {
    spinner.stop();
  }
}
