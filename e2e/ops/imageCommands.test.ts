import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { operatePages, DEPLOYED, ROOT, readText } from "./repository";

const PAGES = [
  ...readdirSync(join(ROOT, "docs/runbooks")).map((file) => `docs/runbooks/${file}`),
  ...DEPLOYED.map(({ folder }) => `${folder}/README.md`),
  ...operatePages(),
  "README.md",
];
const folders = DEPLOYED.map(({ folder }) => folder);
const dockerfile = readText("deploy/Dockerfile");
const leftOut = readText(".dockerignore").split("\n");

test("every command that an operator page runs in a pod exists in that pod's image", () => {
  const absent = PAGES.flatMap((page) => absentIn(readText(page), page).map((path) => `${page}: ${path}`));
  expect(absent).toEqual([]);
  expect(readText("docs/runbooks/DeadLetters.md")).toContain(" node /app/kit/bin/deadLetters.mjs ");
});

test.each([
  ["`kubectl exec deployment/wonrail-ledger -- node bin/admin.mjs verify --json`", []],
  ["`kubectl exec deployment/wonrail-gateway -- node bin/admin.mjs`", ["bin/admin.mjs"]],
  ["`kubectl exec deployment/wonrail-ledger -- env USER=kim node bin/plantBugs.mjs`", ["bin/plantBugs.mjs"]],
  ["`node services/auth/bin/admin.mjs` in the auth pod", ["services/auth/bin/admin.mjs"]],
  ["`bin/verify.mjs`, `node bin/admin.mjs`", ["bin/verify.mjs"]],
  ["node /app/kit/bin/deadLetters.mjs and /app/kit/src/deadLetters.mjs", ["/app/kit/src/deadLetters.mjs"]],
  ["`node contracts/bin/admin.mjs --help`", []],
])("in auth's README, %s names paths that its image lacks: %j", (text, absent) => {
  expect(absentIn(text, "services/auth/README.md")).toEqual(absent);
});

test("a pod's working folder is its service's, with all files of its image", () => {
  expect(dockerfile).toMatch(/^WORKDIR \/app\/service$/m);
  expect(dockerfile).toContain('ln -s "/app/${folder}" /out/service');
  expect(inImages()).toEqual(
    expect.arrayContaining(["kit/bin", "kit/dist", ...folders.map((at) => `${at}/bin`)]),
  );
});

test("no page sends an operator to another service's pod for dead letters", () => {
  for (const page of PAGES) expect(readText(page)).not.toMatch(/wonrail-\S+ -- [^`\n]*dead-letter/);
});

/**
 * A path belongs to the pod named before it, to the page's service, or to any image. Contracts are
 * used from the repository.
 */
function absentIn(text: string, page: string): string[] {
  const named = text.matchAll(
    /(?:deployment\/wonrail-([a-z-]+) [^`\n]*?)?(?<=[\s`'(])(\/?(?:[\w.-]+\/)+[\w.-]+\.mjs)/g,
  );
  const home = folders.find((folder) => page === `${folder}/README.md`);
  return [...named].flatMap(([, pod, path]) => {
    if (path!.startsWith("contracts/")) return existsSync(join(ROOT, path!)) ? [] : [path!];
    const at = DEPLOYED.find(({ name }) => name === pod)?.folder ?? home;
    const places = path!.startsWith("/app/")
      ? [path!.slice("/app/".length)]
      : (at === undefined ? folders : [at]).map((folder) => `${folder}/${path}`);
    return places.some(isInImage) ? [] : [path!];
  });
}

function isInImage(path: string): boolean {
  const isTaken = inImages().some((part) => path.startsWith(`${part}/`));
  return isTaken && !leftOut.includes(path) && existsSync(join(ROOT, path));
}

/** Paths that the Dockerfile copies into an image. */
function inImages(): string[] {
  const parts = /for part in ([^;]+); do/.exec(dockerfile)![1]!.replaceAll(/["\\]/g, "").trim().split(/\s+/);
  const taken = parts.flatMap((part) => folders.map((folder) => part.replace("${folder}", folder)));
  return dockerfile.includes("cp -R contracts /out/contracts") ? [...taken, "contracts"] : taken;
}
