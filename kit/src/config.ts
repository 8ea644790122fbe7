import { readFileSync } from "node:fs";
import { z } from "zod";
import { ADDRESS_FORM } from "./contract/address";

/** The exit code for a process that was configured wrongly (EX_CONFIG). */
const CONFIG_EXIT_CODE = 78;

/**
 * Reads a process's configuration. Lists every problem at once and exits with 78, so that an
 * operator needs one restart. `NAME_FILE` may name a file with the value of `NAME`, as secrets are
 * mounted.
 */
export function loadConfig<S extends z.ZodObject>(
  schema: S,
  env: Record<string, string | undefined>,
  rules: readonly Rule[] = [],
  exit: (message: string) => never = exitWithConfigProblem,
): z.output<S> {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = readValue(name, env, problems);
    // Spaces are no value either: as a number they would be 0, which is any port, or no limit.
    if (value !== undefined && value.trim() !== "") values[name] = value;
  }
  const parsed = schema.safeParse(values);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const name = issue.path.join(".");
      problems.push(name in values ? `${name}: ${issue.message}` : `${name} is not set`);
    }
  }
  for (const problemsOf of rules) problems.push(...problemsOf(values));
  if (problems.length > 0 || !parsed.success) {
    exit(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}\n`);
  }
  return parsed.data;
}

/** A rule between valid settings. */
export type Rule = (values: Record<string, string>) => string[];

/**
 * Each sentence starts with the setting to fix. If a setting of the shape is invalid, the rule is
 * skipped, because that is already reported.
 */
export function rule<S extends z.ZodRawShape>(
  shape: S,
  problemsOf: (values: z.output<z.ZodObject<S>>) => string[],
): Rule {
  return (values) => {
    const parsed = z.object(shape).safeParse(values);
    return parsed.success ? problemsOf(parsed.data) : [];
  };
}

/** Parsers for the forms that every service's configuration uses. */
/** Digits only: 0x1F90 and 1e4 are numbers, but no usual ports. 0 means any free port. */
export const port = z
  .string()
  .trim()
  .refine((text) => /^[0-9]{1,5}$/.test(text) && Number(text) <= 65535, "must be a port, from 0 to 65535")
  .transform(Number);
export const durationMs = z.coerce.number().int().min(0).max(86_400_000);
export const count = z.coerce.number().int().min(0).max(1_000_000_000);
export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });
/** Address of another process. The client decides on resolution and TLS. */
export const hostPort = z
  .string()
  .regex(/^[^\s:/]+:[0-9]{1,5}$|^\[[0-9a-fA-F:]+\]:[0-9]{1,5}$/, { error: "must be host:port", abort: true })
  .refine(isReachable, "must have a port from 1 to 65535");
/** A contract's. */
export const address = z.string().regex(ADDRESS_FORM);
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

function isReachable(place: string): boolean {
  const number = Number(place.slice(place.lastIndexOf(":") + 1));
  return number >= 1 && number <= 65535;
}

function readValue(
  name: string,
  env: Record<string, string | undefined>,
  problems: string[],
): string | undefined {
  const file = env[`${name}_FILE`];
  if (file === undefined) return env[name];
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    problems.push(`${name}_FILE names a file that cannot be read`);
    return undefined;
  }
}

function exitWithConfigProblem(message: string): never {
  process.stderr.write(message);
  process.exit(CONFIG_EXIT_CODE);
}
