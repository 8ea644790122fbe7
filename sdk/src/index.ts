export { ServiceClient, type Health } from "./client.ts";
export type { ClientOptions } from "./core/clientOptions.ts";

export { ApiPromise, type CallOptions, type IdempotentCallOptions, type WithResponse } from "./core/call.ts";
export { Page, PagePromise, type PageData, type PageQuery, type Pagination } from "./core/page.ts";
export type { Logger, LogLevel } from "./core/logger.ts";
export {
  createNetwork,
  defaultNetwork,
  type ExplorerLinks,
  explorerLinks,
  type Network,
  type NetworkOverrides,
  NetworkType,
} from "./core/network.ts";
export { DEFAULT_DECIMALS, formatUnits, toUnits } from "./core/units.ts";
export { VERSION } from "./internal/version.ts";

export {
  AbortedError,
  AuthenticationError,
  BadAnswerError,
  type ClientErrorCode,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  ConnectionTimeoutError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  type ErrorMeaning,
  errorMeanings,
  InvalidRequestError,
  isErrorCode,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  RateLimitError,
  RefusedError,
  ServerError,
  ServiceError,
  type ServiceErrorCode,
  type ServiceErrorFields,
  UnavailableError,
  type UnknownErrorCode,
  WaitTimeoutError,
} from "./core/errors.ts";

export type { Cancellation, Moment, MoneyFilters, Settlement } from "./resources/shared.ts";
export type { Metadata, Notes, ShownNotes, UpdateMetadataRequest } from "./resources/notes.ts";
export type {
  AuthApi,
  QuotaUsage,
  RefreshedKey,
  RefreshKeyRequest,
  RevokedKey,
  Session,
} from "./resources/auth.ts";
export type {
  AllTransactionsQuery,
  BalanceAtTime,
  BalanceQuery,
  CreatedWallet,
  CreateWalletRequest,
  UpdateWalletRequest,
  Wallet,
  WalletListQuery,
  WalletMetadata,
  WalletsApi,
  WalletStatus,
  WalletTransaction,
  WalletTransactionListQuery,
  WalletTransactionStatus,
  WalletTransactionType,
  WalletType,
} from "./resources/wallets.ts";
export type { Transfer, TransferListQuery, TransferRequest, TransfersApi } from "./resources/transfers.ts";
export type {
  CancelChargeRequest,
  CancelledCharge,
  Charge,
  ChargeCancellation,
  ChargeListQuery,
  ChargeRequest,
  ChargesApi,
  ChargeWithCancellations,
  Refund,
  RefundListQuery,
  RefundRequest,
} from "./resources/charges.ts";
export type {
  CancelledPayment,
  CancelPaymentRequest,
  Payment,
  PaymentCancellation,
  PaymentListQuery,
  PaymentRefund,
  PaymentRequest,
  PaymentsApi,
  PaymentWithRefunds,
  RefundedPayment,
  RefundPaymentRequest,
} from "./resources/payments.ts";
export type {
  PayoutOrder,
  Payout,
  PayoutListQuery,
  PayoutMode,
  PayoutRequest,
  PayoutRow,
  PayoutRowError,
  PayoutRowListQuery,
  PayoutsApi,
} from "./resources/payouts.ts";
export type {
  ReportPeriod,
  ReportsApi,
  SettledOperation,
  SettlementDownloadQuery,
  SettlementQuery,
  Settlements,
  Statement,
  StatementDownloadQuery,
  StatementQuery,
  Statements,
} from "./resources/reports.ts";
export type {
  AdvanceClockRequest,
  SandboxApi,
  SandboxClock,
  SandboxDeposit,
  SandboxDepositRequest,
  SandboxSettlement,
} from "./resources/sandbox.ts";
export {
  type InstantTransactionRequest,
  type ScheduledTransactionRequest,
  type TransactionChange,
  type TransactionCreateRequest,
  type TransactionListQuery,
  type TransactionPredicate,
  type TransactionResponse,
  TransactionsApi,
  type TransactionScheduleRequest,
  TransactionStatus,
  type TransactionStatusRequest,
  type TransactionWithHistory,
  TxPaymentType,
} from "./resources/transactions.ts";
export type {
  Deposit,
  EventData,
  EventListQuery,
  EventOf,
  EventPage,
  EventsApi,
  EventStreamQuery,
  EventType,
  ServiceEvent,
  SettledObject,
  Webhook,
  WebhookOrdering,
  WebhookStatus,
} from "./resources/events.ts";
export type {
  CreatedWebhook,
  CreateWebhookRequest,
  DeletedWebhook,
  Delivery,
  DeliveryAttempt,
  DeliveryListQuery,
  ReplayedWebhook,
  ReplayWebhookRequest,
  RotatedWebhook,
  RotateSecretRequest,
  UpdateWebhookRequest,
  WebhooksApi,
  WebhookTestEvent,
} from "./resources/webhooks.ts";
export type {
  ApiKey,
  ApiKeyStatus,
  CreatedApiKey,
  CreateKeyRequest,
  KeysApi,
  RevokedApiKey,
  RevokeKeyRequest,
  RotatedSecretKey,
  Scope,
  UsedApiKey,
} from "./resources/keys.ts";
export type { WebhookHeaders } from "./internal/unwrapWebhook.ts";
export type { WaitOptions, WaitPredicate } from "./internal/pollUntil.ts";
