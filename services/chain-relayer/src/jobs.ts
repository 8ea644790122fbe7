import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** The way in by the clock. */
export function jobs(_app: App): Job[] {
  return [];
}
