import { userInfo } from "node:os";

/** Who gives a command, for audit trails. In a container a process may run as a number that no name belongs to. */
export function operatorOf({ USER: user }: { USER?: string | undefined }): string {
  return `operator:${user ?? nameOfUser()}`;
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}
