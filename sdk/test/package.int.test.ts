// The packed library, installed into an empty project, compiled against and run.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import ts from "typescript";
import { documentServer } from "./support/documentServer.ts";
import { publicMembers } from "./support/publicMembers.ts";
import { scratchProject, type ScratchProject } from "./support/scratchProject.ts";

const PACKAGE = join(__dirname, "..");
const BIN = join(PACKAGE, "../node_modules/.bin");
/** Without comments, which bundlers drop. */
const SIZE_LIMIT_BYTES = 22_000;

jest.setTimeout(180_000);
let project: ScratchProject;
beforeAll(async () => {
  project = await scratchProject();
});
afterAll(() => project?.remove());

async function printed(flags: string[], script: string): Promise<unknown> {
  const { output } = await project.node([...flags, "-e", script]);
  return JSON.parse(output) as unknown;
}

test("import and require get the same names, each in its own format", async () => {
  const print = "console.log(JSON.stringify(Object.keys(sdk).sort()))";
  const imported = await printed(["--input-type=module"], `import * as sdk from "@wonrail/sdk"; ${print}`);
  const required = await printed(["--input-type=commonjs"], `const sdk = require("@wonrail/sdk"); ${print}`);
  expect(imported).toEqual(required);
  expect(imported).toContain("ServiceClient");
});

const IN_BOTH = `
import { createRequire } from "node:module";
import { BadAnswerError, ConfigurationError, ServiceError } from "@wonrail/sdk";
const required = createRequire(import.meta.url)("@wonrail/sdk");
try {
  new required.ServiceClient({ baseUrl: "none" });
} catch (error) {
  const asked = [required.ServiceError, ServiceError, ConfigurationError, BadAnswerError];
  console.log(JSON.stringify(asked.map((type) => error instanceof type)));
}
`;

test("the imported library recognises errors of the required one", async () => {
  expect(await printed(["--input-type=module"], IN_BOTH)).toEqual([true, true, true, false]);
});

test("the package has no dependencies and at most 22 kB of code, gzipped", () => {
  const manifest = JSON.parse(readFileSync(join(project.library, "package.json"), "utf8")) as Record<
    string,
    unknown
  >;
  expect(manifest["dependencies"]).toBeUndefined();
  const folder = join(project.library, "dist/esm");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".js"),
  );
  const code = files.map((name) => readFileSync(join(folder, name), "utf8")).join("");
  expect(gzipSync(withoutComments(code)).length).toBeLessThan(SIZE_LIMIT_BYTES);
  expect(code).not.toMatch(/from "(?!\.)/);
});

