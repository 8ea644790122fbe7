import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findJava, findMaven } from "@wonrail/local/parts/java";
import { findTool } from "../ops/tools";
import { buildOnce, DOCUMENT, mustRun, PLAY } from "./buildClient";
import { findPython } from "./python";
import { run } from "./run";

/** A program that prints the result of its calls as JSON. */
export interface Client {
  name: string;
  /** Builds the program if necessary and plays. */
  play(env: Record<string, string>): string;
}

/** A client that this machine cannot build, and the reason. */
export interface Missing {
  name: string;
  why: string;
}

const POM = join(__dirname, "pom.xml");
const PYTHON_SDK = join(__dirname, "../../sdk/python/src");
/** `Self`, which generated Python clients import. */
const GENERATED_PYTHON_MINOR = 11;

/** Java objects have a final method `wait`. */
const JAVA_PARAMETER_NAMES = "wait=waitSeconds";

/** Every client of another language, with what this machine lacks for it. */
export function findClients(): (Client | Missing)[] {
  return [pythonSdk(), pythonClient(), ...generatorClients()];
}

/** A program of the folder `play` that uses sdk/python. */
export function pythonSdk(file = "play_sdk.py"): Client | Missing {
  const name = "sdk/python";
  const python = findPython();
  if (!python.ok) return { name, why: python.why };
  const program = join(PLAY, file);
  const own = { PYTHONPATH: PYTHON_SDK, PYTHONDONTWRITEBYTECODE: "1" };
  return { name, play: (env) => mustRun(python.command, [program], { env: { ...env, ...own } }) };
}

function pythonClient(): Client | Missing {
  const name = "openapi-python-client";
  const python = findPython();
  if (!python.ok) return { name, why: python.why };
  if (python.minor < GENERATED_PYTHON_MINOR)
    return { name, why: `it writes code for Python 3.${GENERATED_PYTHON_MINOR} and newer` };
  const program = join(PLAY, "play_generated.py");
  const build = () =>
    buildOnce("python-client", [program], (folder) => {
      const generate = ["generate", "--path", DOCUMENT, "--meta", "none", "--output-path"];
      const to = join(folder, "generated");
      const output = mustRun(python.command, ["-m", "openapi_python_client", ...generate, to]);
      // It leaves out an operation that it does not understand, and only warns.
      if (/Unable to|WARNING parsing|ERROR/.test(output)) throw new Error(output);
      mustRun(python.command, ["-m", "compileall", "-q", to]);
    });
  return {
    name,
    play: (env) => mustRun(python.command, [program], { env: { ...env, PYTHONPATH: build() } }),
  };
}

/** Clients that openapi-generator writes. It runs on Java. */
function generatorClients(): (Client | Missing)[] {
  const names = ["openapi-generator for Java", "openapi-generator for Go"] as const;
  const java = findJava(process.env.JAVA_HOME);
  if (!java.ok) return names.map((name) => ({ name, why: java.why }));
  const jars = findJars();
  if (typeof jars !== "string") return names.map((name) => ({ name, why: jars.why }));
  return [javaClient(names[0], java.command, jars), goClient(names[1], java.command, jars)];
}

/** The folder of the generator's jar and of the jars that a Java client needs. */
function findJars(): string | { why: string } {
  try {
    return buildOnce("generator", [POM], (folder) => {
      const maven = findMaven();
      if (!maven.ok) throw new Error(maven.why);
      const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${folder}`, "-DincludeScope=runtime"];
      mustRun(maven.command, ["-q", "-B", "-f", POM, ...goal]);
    });
  } catch (error) {
    return {
      why: `openapi-generator cannot be fetched: ${(error as Error).message.trim().split("\n").at(-1)}`,
    };
  }
}

function generate(java: string, jars: string, args: string[]): void {
  const jar = readdirSync(jars).find((name) => name.startsWith("openapi-generator-cli-"))!;
  mustRun(java, ["-jar", join(jars, jar), "generate", "-i", DOCUMENT, ...args]);
}

function javaClient(name: string, java: string, jars: string): Client | Missing {
  const javac = findTool("javac");
  if (javac === undefined) return { name, why: "javac is absent" };
  const program = join(PLAY, "Play.java");
  const build = () =>
    buildOnce("java-client", [POM, program], (folder) => {
      const packages = "invokerPackage=wonrail,apiPackage=wonrail.api,modelPackage=wonrail.model";
      const options = `${packages},openApiNullable=false,useSingleRequestParameter=true`;
      const names = ["--parameter-name-mappings", JAVA_PARAMETER_NAMES];
      generate(java, jars, ["-g", "java", "--library", "native", ...names, "-o", folder, "-p", options]);
      const sources = readdirSync(join(folder, "src/main/java"), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".java"))
        .map((path) => join(folder, "src/main/java", path));
      const list = join(folder, "sources.txt");
      writeFileSync(list, [...sources, program].map((path) => `"${path}"\n`).join(""));
      mustRun(javac, ["-nowarn", "-cp", join(jars, "*"), "-d", join(folder, "classes"), `@${list}`]);
    });
  return {
    name,
    play: (env) => mustRun(java, ["-cp", `${join(build(), "classes")}:${join(jars, "*")}`, "Play"], { env }),
  };
}

function goClient(name: string, java: string, jars: string): Client | Missing {
  const go = findTool("go");
  if (go === undefined) return { name, why: "Go is absent" };
  const program = join(PLAY, "main.go");
  const build = (folder: string) => {
    const options = "packageName=wonrail,enumClassPrefix=false";
    generate(java, jars, ["-g", "go", "-o", folder, "-p", options]);
    mustRun(go, ["mod", "edit", "-module=example.com/wonrail"], { cwd: folder });
    mkdirSync(join(folder, "play"));
    cpSync(program, join(folder, "play/main.go"));
    mustRun(go, ["build", "-trimpath", "-o", "play/play", "./play"], { cwd: folder });
  };
  const reached = run(go, ["mod", "download", "gopkg.in/validator.v2@v2.0.1"]);
  if (!reached.ok) return { name, why: `its package cannot be fetched: ${reached.output.trim()}` };
  return {
    name,
    play: (env) => mustRun(join(buildOnce("go-client", [POM, program], build), "play/play"), [], { env }),
  };
}
