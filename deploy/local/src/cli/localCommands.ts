/** A command for the local stack. */
export interface LocalCommand {
  name: string;
  /** The program, from the root of the repository. */
  script: string;
  summary: string;
  /** The forms of the command line, after the name. */
  forms: string[];
  details?: string;
}

export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  {
    name: "up",
    script: "deploy/local/bin/up.mjs",
    summary: "start the whole system on this machine and keep it running until Ctrl-C",
    forms: ["[--bus kafka|feed] [--mtls] [--attached]"],
    details: `  --bus       how events travel: through Kafka, or through the feeds alone (or WONRAIL_BUS)
  --mtls      let the services talk by mutual TLS only, with new certificates (or WONRAIL_MTLS=true)
  --attached  stop when standard input closes: for scripts and tests that start their own stack

Stacks with different homes run side by side.
KAFKA_BROKERS and WONRAIL_POSTGRES_URL name servers that run already.
`,
  },
  {
    name: "down",
    script: "deploy/local/bin/down.mjs",
    summary: "stop the running stack from another terminal",
    forms: [""],
  },
  {
    name: "stack",
    script: "deploy/local/bin/stack.mjs",
    summary: "show the processes of the running stack; stop, start or restart one of them",
    forms: ["status [--json]", "start|stop|restart NAME"],
    details: "Example: npx wonrail stack restart ledger\n",
  },
  {
    name: "logs",
    script: "deploy/local/bin/logs.mjs",
    summary: "follow the logs of all processes, or of one",
    forms: ["[NAME] [--no-follow]"],
    details: "  --no-follow  show the last lines and end\n",
  },
  {
    name: "doctor",
    script: "deploy/local/bin/doctor.mjs",
    summary: "name what this machine lacks and how to get it, and the memory of the stack",
    forms: [""],
  },
  {
    name: "reset",
    script: "deploy/local/bin/reset.mjs",
    summary: "delete the stack's data, keys and logs; asks first",
    forms: ["[--yes]"],
    details: "  --yes  do not ask\n",
  },
  {
    name: "demo",
    script: "e2e/bin/demo.mjs",
    summary: "show charges, payments, transfers and settlement on the running stack",
    forms: [""],
  },
];

export function helpOf(name: string): string {
  const { forms, summary, details } = LOCAL_COMMANDS.find((command) => command.name === name)!;
  const usage = forms.map((form) => `npx wonrail ${name} ${form}`.trimEnd()).join("\n       ");
  const place = "WONRAIL_HOME names the folder for data, logs and stack.json. Default: .wonrail here.\n";
  return [`Usage: ${usage}\n`, `${summary}\n`, ...(details ? [details] : []), place].join("\n");
}
