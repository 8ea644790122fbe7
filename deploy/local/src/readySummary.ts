import { seconds } from "./checklist";
import type { Home } from "./home";
import type { Stack } from "./stackFile";

export interface StartTimes {
  installMs: number;
  buildMs: number;
  startMs: number;
}

export interface ReadyStack {
  stack: Stack;
  home: Home;
  /** Signs in to the console, once. */
  consoleLink: string;
}

/** Next steps for a newcomer. The curl works as printed. */
export function readySummary(
  { stack, home, consoleLink }: ReadyStack,
  { installMs, buildMs, startMs }: StartTimes,
): string {
  const organisation = stack.organisations[0];
  const total = installMs + buildMs + startMs;
  return `
Ready in ${seconds(total)} (install ${seconds(installMs)}, build ${seconds(buildMs)}, start ${seconds(startMs)}).

  Gateway       ${stack.gatewayUrl}
  API pages     ${stack.docsUrl}
  Documentation ${stack.gatewayUrl}/docs/
  Console       ${consoleLink}   (signs you in once, within an hour)
  Organisation  ${organisation?.name} (${organisation?.orgCode})
  API key       ${organisation?.apiKey}

  curl ${stack.gatewayUrl}/api/wallet-auth/session -H "X-API-Key: ${organisation?.apiKey}"

  The story     make demo
  Commands      npx wonrail --help
  Logs          make logs, or make logs SERVICE=auth   (${home.logsDir})
  Everything    ${home.stackFile}   (addresses, keys, passwords)
  Data          ${home.dir}   (survives a restart; make reset forgets it)

Stop with Ctrl-C.
`;
}
