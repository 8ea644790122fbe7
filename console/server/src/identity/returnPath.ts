/**
 * The path of this console that a sign-in returns to. Anything else becomes "/": a link to the
 * sign-in must not lead to another site.
 */
export function returnPath(wanted: unknown, publicUrl: string): string {
  if (typeof wanted !== "string" || !wanted.startsWith("/") || !URL.canParse(wanted, publicUrl)) return "/";
  const { origin, pathname, search, hash } = new URL(wanted, publicUrl);
  // "/.//example.com" has our origin, but its path is an address of another host.
  if (origin !== new URL(publicUrl).origin || pathname.startsWith("//")) return "/";
  return `${pathname}${search}${hash}`;
}
