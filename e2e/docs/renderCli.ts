import { join } from "node:path";
import { readFileSync } from "node:fs";
import { LOCAL_COMMANDS } from "@wonrail/local/cli/localCommands";
import { findLeaves, OWNERS, type Leaf } from "@wonrail/local/cli/main";
import { ROOT } from "../ops/repository";

const BEGIN = "<!-- Commands: generated from their definitions by npm run docs; do not edit. -->\n";
const END = "<!-- End of the generated commands. -->\n";

/** Renders the commands into docs/reference/cli.md. The text around them is written by hand. */
export function renderCli(): string {
  const page = readFileSync(join(ROOT, "docs/reference/cli.md"), "utf8");
  const [before] = page.split(BEGIN);
  const [, after] = page.split(END);
  const services = OWNERS.map(({ service, subject, listCommands }) => {
    const rows = listCommands().flatMap((command) => findLeaves(command).map(renderRow));
    const place =
      service === "all"
        ? "From a machine that reaches all services, with a certificate for `cli`."
        : `In a cluster: \`node bin/admin.mjs\` in ${service}'s pod.`;
    return `## ${subject}\n\n${place}\n\n| Command | Effect | Options |\n|---|---|---|\n${rows.join("\n")}\n`;
  });
  return `${before}${BEGIN}\n${services.join("\n")}\n${renderLocal()}\n${END}${after}`;
}

function renderRow({ name, summary, command }: Leaf): string {
  const values = command.registeredArguments.map((each) =>
    each.required ? `<${each.name()}>` : `[${each.name()}]`,
  );
  const needed = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  const optional = command.options.filter(({ mandatory }) => !mandatory).map(({ long }) => `\`${long}\``);
  return `| \`${[name, ...values, ...needed].join(" ")}\` | ${summary} | ${optional.join(", ")} |`;
}

function renderLocal(): string {
  const rows = LOCAL_COMMANDS.flatMap(({ name, forms, summary }) =>
    forms.map(
      (form) =>
        `| \`${`${name} ${form}`.trim().replaceAll("|", "\\|")}\` | ${summary} | \`npm run ${name}\` |`,
    ),
  );
  return `## Local stack

Each command is also an npm script, and a \`make\` target of the same name. Before the packages are
installed, only \`make\` and \`npm run\` work.

| Command | Effect | Script |
|---|---|---|
${rows.join("\n")}
`;
}
