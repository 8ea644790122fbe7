import { scramVerifier } from "./scramVerifier";

describe("scramVerifier", () => {
  it("equals Postgres' verifier for the same password and salt", () => {
    // From `create role … password 'pencil'` on PostgreSQL 15, read back from pg_authid.
    const stored =
      "SCRAM-SHA-256$4096:v5+2vxUPkyJd5IAmuLx5Ag==$5BQWNwtEIDAe/nRTBGJTQTNasf0rQOnllbrPY6/9seY=:nN97JTZUWhknpzpgwoY2hC2ZOs6GgBrDNj7+e68glfQ=";
    const salt = Buffer.from("v5+2vxUPkyJd5IAmuLx5Ag==", "base64");
    expect(scramVerifier("pencil", salt)).toBe(stored);
  });

  it("differs each time, because the salt does", () => {
    expect(scramVerifier("pencil")).not.toBe(scramVerifier("pencil"));
  });
});
