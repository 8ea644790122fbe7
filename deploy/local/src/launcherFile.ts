import { readHolder, type Holder } from "./process/lockFile";
import { writePrivateJson } from "./privateFile";

/** The process that runs the stack of a home. The file is also the home's lock. */
export interface Launcher extends Holder {
  /** The address for commands, once the launcher accepts them. */
  control?: { port: number; token: string };
}

/** The launcher of this home if it is alive. */
export function readLauncher(file: string): Launcher | undefined {
  return readHolder<Launcher>(file);
}

export function writeLauncherFile(file: string, launcher: Launcher): void {
  writePrivateJson(file, launcher);
}
