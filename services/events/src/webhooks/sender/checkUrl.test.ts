import { createUrlCheck } from "./checkUrl";

/** A check whose names all resolve to these addresses. */
const check = (...addresses: string[]) => createUrlCheck({ isLoopbackAllowed: false }, async () => addresses);
const refused = { code: "WHK_002", details: { reason: "address_not_allowed" } };

test.each(["localhost", "127.0.0.1.nip.io", "localtest.me", "metadata.google.internal", "a.example"])(
  "https://%s/ is refused when the name leads to a private address",
  async (host) => {
    for (const addresses of [["127.0.0.1"], ["169.254.169.254"], ["93.184.216.34", "::ffff:10.0.0.1"]])
      await expect(check(...addresses)(`https://${host}/`)).rejects.toMatchObject(refused);
  },
);

test("a name that leads to public addresses, or to none now, is accepted", async () => {
  await check("93.184.216.34", "2606:2800:220:1::1")("https://partner.example/hook");
  await check()("https://partner.example/hook");
});
