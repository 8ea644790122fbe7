import { z } from "zod";
import { type Handler, operation } from "./operation";

export const checkHealth = operation({
  id: "checkHealth",
  tag: "Service",
  summary: "Check that the gateway is alive",
  description:
    "Tells only that this process answers. It checks no other service, needs no key and is not limited.",
  access: "anyone",
  isUnlimited: true,
  status: 200,
  data: z
    .strictObject({ status: z.literal("ok").meta({ description: "Always ok." }) })
    .meta({ id: "Health" }),
  errors: [],
});

export const answerHealth: Handler<typeof checkHealth> = async () => ({ data: { status: "ok" } });
