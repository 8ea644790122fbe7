import { SERVICES } from "./services";
import { type Stack } from "./stackFile";

/** The environment in which operators' commands work on this stack. */
export function cliEnvironment({ services, cli }: Pick<Stack, "services" | "cli">): Record<string, string> {
  const addresses = SERVICES.map(({ name, addressVariable }) => [addressVariable, services[name]!.grpc!]);
  return {
    ...(Object.fromEntries(addresses) as Record<string, string>),
    ...(cli && { TLS_CERT_FILE: cli.cert, TLS_KEY_FILE: cli.key, TLS_CA_FILE: cli.ca }),
  };
}
