import { isAllowedAddress, urlProblem } from "./addressRules";

const STRICT = { isLoopbackAllowed: false };
const LOCAL = { isLoopbackAllowed: true };

/** Spellings of hosts that lead into a private network, from collections of SSRF bypasses. */
const PRIVATE_HOSTS = [
  ...["127.0.0.1", "127.1", "127.0.1", "127.127.127.127", "0", "0.0.0.0", "2130706433", "017700000001"],
  ...[
    "0x7f000001",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "0177.0.0.01",
    "127.0.0.1.",
    "0x7f.1",
    "1.0xffffff.0.0",
  ],
  ...["10.0.0.1", "10.255.255.255", "167772161", "0xa000001", "172.16.0.1", "172.31.255.255", "192.168.0.1"],
  ...[
    "192.168.1.1",
    "3232235521",
    "0xc0a80001",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "2852039166",
  ],
  ...["0xa9fea9fe", "0251.0376.0251.0376", "169.254.170.2", "192.0.0.192", "192.0.2.1", "198.18.0.1"],
  ...["198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1"],
  ...["[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]"],
  ...["[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[2002:7f00:1::]"],
  ...[
    "[2001::1]",
    "[2001:db8::1]",
    "[fe80::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
  ],
  ...["①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "%31%32%37.0.0.1"],
];

test.each(PRIVATE_HOSTS)("https://%s/ is refused", (host) => {
  expect(urlProblem(`https://${host}/hook`, STRICT)).toMatch(/^(address_not_allowed|not_a_url)$/);
});

test("the list has at least fifty spellings", () => expect(PRIVATE_HOSTS.length).toBeGreaterThanOrEqual(50));

test.each([
  ["ftp://example.com/", "not_https"],
  ["http://example.com/", "not_https"],
  ["http://93.184.216.34/", "not_https"],
  ["file:///etc/passwd", "not_https"],
  ["javascript:alert(1)", "not_https"],
  ["https://user:pass@example.com/", "has_credentials"],
  ["https://example.com@127.0.0.1/", "has_credentials"],
  ["https://example.com/#fragment", "has_fragment"],
  ["https://", "not_a_url"],
  ["example.com/hook", "not_a_url"],
  ["", "not_a_url"],
])("%s is refused: %s", (url, problem) => expect(urlProblem(url, STRICT)).toBe(problem));

test.each(["https://example.com/hook?a=b", "https://93.184.216.34:8443/", "https://[2606:2800:220:1::1]/"])(
  "%s is accepted",
  (url) => expect(urlProblem(url, STRICT)).toBeUndefined(),
);

test("the local stack delivers to this machine without TLS, and to no other private address", () => {
  for (const url of ["http://127.0.0.1:9000/", "https://127.0.0.1/", "http://[::1]:9000/", "http://127.1/"])
    expect([url, urlProblem(url, LOCAL)]).toEqual([url, undefined]);
  for (const url of ["http://10.0.0.1/", "https://10.0.0.1/", "http://169.254.169.254/"])
    expect(urlProblem(url, LOCAL)).toBe("address_not_allowed");
  expect(urlProblem("http://example.com/", LOCAL)).toBe("not_https");
});

test("addresses that a name resolves to are judged alike", () => {
  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "::1",
    "::ffff:192.168.0.1",
    "fd00::1",
    "169.254.169.254",
    "nonsense",
  ])
    expect([address, isAllowedAddress(address, STRICT)]).toEqual([address, false]);
  for (const address of ["93.184.216.34", "2606:2800:220:1::1"])
    expect(isAllowedAddress(address, STRICT)).toBe(true);
});
