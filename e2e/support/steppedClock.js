// Loaded into a test's processes before their start. The file CLOCK_FILE has the milliseconds by
// which the wall clock of the process is wrong. Without the file the clock is right.
const { readFileSync, watchFile } = require("node:fs");

const LOOK_EVERY_MS = 250;
const file = process.env.CLOCK_FILE;
const RealDate = Date;
let offsetMs = 0;

class SteppedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(SteppedDate.now());
    else super(...args);
  }

  static now() {
    return RealDate.now() + offsetMs;
  }
}

function read() {
  try {
    offsetMs = Number(readFileSync(file, "utf8"));
  } catch {
    offsetMs = 0;
  }
}

read();
watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, read);
globalThis.Date = SteppedDate;
