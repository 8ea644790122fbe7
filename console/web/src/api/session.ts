import { isOwnPath } from "./ownPath";
import { type MethodRules, type RoleName } from "./roles";

export interface Session {
  operator: { name: string; roles: RoleName[] };
  csrfToken: string;
  expiresAt: string;
  network: string;
  signIn: "oidc" | "link";
  methods: MethodRules;
}

let session: Session | undefined;

/** Kept in memory only. */
export function keepSession(present: Session): void {
  session = present;
}

/** The screens are drawn only after the session was read. */
export function currentSession(): Session {
  if (session === undefined) throw new Error("the session was not read yet");
  return session;
}

/** Leaves the page for the server's sign-in, which comes back to the present path. */
export function signIn(url: unknown = "/auth/sign-in"): void {
  if (!isOwnPath(url)) return;
  const here = window.location.pathname + window.location.search;
  window.location.assign(`${url}?returnTo=${encodeURIComponent(here)}`);
}
