import { readFileSync } from "node:fs";
import { type Server } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation, protoPath } from "grpc-health-check";
import { nameOf } from "../definition";
import { type GrpcService } from "./implement";

/** grpc.health.v1 for the server as a whole ("") and for each service. */
export function addHealth(
  server: Server,
  services: readonly GrpcService[],
): { setServing: (serving: boolean) => void } {
  const names = ["", ...serviceNames(services)];
  const health = new HealthImplementation(
    Object.fromEntries(names.map((name) => [name, "SERVING" as const])),
  );
  health.addToServer(server);
  return {
    setServing(serving) {
      for (const name of names) health.setStatus(name, serving ? "SERVING" : "NOT_SERVING");
    },
  };
}

/** Tells tools (grpcurl, Postman) which services are here and what their messages look like. */
export function addReflection(server: Server, services: readonly GrpcService[]): void {
  const descriptors = readFileSync(require.resolve("@wonrail/proto/descriptors"));
  // Health has no place in our own descriptors, and is what such tools are asked for most.
  const described = { ...loadFileDescriptorSetFromBuffer(descriptors), ...loadSync(protoPath) };
  const options = { services: [...serviceNames(services), "grpc.health.v1.Health"] };
  new ReflectionService(described, options).addToServer(server);
}

function serviceNames(services: readonly GrpcService[]): string[] {
  const methods = services.flatMap(({ definition }) => Object.values(definition));
  return [...new Set(methods.map((method) => nameOf(method).service))];
}
