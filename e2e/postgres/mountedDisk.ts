import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system in memory with a size of its own. */
export interface Mounted {
  folder: string;
  /** False when the files need more than the size. */
  resize(bytes: number): boolean;
  close(): Promise<void>;
}

/** Reason why this machine cannot have a small disk, if any. */
export function missingSmallDiskReason(): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-mount-"));
  try {
    if (!mount(dir, "size=1m,mode=711"))
      return "only who may mount a tmpfs, as root of a machine may, has a disk to fill";
    spawnSync("umount", [dir]);
    return undefined;
  } finally {
    rmdirSync(dir);
  }
}

/**
 * Mounts the folder `disk` in the folder. A shell unmounts it and deletes the folder when its
 * standard input closes, so a killed test run leaves nothing.
 */
export function mountedUntilClosed(dir: string, sizeMb: number): Mounted {
  const folder = join(dir, "disk");
  mkdirSync(folder, { recursive: true });
  if (!mount(folder, `size=${sizeMb}m,mode=711`)) throw new Error(`${folder} cannot be mounted`);
  const script = 'read -r _; umount -l "$1/disk"; rm -rf "$1"';
  const shell = spawn("/bin/sh", ["-c", script, "sh", dir], {
    ...{ stdio: ["pipe", "ignore", "ignore"], detached: true, cwd: "/" },
  });
  return {
    folder,
    resize: (bytes) => mount(folder, `remount,size=${bytes}`),
    async close() {
      const ended = once(shell, "exit");
      shell.stdin.end();
      await ended;
    },
  };
}

function mount(folder: string, options: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).status === 0;
}
