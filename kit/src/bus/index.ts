import { openKafkaBus } from "./kafka";
import { openPostgresBus } from "./postgres";
import type { Bus, BusOptions } from "./port";

export { MAX_MESSAGE_BYTES, MessageRefusedError, TopicMissingError } from "./port";
export type * from "./port";
export { installPostgresBus } from "./postgres";

/** Connects when it is first used, so a server that is away prevents no start. */
export async function openBus(options: BusOptions): Promise<Bus> {
  return options.kind === "kafka" ? openKafkaBus(options) : openPostgresBus(options);
}
