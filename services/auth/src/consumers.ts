import { type ConsumerSpec } from "@wonrail/kit/inbox";

/** The way in by events. Nothing that happens elsewhere changes an organisation or a key. */
export const consumers: ConsumerSpec[] = [];
