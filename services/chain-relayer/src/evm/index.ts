// The chain as one source: JSON-RPC, a quorum of endpoints, logs, receipts, the contracts' ABI, the
// operator's signer. Knows no table and no other flow.

export { connectChain } from "./connectChain";
export {
  type ChainEvent,
  type ChainOperation,
  type ChainStep,
  decodeLog,
  decodeUnits,
  encodeAuthorizationState,
  encodeBalanceOf,
  encodeExecute,
  encodeIsBlocked,
  encodeIsExecuted,
  encodeIsOperator,
  encodePaused,
  encodeTakeAll,
  encodeTotalSupply,
  isOutcome,
  type Outcome,
  placeOf,
  reasonOf,
  type StepKind,
  type TokenMovement,
  TOPICS,
  type TrackedContracts,
  type TransferEvent,
} from "./contracts";
export { createFaucet, type Faucet } from "./faucet";
export { isPossiblyTooLarge } from "./logs";
export { findMintRoom } from "./mintAllowance";
export { openChain } from "./openChain";
export { type Block, type Provider, type Receipt, type TransferReceipt } from "./provider";
export { createReorgWatch } from "./reorgs";
export { RpcRefusal, RpcUnanswered } from "./rpc";
export { type SendOutcome, sendOutcomeOf } from "./sendOutcome";
export { createSigner, isPrivateKey, type Signer } from "./signer";
export { tokenOf } from "./tokenOf";
export {
  encodeIsValidSignature,
  encodeTransferWithAuthorization,
  hashTransferAuthorization,
  isValidSignatureAnswer,
  readKeySignature,
  TOKEN_DOMAIN,
  topicsOfTransfer,
  topicsOfUse,
  type TransferAuthorization,
} from "./transferAuthorization";
