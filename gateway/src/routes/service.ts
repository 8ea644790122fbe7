import { z } from "zod";
import { type Handler, operation } from "./operation";

export const checkHealth = operation({
  id: "checkHealth",
  tag: "Service",
  summary: "Is the gateway's process alive?",
  description: "Looks at nothing behind it.",
  access: "anyone",
  isUnlimited: true,
  status: 200,
  data: z.strictObject({ status: z.literal("ok") }).meta({ id: "Health" }),
  errors: [],
});

export const answerHealth: Handler<typeof checkHealth> = async () => ({ data: { status: "ok" } });
