import { type Tag } from "./operation";

export const TAG_DESCRIPTIONS: Record<Tag, string> = {
  Authentication: "Refresh, revoke and inspect the organisation's API key.",
  "API keys": "Issue, list and revoke the organisation's API keys, each with scopes and an allow-list.",
  Wallets: "Create and manage the wallets of your users, and list the entries that changed their balances.",
  Transfers: "Send money from a NORMAL wallet to an address. The user pays no gas.",
  Payouts: "Send money from a NORMAL wallet to up to 10,000 addresses with one request.",
  Reports: "Download statements and settlements of a period, as JSON, CSV or camt.053.",
  Charges: "Put money into a wallet (charge), cancel a charge, and pay a wallet out (refund).",
  Payments: "Pay from a user's wallets to another user's wallet, and cancel or refund payments.",
  "Recorded transactions":
    "Keep records of on-chain transactions. Amounts are integer strings in the token's smallest unit.",
  Events: "Read the events of your wallets, money, records and keys, in one order.",
  Webhooks: "Receive your events as signed requests to a URL of yours.",
  x402: "Sell to payers outside by x402: Wonrail as the facilitator, in x402's own format. See the guide.",
  Sandbox:
    "Rehearse deposits, failures and the passing of time. Only on a test network, with a `wk_test_…` key. See the guide.",
  Service: "The state of the gateway itself.",
};

/** The first page of the API reference, in Markdown. */
export const API_DESCRIPTION = `Stablecoin wallets for partner organisations.

## First steps

1. Get an API key and a secret key from the operator of this service.
2. Send the API key in the header \`X-API-Key\`. \`GET /api/wallet-auth/session\` shows what it may do and when it expires.
3. Create a wallet, charge it, and pay from it. Each operation below has an example.

The [documentation](/docs/) has guides, concepts and all error codes.

## Glossary

| Word | Meaning |
|---|---|
| Charge | A top-up: new money is put into a wallet. |
| Charge cancellation | Takes back a charge or a part of it, within 30 days. |
| Refund | A cash-out: all available money of a NORMAL or GOVERNMENT wallet is paid out. |
| Payment refund | Takes back a part of a payment, any number of times. |
| Payment | Money moves from one user's wallets to another user's wallet. |
| Payout | Many transfers of one wallet, as one request. |
| Transfer | Money moves from one wallet to an address, yours or an outside one. |
| Incentive | A reward in the payer's INCENTIVE wallet, granted on the part that NORMAL paid. |
| Accrual | The incentive that one payment granted. |
| Clawback | The accrual that a cancelled or refunded payment takes back. |
| Settlement | The state of a movement on the chain. |
| Hold | Money of a transfer under way. It counts in the balance but is not available. |

## Requests and responses

- Every response has the envelope \`{success, data, error, requestId, timestamp}\`. Only the operations of x402
  answer in x402's format; their refusals have the fields of both.
- Amounts of the wallet API are whole KRW. Amounts of recorded transactions are integer strings.
- Bodies are \`application/json\` of at most 64 KiB, of a payout at most 4 MiB. Unknown fields are refused.
- The path, query and headers of a request are at most 8 KiB together. A larger request is answered with 431 and REQ_006.
- Omit optional fields. \`null\` is accepted only for \`incentiveAmount\`.
- A connection may have at most 100 requests without a response.

## Lists

Lists are sorted newest first. A wallet's transactions are sorted by the time they changed the balance.
Other lists are sorted by the time of the first request, so an object that took longer can appear behind newer ones.
Follow \`pagination.nextCursor\` to read a whole list: no entry is repeated or left out.

## Retries and idempotency

- Send an \`Idempotency-Key\` with each POST. A repetition with the same key and body gets the
  stored response, with the header \`Idempotent-Replayed: true\`.
- Keys are kept for at least 31 days. Keys of wallets and recorded transactions are kept for ever.
- SYS_002 means that this request did nothing. An earlier request with the same key may have succeeded: retry with the same key.
- SYS_001 and SYS_003 mean that the outcome is not known. Retry with the same key, never with a new one.
- A refusal by the ledger is stored under the key and replayed: a low balance, a limit, a wallet's type or
  status, or an object that does not exist or is cancelled already. Use a new key to try again.
- Other refusals are not stored, and the key stays free: a malformed request, an API key, a rate, a plan, or a
  transaction that could not be recorded.

## Errors

\`error.code\` names the error, \`error.message\` says the cause and the remedy, and \`error.details\` has its data.
Some codes have several causes; \`details.reason\` tells them apart. An id in a malformed form is answered like an id that does not exist.

## Following a settlement

Read \`GET /api/events\` for \`settlement.confirmed\` and \`settlement.failed\`. Or read the object again every few
seconds while \`settlement.status\` is PENDING or SUBMITTED. For transfers and recorded transactions use their own
\`status\` instead: it is final when it is not PENDING.

## Events

- Each event has the \`sequence\` of your organisation: from 1, without gaps. Send the last one that you handled as \`after\`.
- \`wait\` makes the request wait for an event, so a loop of requests hears of each event within a second.
- \`GET /api/events/stream\` pushes the same events as Server-Sent Events. The \`id\` of each is its sequence.
- \`data\` is the object as a read of it answered when the event was made. The object may have changed since.
- A webhook sends the same events to an address of yours, signed as Standard Webhooks 1.0.
- Events are kept for 30 days. EVT_002 means that events behind \`after\` are gone.

## API keys and scopes

- Each operation names the scope that a key needs. WAUTH_005 names the missing one in \`details.scope\`.
- \`POST /api/wallet-auth/keys\` issues further keys with fewer scopes, an allow-list of addresses and a name.
- \`GET /api/events/stream\` needs the scope \`events:read\`.

## Versions

- A version of this API is a date. The header \`Wonrail-Version\` chooses it for one request, and each response has it.
- Without the header a request gets the version of its API key, which is the newest one at the key's creation.
- A deprecated operation answers with the headers \`Deprecation\` and \`Sunset\`.
- [Changes of the API](/docs/reference/api-changes) lists what each release changed.

## Changes to this API

New operations, optional request fields, response fields, headers and error codes can be added at any time.
Ignore fields that you do not know, and use the HTTP status of a code that you do not know.
All enumerations other than \`ErrorCode\`, \`EventType\` and \`Scope\` are complete.`;
