import { type Mutant } from "./mutants";

interface Rule extends Partial<Pick<Mutant, "file" | "mutator" | "original" | "replacement">> {
  reason: string;
}

/** Why no test kills these mutants. The first rule whose fields all fit gives the reason. */
const RULES: Rule[] = [];

export function reasonFor(mutant: Mutant): string | undefined {
  const names = ["file", "mutator", "original", "replacement"] as const;
  return RULES.find((rule) => names.every((name) => rule[name] === undefined || rule[name] === mutant[name]))
    ?.reason;
}
