import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DEPLOYED, ROOT, readText } from "./repository";

const text = readText("deploy/Dockerfile");
const stages = text.split(/^(?=FROM )/m).slice(1);
const last = stages.at(-1)!;
const workspaces = (JSON.parse(readText("package.json")) as { workspaces: string[] }).workspaces;

describe("deploy/Dockerfile", () => {
  it("takes every base image from its one argument, so that a mirror or a digest is one change", () => {
    const bases = stages.map((stage) => /^FROM (\S+)/.exec(stage)![1]);
    const named = stages.flatMap((stage) => /^FROM \S+ AS (\S+)/.exec(stage)?.[1] ?? []);
    expect(bases.filter((base) => base !== "${BASE_IMAGE}" && !named.includes(base!))).toEqual([]);
    expect(text).not.toMatch(/:latest/);
  });

  it("runs node as process 1, as an unprivileged user, in the service's folder", () => {
    expect(last).toMatch(/^USER 65532:65532$/m);
    expect(last).toMatch(
      /^CMD \["node", "--enable-source-maps", "--heap-growing-percent=60", "\/app\/service\/dist\/main\.js"\]$/m,
    );
    expect(last).not.toMatch(/ENTRYPOINT|npm (run|start|ci|install)/);
  });

  it("limits malloc arenas as the local stack does", () => {
    expect(last).toMatch(/^ENV .* MALLOC_ARENA_MAX=1$/m);
    expect(readText("deploy/local/src/services.ts")).toContain('MALLOC_ARENA_MAX: "1"');
  });

  it("puts only production dependencies of the workspace into the last stage, and no npm", () => {
    expect(stages.find((stage) => / AS dependencies/.test(stage))).toMatch(/npm ci .*--omit=dev/);
    expect(last).toMatch(/^COPY --from=dependencies \/app\/node_modules \/app\/node_modules$/m);
    expect(last).toMatch(/rm -rf .*\/usr\/local\/bin\/npm/);
  });

  it("shares all layers before SERVICE between the six images", () => {
    const build = stages.find((stage) => / AS build/.test(stage))!;
    expect(build).not.toMatch(/SERVICE/);
    expect(build).toMatch(/tsc -b/);
  });

  it("images exclude test code, and production code imports none of it", () => {
    expect(text).toMatch(/find .*testing -type f -delete/);
    const folders = ["kit", ...DEPLOYED.map(({ folder }) => folder)];
    const imports = folders
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder, "src"), { recursive: true, encoding: "utf8" })
          .filter((path) => path.endsWith(".ts") && !/(^|\/)testing\/|\.(test|testing)\.ts$/.test(path))
          .map((path) => readText(`${folder}/src/${path}`)),
      )
      .flatMap((source) =>
        [...source.matchAll(/^(?:import|export) .* from "[^"]*\/testing\/(\w+)"/gm)].map(
          (match) => match[1]!,
        ),
      );
    expect(imports).toEqual([]);
  });

  it("copies the manifest of every workspace that a process needs", () => {
    const folders = ["kit", "proto", "contracts", ...DEPLOYED.map(({ folder }) => folder)];
    for (const folder of folders) {
      expect(text).toContain(`COPY ${folder}/package.json ${folder}/`);
      expect(workspaces.some((each) => each === folder || each === `${folder.split("/")[0]}/*`)).toBe(true);
    }
  });

  it("bakes no secret into an argument, label or variable", () => {
    expect(text).not.toMatch(/^(ARG|ENV) .*(PASSWORD|SECRET|TOKEN|_KEY|DATABASE_URL)/m);
  });
});

describe(".dockerignore", () => {
  const lines = readText(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

  it("admits only the files that the Dockerfile copies", () => {
    expect(lines[0]).toBe("*");
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => match[1]!.split(" "));
    const letIn = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    const missing = copied.filter(
      (path) => !letIn.some((each) => path === each || path.startsWith(`${each}/`)),
    );
    // contracts is admitted piece by piece, because images need neither its sources nor its caches.
    expect(missing.filter((path) => path !== "contracts")).toEqual([]);
  });

  it.each(["**/node_modules", "**/dist", "**/.env*", "**/*.pem", "**/*.key"])(
    "keeps %s out again",
    (pattern) => {
      expect(lines.indexOf(pattern)).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith("!")));
    },
  );
});
