/** The versions of the public API, oldest first. A version is a date, and API: never rename one. */
export const API_VERSIONS = ["2026-01-01"] as const;

export type ApiVersion = (typeof API_VERSIONS)[number];

export const LATEST_API_VERSION: ApiVersion = API_VERSIONS.at(-1)!;

export function isApiVersion(text: string): text is ApiVersion {
  return (API_VERSIONS as readonly string[]).includes(text);
}
