import { z } from "zod";
import { loadConfig } from "../config";

const schema = z.object({ DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }) });

export type DeadLettersConfig = z.output<typeof schema>;

export function readConfig(): DeadLettersConfig {
  return loadConfig(schema, process.env);
}
