// Tests create thousands of short-lived files, mostly of databases, which is up to ten times faster
// in memory. So the temporary folder is in memory when there is room and no other setting.
const { readFileSync, statfsSync } = require("node:fs");

const IN_MEMORY = "/dev/shm";
const ENOUGH_BYTES = 8 * 1024 ** 3;

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    const room = Math.min(bavail * bsize, process.availableMemory());
    return room >= ENOUGH_BYTES && isExecutable(readFileSync("/proc/mounts", "utf8"));
  } catch {
    return false;
  }
}

/** A memory file system from which programs may be run: tests install packages, too. */
function isExecutable(mounts) {
  const [, , type, options] =
    mounts
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, folder]) => folder === IN_MEMORY) ?? [];
  return type === "tmpfs" && !options.split(",").includes("noexec");
}

if (process.env.TMPDIR === undefined && hasRoom()) process.env.TMPDIR = IN_MEMORY;
