import { describe } from "./failures.js";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 80;

/** Results go to stdout, all else to stderr: `--json | jq` works while a spinner turns. */
export function createOutput({ json }) {
  const say = (text) => process.stderr.write(`${text}\n`);

  return {
    json,
    /** Prints a result as JSON, or with a line for each field and value. */
    result(value, links = {}) {
      if (json) return void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
      const fields = Object.entries({ ...value, ...links }).filter(
        ([, field]) => field !== null && field !== undefined,
      );
      for (const [name, field] of fields)
        for (const one of [field].flat()) process.stdout.write(`${name.padEnd(16)} ${textOf(one)}\n`);
    },
    rows(items, columns) {
      if (json) return void process.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
      const cells = [columns, ...items.map((item) => columns.map((column) => textOf(item[column] ?? "-")))];
      const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index].length)));
      for (const row of cells)
        process.stdout.write(
          `${row
            .map((cell, index) => cell.padEnd(widths[index]))
            .join("  ")
            .trimEnd()}\n`,
        );
    },
    /** Reports progress. */
    step: (text) => (json ? undefined : say(text)),
    /** Prints a fact that a later failure must not hide, with --json too. */
    kept(word, fields) {
      say(json ? JSON.stringify(fields) : `${word.padEnd(9)} ${Object.values(fields).join(" ")}`);
    },
    help(text) {
      process.stdout.write(`${text}\n`);
      return 0;
    },
    failure(error) {
      const described = describe(error);
      if (json) return void process.stderr.write(`${JSON.stringify(described)}\n`);
      say(`${described.code ?? described.name}: ${described.message}`);
      for (const { path, message } of described.details?.fields ?? []) say(`  ${path} ${message}`);
      if (described.details?.id) say(`  it is ${described.details.id}`);
      if (described.requestId) say(`  request ${described.requestId}`);
      if (described.outcomeUnknown) say(`  it may have been done: ${wayOn(described)}`);
    },
    spinner: (text) => startSpinner(text, { isShown: !json && process.stderr.isTTY }),
  };
}

function wayOn({ txHash, idempotencyKey }) {
  if (txHash) return `do not send again, record it with create --hash ${txHash}`;
  if (idempotencyKey) return `give the same again with --key ${idempotencyKey}`;
  return "look before you do it again";
}

function startSpinner(text, { isShown }) {
  let shown = text;
  let frame = 0;
  const draw = () => process.stderr.write(`\r\u001b[2K${FRAMES[(frame += 1) % FRAMES.length]} ${shown}`);
  const timer = isShown ? setInterval(draw, FRAME_MS) : undefined;
  return {
    update: (next) => (shown = next),
    stop() {
      clearInterval(timer);
      if (isShown) process.stderr.write("\r\u001b[2K");
    },
  };
}

function textOf(field) {
  return typeof field === "object" ? JSON.stringify(field) : String(field);
}