function withoutComments(code: string): string {
  const compilerOptions = {
    removeComments: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
  };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

const INSTANT_WITHOUT_HASH = `import type { TransactionCreateRequest } from "@wonrail/sdk";
export const request: TransactionCreateRequest = { paymentType: "INSTANT", fromAddress: "", toAddress: "", amount: "1" };
`;
const SOURCES = ["accepts", "refuses", "instantWithoutHash"].map((name) => `src/${name}.ts`);
const DOM = ["--lib", "es2022,dom"];
const NODE = ["--lib", "es2022", "--types", "node", "--typeRoots", join(PACKAGE, "../node_modules/@types")];
test.each([
  ["an ES module of Node", "module", ["--module", "node16", "--moduleResolution", "node16", ...NODE]],
  ["a CommonJS module of Node", "commonjs", ["--module", "node16", "--moduleResolution", "node16", ...NODE]],
  ["a bundler", "module", ["--module", "esnext", "--moduleResolution", "bundler", ...DOM]],
])("the types accept and refuse the expected code, for %s", async (_name, type, options) => {
  project.write("src/package.json", JSON.stringify({ type }));
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--target", "es2022"];
  project.write("src/instantWithoutHash.ts", INSTANT_WITHOUT_HASH);
  const { output } = await project.tsc([...strict, ...options, ...SOURCES]);
  // The only file with an error that it does not expect itself.
  expect(output).toMatch(/^src\/instantWithoutHash\.ts.*Property 'txHash' is missing/s);
  expect(output.match(/error TS/g)).toHaveLength(1);
});

test.each(["esm", "cjs"])("the packed declarations of %s document every name on hover", (format) => {
  const members = publicMembers(join(project.library, "dist", format, "index.d.ts"));
  expect(members.length).toBeGreaterThan(250);
  expect(members.filter(({ comment }) => comment === "").map(({ name }) => name)).toEqual([]);
});

test("publint and are-the-types-wrong report no problem", async () => {
  const types = await project.run(join(BIN, "attw"), [project.tarball, "--profile", "node16", "--no-emoji"]);
  expect(types).toEqual({ ok: true, output: expect.stringContaining("No problems found") as string });
  const lint = await project.run(join(BIN, "publint"), [project.library, "--strict"]);
  expect(lint).toEqual({ ok: true, output: expect.stringContaining("All good!") as string });
});

test("the reference pages are written, and every link in them resolves", async () => {
  const pages = join(dirname(project.library), "pages");
  const typedoc = join(PACKAGE, "node_modules/.bin/typedoc");
  const { output } = await project.run(typedoc, ["--options", PACKAGE, "--out", pages]);
  expect(output).toMatch(/html generated at/);
  expect(output).not.toMatch(/warning|error/);
  for (const name of ["classes/ServiceClient", "classes/TransactionsApi", "functions/toUnits"])
    expect(existsSync(join(pages, `${name}.html`))).toBe(true);
});

// An edge runtime has web interfaces only, so Node's additional ones are removed before the library
// is loaded. Node's own Response needs them; a plain object replaces it.
const EDGE_SCRIPT = `
const answer = { success: true, data: { id: "txn_1", status: "CONFIRMED" }, error: null, requestId: "req_1" };
const response = { ok: true, status: 200, headers: new Headers(), text: async () => JSON.stringify(answer) };
globalThis.fetch = async () => response;
for (const name of ["process", "Buffer", "global", "setImmediate", "clearImmediate"]) delete globalThis[name];
const { ServiceClient } = await import("@wonrail/sdk");
const client = new ServiceClient({ baseUrl: "https://api.example.com", apiKey: "wk_test_1" });
const { idempotencyKey } = await client.charges.create({ walletId: "wal_1", amount: 50_000 }).withResponse();
const { status } = await client.transactions.waitForStatus("txn_1", ({ status }) => status === "CONFIRMED");
console.log(JSON.stringify({ status, isKeyed: idempotencyKey.length === 36, hasProcess: "process" in globalThis }));
`;

test("the library works with web interfaces only", async () => {
  expect(await printed(["--input-type=module"], EDGE_SCRIPT)).toEqual({
    status: "CONFIRMED",
    isKeyed: true,
    hasProcess: false,
  });
});

const snippets = [...readFileSync(join(PACKAGE, "README.md"), "utf8").matchAll(/```ts\n(.*?)```/gs)].map(
  ([, code]) => code!,
);

test("every snippet of the README compiles and runs", async () => {
  expect(snippets.length).toBeGreaterThanOrEqual(8);
  const files = snippets.map((code, index) => project.write(`readme/snippet${index}.mts`, code));
  const compiled = await project.tsc([
    "--strict",
    "--module",
    "node16",
    "--target",
    "es2022",
    ...NODE,
    ...files,
  ]);
  expect(compiled.output).toBe("");
  const service = await documentServer();
  try {
    const env = { WONRAIL_BASE_URL: service.url, WONRAIL_API_KEY: "wk_test_1" };
    for (const file of files) {
      const ran = await project.node([file.replace(/\.mts$/, ".mjs")], env);
      expect({ file, ...ran }).toMatchObject({ ok: true });
    }
  } finally {
    await service.close();
  }
});

test("the package has the command-line example with its template, and no developer settings", () => {
  const packed = readdirSync(join(project.library, "examples/cli"));
  expect(packed).toEqual(expect.arrayContaining(["index.js", "README.md", ".env.example", "package.json"]));
  expect(packed).not.toContain(".env");
});

test("every relative link in a packed page leads to a packed file", () => {
  for (const page of readdirSync(project.library).filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(join(project.library, page), "utf8").replace(/```.*?```/gs, "");
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!.split("#")[0]!);
    const relative = links.filter((link) => link !== "" && !/^[a-z]+:/.test(link));
    const lost = relative.filter((link) => link.startsWith("..") || !existsSync(join(project.library, link)));
    expect({ page, lost }).toEqual({ page, lost: [] });
  }
});

test("every import fails with an old compiler", () => {
  // Before 5.0, declarations that import each other with extensions silently become any.
  const manifest = JSON.parse(readFileSync(join(project.library, "package.json"), "utf8")) as {
    typesVersions: unknown;
    exports: Record<string, Record<string, Record<string, string>>>;
  };
  const notice = "./needs-typescript-5.0.d.ts";
  expect(manifest.typesVersions).toEqual({ "<5.0": { "*": [notice] } });
  for (const format of ["import", "require"]) {
    const [first] = Object.entries(manifest.exports["."]![format]!);
    expect(first).toEqual(["types@<5.0", notice]);
  }
  expect(readFileSync(join(project.library, notice), "utf8")).not.toContain("ServiceClient");
});

test("the quick start is short", () => {
  const lines = snippets[0]!.split("\n").filter((line) => line !== "" && !line.startsWith("import"));
  const statements = lines.filter((line) => !line.startsWith("  "));
  expect(statements.length).toBeLessThanOrEqual(10);
});
