import { type AnswerStream } from "../operation";
import { type Part } from "./readStatements";
import { type ReportWriter } from "./reportWriter";
import { inChunks } from "./streaming";

/** Writes statements in the writer's format while they are read. */
export function writeStatements(writer: ReportWriter, parts: AsyncIterable<Part>): AnswerStream {
  const { contentType, extension } = writer;
  return { contentType, fileName: `statements.${extension}`, chunks: inChunks(write(writer, parts)) };
}

async function* write(
  writer: ReportWriter,
  parts: AsyncIterable<Part>,
): AsyncGenerator<string, void, undefined> {
  yield writer.begin();
  let statements = 0;
  let lines = 0;
  for await (const part of parts) {
    if (part.kind === "lines") yield part.lines.map((line) => writer.line(line, lines++ === 0)).join("");
    else if (part.kind === "close") yield writer.close(part.statement);
    else {
      yield writer.open(part.statement, statements++ === 0);
      lines = 0;
    }
  }
  yield writer.end();
}
