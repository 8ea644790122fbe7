import {
  type DescMessage,
  type DescService,
  type JsonValue,
  type Registry,
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { Client, Metadata, type ServiceError, credentials, status } from "@grpc/grpc-js";
import { ErrorDetail } from "@wonrail/proto/common/v1/common";

/** Like grpcurl: knows only an address, and learns the rest from the server. */
export interface Explorer {
  list(): Promise<string[]>;
  describe(service: string): Promise<DescService>;
  /** Calls a unary method with a message in JSON. */
  call(service: string, method: string, message?: JsonValue): Promise<Answer>;
  close(): void;
}

export type Answer =
  | { ok: true; message: JsonValue }
  | { ok: false; status: string; code: string | undefined };

const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const CALL_MS = 5_000;
/** Numbers of the fields of grpc.reflection.v1's request and response. */
const REQUEST_FIELDS = { symbol: 4, list: 7 };
const ANSWER_FIELDS = { files: 4, services: 6, error: 7 };
const asIs = (bytes: Buffer) => bytes;

export function explore(address: string): Explorer {
  const client = new Client(address, credentials.createInsecure());

  function ask(question: number, text: string): Promise<Map<number, Buffer[]>> {
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + CALL_MS;
      const stream = client.makeBidiStreamRequest(REFLECTION, asIs, asIs, new Metadata(), { deadline });
      stream.on("data", (answer: Buffer) => {
        stream.end();
        const fields = fieldsOf(answer);
        const [error] = fields.get(ANSWER_FIELDS.error) ?? [];
        if (error) reject(new Error(`${text}: ${error.toString()}`));
        else resolve(fields);
      });
      stream.on("error", reject);
      stream.write(
        Buffer.from(
          new BinaryWriter()
            .uint32((question << 3) | 2)
            .string(text)
            .finish(),
        ),
      );
    });
  }

  async function describe(service: string): Promise<DescService> {
    const [reply] = (await ask(REQUEST_FIELDS.symbol, service)).get(ANSWER_FIELDS.files)!;
    const file = fieldsOf(reply!)
      .get(1)!
      .map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    const registry: Registry = createFileRegistry(
      create(FileDescriptorSetSchema, { file: inOrder(file).map(withFullNames) }),
    );
    return registry.getService(service)!;
  }

  return {
    describe,
    close: () => client.close(),
    async list() {
      const [reply] = (await ask(REQUEST_FIELDS.list, "*")).get(ANSWER_FIELDS.services)!;
      return fieldsOf(reply!)
        .get(1)!
        .map((service) => fieldsOf(service).get(1)![0]!.toString());
    },
    async call(service, method, message = {}) {
      const { input, output } = (await describe(service)).methods.find(({ name }) => name === method)!;
      return callUnary(client, `/${service}/${method}`, { input, output, message });
    },
  };
}

interface Unary {
  input: DescMessage;
  output: DescMessage;
  message: JsonValue;
}

function callUnary(client: Client, path: string, { input, output, message }: Unary): Promise<Answer> {
  const request = Buffer.from(toBinary(input, fromJson(input, message)));
  const deadline = Date.now() + CALL_MS;
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, asIs, asIs, request, new Metadata(), { deadline }, (error, response) =>
      resolve(error ? refusal(error) : { ok: true, message: toJson(output, fromBinary(output, response!)) }),
    );
  });
}

function refusal({ code, metadata }: ServiceError): Answer {
  const [detail] = metadata.get("wonrail-error-bin");
  return {
    ok: false,
    status: status[code],
    code: detail === undefined ? undefined : ErrorDetail.decode(detail as Buffer).code,
  };
}

/** A message's fields of the kind that has a length, by number. */
function fieldsOf(message: Uint8Array): Map<number, Buffer[]> {
  const reader = new BinaryReader(message);
  const fields = new Map<number, Buffer[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.LengthDelimited) reader.skip(type);
    else fields.set(number, [...(fields.get(number) ?? []), Buffer.from(reader.bytes())]);
  }
  return fields;
}

/** Resolves a name without leading dot from the inside out, within its file. */
function withFullNames(file: FileDescriptorProto): FileDescriptorProto {
  const known = new Set<string>();
  const visit = (
    message: DescriptorProto,
    scope: string,
    see: (at: DescriptorProto, name: string) => void,
  ) => {
    const name = `${scope}.${message.name}`;
    see(message, name);
    for (const nested of message.nestedType) visit(nested, name, see);
  };
  const all = (see: (at: DescriptorProto, name: string) => void) =>
    file.messageType.forEach((message) => visit(message, `.${file.package}`, see));
  all((message, name) => {
    known.add(name);
    for (const { name: inner } of message.enumType) known.add(`${name}.${inner}`);
  });
  all((message, name) => {
    for (const field of message.field) {
      field.jsonName ||= field.name; // tools fill it in when a server omits it
      if (field.typeName === "" || field.typeName.startsWith(".")) continue;
      for (let scope = name; scope !== ""; scope = scope.slice(0, scope.lastIndexOf(".")))
        if (known.has(`${scope}.${field.typeName}`)) field.typeName = `${scope}.${field.typeName}`;
    }
  });
  return file;
}

/** A file after its imports, as in a descriptor set. */
function inOrder<File extends { name: string; dependency: string[] }>(files: File[]): File[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<File>();
  const add = (name: string): void => {
    const file = byName.get(name);
    if (!file || ordered.has(file)) return;
    file.dependency.forEach(add);
    ordered.add(file);
  };
  files.forEach(({ name }) => add(name));
  return [...ordered];
}
