// Tests make thousands of files that are gone a moment later, of databases above all: on a disk that takes up to ten times as long as in memory, most
// of it inside the kernel. So what they make in the temporary folder is made in memory, where the machine has room for it and nobody has said otherwise.
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
