import { type Request, type Response } from "express";

export interface CookieName {
  name: string;
  isSecure: boolean;
}

/** Undefined when it is absent, or given twice: a sub-domain may have set the other one. */
export function readCookie({ headers }: Request, name: string): string | undefined {
  const values = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]!.slice(name.length + 1) : undefined;
}

/** Lax, because the browser comes back from the identity provider by a link. */
export function setCookie(res: Response, { name, isSecure }: CookieName, value: string): void {
  res.cookie(name, value, { httpOnly: true, secure: isSecure, sameSite: "lax", path: "/" });
}

export function clearCookie(res: Response, { name, isSecure }: CookieName): void {
  res.clearCookie(name, { httpOnly: true, secure: isSecure, sameSite: "lax", path: "/" });
}
