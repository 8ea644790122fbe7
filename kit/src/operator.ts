import { userInfo } from "node:os";

/** The operator's name for audit trails. In a container a user id may have no name. */
export function operatorName({ USER: user }: { USER?: string | undefined }): string {
  return user ?? nameOfUser();
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}
