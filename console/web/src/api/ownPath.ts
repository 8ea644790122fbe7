/** True for a path of this site. "//host" and "/\host" name another site. */
export function isOwnPath(path: unknown): path is string {
  return typeof path === "string" && /^\/(?![/\\])/.test(path);
}
