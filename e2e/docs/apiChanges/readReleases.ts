import { execFileSync } from "node:child_process";
import { type ApiDocument } from "./describeChanges";

/** A tagged release with its OpenAPI document. */
export interface Release {
  /** The tag, such as v1.2.0. */
  tag: string;
  date: string;
  document: ApiDocument;
}

const FILE = "gateway/openapi.json";
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/** The releases, oldest first. Null where git or the repository is missing. A shallow clone lacks tags. */
export function readReleases(root: string): Release[] | null {
  const tags = git(
    root,
    "tag",
    "--list",
    "v*",
    "--sort=creatordate",
    "--format=%(refname:short) %(creatordate:short)",
  );
  if (tags === null) return null;
  return tags
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const [tag, date] = line.split(" ") as [string, string];
      const text = git(root, "show", `${tag}:${FILE}`);
      return text === null ? [] : [{ tag, date, document: JSON.parse(text) as ApiDocument }];
    });
}

function git(root: string, ...args: string[]): string | null {
  try {
    const options = { cwd: root, encoding: "utf8", stdio: "pipe", maxBuffer: MAX_DOCUMENT_BYTES } as const;
    return execFileSync("git", args, options);
  } catch {
    return null;
  }
}
