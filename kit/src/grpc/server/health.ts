import { readFileSync } from "node:fs";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type Server } from "@grpc/grpc-js";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";
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

/** Lets tools (grpcurl, Postman) list the services and their messages. */
export function addReflection(server: Server, services: readonly GrpcService[]): void {
  const { file } = fromBinary(
    FileDescriptorSetSchema,
    readFileSync(require.resolve("@wonrail/proto/descriptors")),
  );
  // The files as buf wrote them: proto-loader would merge a package's files and leave unresolvable
  // names.
  const fileDescriptorProtos = file.map((each) => Buffer.from(toBinary(FileDescriptorProtoSchema, each)));
  // proto-loader has no type for this definition; reflection reads only its files.
  const own = { format: "Protocol Buffer 3 EnumDescriptorProto" as const, type: {}, fileDescriptorProtos };
  // Our descriptors lack the health service, which such tools call most.
  const described: PackageDefinition = { own, ...loadSync(protoPath) };
  const options = { services: [...serviceNames(services), "grpc.health.v1.Health"] };
  new ReflectionService(described, options).addToServer(server);
}

function serviceNames(services: readonly GrpcService[]): string[] {
  const methods = services.flatMap(({ definition }) => Object.values(definition));
  return [...new Set(methods.map((method) => nameOf(method).service))];
}
