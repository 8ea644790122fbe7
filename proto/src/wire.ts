import { BinaryReader as Reader, BinaryWriter as Writer } from "@bufbuild/protobuf/wire";

/**
 * Replaces the library's reader and writer in generated code (bin/generate.mjs puts it there).
 * Faster for messages of many short texts, and the bytes are the same (wire.test.ts).
 */

/**
 * Private fields of the library's writer. Its version is pinned, and a test would notice another
 * shape.
 */
interface Inside {
  buffer: Uint8Array;
  pos: number;
  stackPos: number[];
  ensureCapacity(size: number): void;
}

const FIRST_BYTES = 8 * 1024;
/** A buffer that grew beyond this is dropped together with its message. */
const MOST_KEPT_BYTES = 256 * 1024;
/**
 * Up to this length a text's length takes one byte, and copying its letters one by one is faster.
 */
const SHORT = 127;
const NOTHING = new Uint8Array(0);

/**
 * A writer takes it and returns it with the finished message. Two concurrent writers have two
 * buffers; a failed writer keeps its own.
 */
let spare: Uint8Array | undefined;

/** Writes into the previous writer's buffer, instead of one that grows from empty each time. */
export class BinaryWriter extends Writer {
  constructor() {
    super();
    inside(this).buffer = spare ?? new Uint8Array(FIRST_BYTES);
    spare = undefined;
  }

  override string(value: string): this {
    if (typeof value !== "string" || value.length > SHORT) return super.string(value);
    const { length } = value;
    const self = inside(this);
    self.ensureCapacity(1 + length);
    const { buffer, pos } = self;
    buffer[pos] = length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return super.string(value);
      buffer[pos + 1 + index] = code;
    }
    self.pos = pos + 1 + length;
    return this;
  }

  /** The message as its own copy; the writer is empty afterwards. */
  override finish(): Buffer<ArrayBuffer> {
    const self = inside(this);
    const { buffer } = self;
    const bytes = Buffer.copyBytesFrom(buffer, 0, self.pos);
    self.buffer = NOTHING;
    self.pos = 0;
    self.stackPos = [];
    if (buffer.length <= MOST_KEPT_BYTES) spare = buffer;
    return bytes;
  }
}

function inside(writer: Writer): Inside {
  return writer as unknown as Inside;
}

/** Reads texts as Node reads them from a buffer, without a view and a decoder for each. */
export class BinaryReader extends Reader {
  private readonly bytesOfIt: Buffer;

  constructor(bytes: Uint8Array) {
    super(bytes);
    this.bytesOfIt = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  override string(): string {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len) throw new RangeError("premature EOF");
    return this.bytesOfIt.toString("utf8", start, this.pos);
  }
}
