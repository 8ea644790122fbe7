// The repository's structure as tests. Each message contains the remedy.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { errorTable } from "@wonrail/kit/contract/errors";

const ROOT = __dirname;
const SERVICES = ["auth", "wallet", "ledger", "payment", "chain-relayer", "events"];
const FILES = ["main.ts", "config.ts", "app.ts", "rpc.ts", "consumers.ts", "jobs.ts", "events.ts"];
/** Services that publish no events. */
const SILENT = ["payment", "events"];
const FOLDERS = ["commands", "queries", "domain", "store"];
/** Services with several flows have one folder per flow; the others have FOLDERS at the top. */
const FLOWS: Record<string, string[]> = {
  "chain-relayer": [
    "evm",
    "sender",
    "settlement",
    "indexer",
    "deposits",
    "reconciliation",
    "records",
    "restore",
    "x402",
  ],
  events: ["feed", "webhooks"],
};
/** The operators' RPCs, and the commands that call them. */
const ADMIN = ["adminRpc.ts", "adminReads.ts", "admin.ts"];
const OUTSIDE: Record<string, string> = {
  auth: "admin",
  wallet: "keys",
  ledger: "intents",
  "chain-relayer": "facts.ts",
};
const TOP_LEVEL = [
  "services",
  "proto",
  "gateway",
  "console",
  "sdk",
  "deploy",
  "helm",
  "kit",
  "contracts",
  "e2e",
  "docs",
];
const CODE = /\.(tsx?|mts|cts|js|mjs|cjs|sol|sh)$/;

const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(ROOT, path)));
const sources = tracked.filter((path) => /\.tsx?$/.test(path));
const production = sources.filter((path) => !isTest(path));

test("the top level holds the agreed folders and no others", () => {
  const folders = new Set(tracked.filter((path) => path.includes("/")).map((path) => path.split("/")[0]!));
  const strangers = [...folders].filter((name) => !name.startsWith(".") && !TOP_LEVEL.includes(name));
  expect(advice(strangers, "is not a top-level folder of the design; put it under one that is")).toEqual([]);
});

