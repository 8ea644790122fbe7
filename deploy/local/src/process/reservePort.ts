import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HIGHEST_PORT, isFree } from "./freePort";
import { takeLock } from "./lockFile";

const ATTEMPTS = 500;

export interface PortBook {
  /**
   * The preferred port of the loopback interface, or the next one that is neither used nor
   * reserved.
   */
  reserve(preferred: number): Promise<number>;
  /** Frees the reservations after the end of our processes. */
  release(): void;
}

/**
 * Port reservations shared by all launchers of the machine. A check for a free port is not enough:
 * two stacks that start together would both find it free, and the later one would fail half a
 * minute later.
 */
export function openPortBook(dir = join(tmpdir(), "wonrail-ports")): PortBook {
  shareWithEverybody(dir);
  const mine: string[] = [];

  async function claim(port: number): Promise<boolean> {
    const file = join(dir, `${port}`);
    try {
      takeLock(file);
    } catch {
      return false; // Reserved, or a dead launcher's file of another user.
    }
    if (await isFree(port)) {
      mine.push(file);
      return true;
    }
    rmSync(file, { force: true });
    return false;
  }

  return {
    async reserve(preferred) {
      const last = Math.min(preferred + ATTEMPTS, HIGHEST_PORT);
      for (let port = preferred; port <= last; port += 1) if (await claim(port)) return port;
      throw new Error(`No port from ${preferred} to ${last} is free on 127.0.0.1.`);
    },
    release: () => mine.splice(0).forEach((file) => rmSync(file, { force: true })),
  };
}

function shareWithEverybody(dir: string): void {
  mkdirSync(dir, { recursive: true });
  try {
    chmodSync(dir, 0o1777);
  } catch {
    // Another user has created and opened it already.
  }
}
