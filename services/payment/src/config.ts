import { loadConfig } from "@wonrail/kit/config";
import { serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const schema = z.object(serviceShape);

export type Config = z.output<typeof schema>;

export function readConfig(): Config {
  return loadConfig(schema, process.env);
}