describe.each(SERVICES)("services/%s", (service) => {
  const src = join(ROOT, "services", service, "src");

  test("has the standard shape", () => {
    const folders = FLOWS[service] ?? FOLDERS;
    const missing = [...FILES, ...folders]
      .filter((name) => name !== "events.ts" || !SILENT.includes(service))
      .filter((name) => !existsSync(join(src, name)));
    expect(
      advice(missing, `is missing from services/${service}/src; every service has it (ARCHITECTURE.md)`),
    ).toEqual([]);
    const allowed = [...FILES, ...folders, "messages.ts", "metrics", "testing", ...ADMIN, OUTSIDE[service]];
    const strangers = readdirSync(src).filter(
      (name) => !allowed.includes(name) && !name.endsWith(".test.ts"),
    );
    expect(advice(strangers, `has no place in a service; move it to ${folders.join(", ")}`)).toEqual([]);
    expect(existsSync(join(ROOT, "services", service, "README.md"))).toBe(true);
  });

  test("main.ts stays under 80 lines", () => {
    expect(linesOf(join("services", service, "src", "main.ts")).length).toBeLessThan(80);
  });

  test("migrations are numbered without gaps", () => {
    const numbers = readdirSync(join(ROOT, "services", service, "migrations"))
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .map((name) => Number(name.slice(0, 4)));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});

test("no service or edge imports another", () => {
  const wrong = imports(production).filter(({ from, to }) => {
    const home = /^(services\/[^/]+|gateway|console\/server|sdk)\//.exec(from)?.[1];
    if (home === undefined) return false;
    const other =
      /^@wonrail\/(auth|wallet|ledger|payment|chain-relayer|events|gateway|console|sdk|local|e2e)(\/|$)/.test(
        to,
      );
    return other || (to.startsWith(".") && !join(dirname(from), to).startsWith(`${home}/`));
  });
  expect(
    advice(wrong.map(describeImport), "crosses services; call the other one's RPC or take its events"),
  ).toEqual([]);
});

describe.each(Object.entries(FLOWS))("the flows of services/%s", (service, flows) => {
  const src = join("services", service, "src");
  const flowOf = (path: string) => flows.find((flow) => path === flow || path.startsWith(`${flow}/`));
  const crossing = imports(production.filter((path) => path.startsWith(`${src}/`)))
    .filter(({ to }) => to.startsWith("."))
    .map(({ from, to }) => ({ from: relative(src, from), to: relative(src, join(dirname(from), to)) }))
    .filter(({ from, to }) => flowOf(to) !== undefined && flowOf(from) !== flowOf(to));

  test("are entered through their index only", () => {
    const wrong = crossing.filter(({ to }) => !flows.includes(to));
    expect(
      advice(
        wrong.map(({ from, to }) => `${from} imports ${to}, which`),
        "is inside a flow; export it from the flow's index.ts and import that",
      ),
    ).toEqual([]);
  });

  test("do not depend on each other in a circle, nor on the service's entry points", () => {
    const neededBy = (flow: string) =>
      new Set(crossing.filter(({ from }) => flowOf(from) === flow).map(({ to }) => flowOf(to)!));
    const reached = (flow: string): Set<string> => {
      const found = neededBy(flow);
      for (const one of found) for (const next of neededBy(one)) found.add(next);
      return found;
    };
    const inCircle = flows.filter((flow) => reached(flow).has(flow));
    expect(advice(inCircle, "depends on itself by way of another flow; hand in a function instead")).toEqual(
      [],
    );
    const upward = imports(production.filter((path) => flowOf(relative(src, path)) !== undefined)).filter(
      ({ from, to }) => {
        const target = relative(src, join(dirname(from), to));
        return to.startsWith(".") && flowOf(target) === undefined && target !== "events";
      },
    );
    expect(advice(upward.map(describeImport), "is a door; a flow gets what it needs as an argument")).toEqual(
      [],
    );
  });
});

test("the console's page takes only types from the other packages", () => {
  const wrong = imports(production.filter((path) => path.startsWith("console/web/"))).filter(
    ({ to, typeOnly }) => to.startsWith("@wonrail/") && !(typeOnly && to.startsWith("@wonrail/proto/")),
  );
  expect(
    advice(wrong.map(describeImport), "would run in the browser; import a type, or ask the console's server"),
  ).toEqual([]);
});

test("kit knows no service", () => {
  const wrong = imports(sources.filter((path) => path.startsWith("kit/src/"))).filter(
    ({ from, to }) =>
      to.startsWith("@wonrail/") &&
      !to.startsWith("@wonrail/proto/common") &&
      to !== "@wonrail/proto/descriptors" &&
      // Its README line: the mapping from entries to answers, which several processes share.
      !(from.startsWith("kit/src/records/") && to.startsWith("@wonrail/proto/")),
  );
  const outside = wrong.filter(({ from }) => !isTest(from));
  expect(advice(outside.map(describeImport), "is not the kit's business; pass it in as an argument")).toEqual(
    [],
  );
});

test("domain folders do no I/O: they import vocabulary, messages and each other", () => {
  const allowed =
    // apiKey makes random keys.
    /^(\.\/|@wonrail\/kit\/(contract\/(?!apiKey$)\w+|json|records)$|@wonrail\/proto\/)/;
  const wrong = imports(
    production.filter((path) => /^services\/[^/]+\/src\/(\w+\/)?domain\//.test(path)),
  ).filter(({ to, typeOnly }) => !allowed.test(to) && !typeOnly && !(to === "node:crypto"));
  expect(
    advice(wrong.map(describeImport), "does not belong in domain/; rules are pure, hand the facts in"),
  ).toEqual([]);
});

describe("each outside library stays in its folder:", () => {
  const homes: [string, RegExp][] = [
    ["pg", /^(kit\/src\/(db|migrate)\/|deploy\/local\/)/],
    ["kafkajs", /^(kit\/src\/bus\/kafka\.ts|deploy\/local\/|e2e\/)/],
    [
      "ethers",
      /^(services\/wallet\/src\/keys\/|services\/chain-relayer\/src\/evm\/|sdk\/examples\/|contracts\/|e2e\/)/,
    ],
    ["opossum", /^kit\/src\/grpc\//],
    ["express", /^(gateway|console\/server|e2e\/x402)\//],
  ];
  test.each(homes)("%s", (library, home) => {
    const wrong = imports(production).filter(
      ({ from, to }) => (to === library || to.startsWith(`${library}/`)) && !home.test(from),
    );
    expect(advice(wrong.map(describeImport), `may not import ${library} there; use the kit's port`)).toEqual(
      [],
    );
  });
});

test("process.env is read in config.ts only", () => {
  const exempt =
    /(^|\/)config\.ts$|^kit\/src\/(testing\/|failpoint\.ts$)|^deploy\/local\/|^e2e\/|^sdk\/|^contracts\//;
  const wrong = production.filter((path) => !exempt.test(path) && read(path).includes("process.env"));
  expect(advice(wrong, "reads process.env; read it in config.ts and hand the value in")).toEqual([]);
});

test("all SQL of a service is in store/", () => {
  const wrong = production.filter(
    (path) =>
      /^(services\/[^/]+|console\/server)\/src\//.test(path) &&
      !/\/src\/(\w+\/)?store\//.test(path) &&
      /\bsql`/.test(read(path)),
  );
  expect(advice(wrong, "has SQL in it; move the statement to the table's file in store/")).toEqual([]);
});

test("every error code is documented", () => {
  const page = read("docs/reference/errors.md");
  const missing = Object.keys(errorTable).filter((code) => !page.includes(`### ${code}\n`));
  expect(advice(missing, "is not in docs/reference/errors.md; run npm run docs")).toEqual([]);
});

test("no file is longer than 400 lines and no function longer than 70", () => {
  const long = tracked.filter(
    (path) => CODE.test(path) && !path.includes("/artifacts/") && linesOf(path).length > 400,
  );
  expect(advice(long, "has over 400 lines; it has more than one job, split it")).toEqual([]);
  const functions = production.flatMap(longFunctions);
  expect(advice(functions, "is longer than 70 lines; let the parent branch and the leaves compute")).toEqual(
    [],
  );
});

test("every export is used by another file", () => {
  const code = tracked
    .filter((path) => /\.(tsx?|mjs|js)$/.test(path))
    .map((path) => ({ path, words: new Set(read(path).match(/\w+/g)) }));
  const isUsed = (name: string, from: string) =>
    code.some(({ path, words }) => path !== from && words.has(name));
  // The library's exports are for partners; types are exported for the signatures that name them.
  const unused = sources
    .filter((path) => !path.startsWith("sdk/"))
    .flatMap((from) =>
      [...read(from).matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)]
        .filter(([, name]) => !isUsed(name!, from))
        .map(([, name]) => `${name} of ${from}`),
    );
  expect(advice(unused, "is named in no other file; take the export away")).toEqual([]);
});

test("the code contains no marker for postponed work", () => {
  const marker = new RegExp(
    `\\b(${["TO", "DO"].join("")}|${["FIX", "ME"].join("")}|${["X", "XX"].join("")})\\b`,
  );
  const wrong = tracked.filter((path) => CODE.test(path) && marker.test(read(path)));
  expect(advice(wrong, "leaves something for later; do it or open an issue")).toEqual([]);
});

test("the lock file names no registry", () => {
  const urls = /"resolved": "https?:/.test(read("package-lock.json"));
  expect(
    advice(urls ? ["package-lock.json"] : [], "names a registry; .npmrc keeps it out, run npm install again"),
  ).toEqual([]);
});

test("every install script of a package is denied by name", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { hasInstallScript?: true }>;
  };
  const { allowScripts } = JSON.parse(read("package.json")) as { allowScripts: Record<string, boolean> };
  const unnamed = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length))
    .filter((name) => allowScripts[name] !== false);
  expect(advice(unnamed, "has an install script; deny it in allowScripts of package.json")).toEqual([]);
});

function isTest(path: string): boolean {
  return /\.test\.ts$|\.testing\.ts$|\/testing\/|^sdk\/test\/|^e2e\//.test(path);
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

function linesOf(path: string): string[] {
  return read(path).trimEnd().split("\n");
}

function advice(names: string[], sentence: string): string[] {
  return names.map((name) => `${name} ${sentence}`);
}

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

function imports(paths: string[]): Import[] {
  return paths.flatMap((from) =>
    [...read(from).matchAll(/^(?:import|export)\s+([^;'"]*?)\s*from\s+["']([^"']+)["']/gms)].map(
      ([, clause, to]) => ({ from, to: to!, typeOnly: isOfTypes(clause!) }),
    ),
  );
}

/** `type { A }`, or `{ type A, type B }`: the compiler drops such an import. */
function isOfTypes(clause: string): boolean {
  const names = /^\{(.*)\}$/s
    .exec(clause)?.[1]
    ?.split(",")
    .map((name) => name.trim());
  return (
    clause.startsWith("type ") ||
    (names?.filter((name) => name !== "").every((name) => name.startsWith("type ")) ?? false)
  );
}

function describeImport({ from, to }: Import): string {
  return `${from} imports ${to}, which`;
}

/** Finds functions, methods and closures by indentation, which prettier guarantees. */
function longFunctions(path: string): string[] {
  const lines = linesOf(path);
  const blocks = lines.flatMap((line, start) => blockAt(lines, line, start));
  return blocks.flatMap(({ name, start, length }) => {
    // Only a function's own statements count, not those of inner functions.
    const inner = blocks.filter(
      (other) => other.start > start && other.start + other.length < start + length,
    );
    const outermost = inner.filter(
      (one) => !inner.some((other) => other.start < one.start && one.start < other.start + other.length),
    );
    const own = length - outermost.reduce((sum, other) => sum + other.length, 0);
    return own > 70 ? [`${relative(".", path)}: ${name} (${own} lines)`] : [];
  });
}

function blockAt(
  lines: string[],
  line: string,
  start: number,
): { name: string; start: number; length: number }[] {
  const opened =
    /^(\s*)(?:export )?(?:async )?(?:function\*? )?(?:const |get |\*)?(\w+)(?: =|:)?.*(?:\) \{|\): .* \{|=> \{|=> \(\{)$/.exec(
      line,
    ) ?? /^(\s*)(?:export )?(?:async )?function\*? (\w+)/.exec(line);
  if (!opened || /^\s*(if|for|while|switch|catch|else|return|describe|test)\b/.test(line)) return [];
  const indent = opened[1]!;
  const length =
    lines.slice(start).findIndex((text) => text.startsWith(`${indent}}`) && /^\s*\}/.test(text)) + 1;
  return length > 2 ? [{ name: opened[2]!, start, length }] : [];
}

test("every package that has sources is built by the root project", () => {
  const references = read("tsconfig.json");
  const packages = new Set(
    sources
      .filter((path) => path.includes("/src/"))
      .map((path) => dirname(path.slice(0, path.indexOf("/src/") + 1) + "x")),
  );
  const missing = [...packages].filter(
    (folder) =>
      statSync(join(ROOT, folder)).isDirectory() &&
      existsSync(join(ROOT, folder, "tsconfig.json")) &&
      !references.includes(`"${folder}"`) &&
      !references.includes(`"${folder}/tsconfig.`),
  );
  expect(
    advice(
      missing.map((folder) => `${folder} (${basename(folder)})`),
      "is not in the root tsconfig.json's references",
    ),
  ).toEqual([]);
});
