// Creates two wallets, charges one, pays from it, lists its payments, and pays more than it has.

import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import wonrail.ApiClient;
import wonrail.ApiException;
import wonrail.JSON;
import wonrail.api.ChargesApi;
import wonrail.api.PaymentsApi;
import wonrail.api.WalletsApi;
import wonrail.model.CreateCharge;
import wonrail.model.CreatePayment;
import wonrail.model.CreateWallet;
import wonrail.model.Refusal;
import wonrail.model.WalletType;

public class Play {
  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("WONRAIL_BASE_URL"));
    var key = System.getenv("WONRAIL_API_KEY");
    client.setRequestInterceptor(request -> request.header("X-API-Key", key));
    var payments = new PaymentsApi(client);

    var payer = createWallet(client);
    var shop = createWallet(client);
    new ChargesApi(client)
        .createCharge(
            ChargesApi.APICreateChargeRequest.newBuilder()
                .createCharge(new CreateCharge().walletId(payer).amount(50_000L))
                .idempotencyKey(UUID.randomUUID().toString())
                .build());
    var paid = payments.createPayment(payment(payer, shop, 12_000L)).getData();
    var filter = PaymentsApi.APIListPaymentsRequest.newBuilder().walletId(payer).limit(5L).build();
    var listed = payments.listPayments(filter).getData();
    // Lists can lag behind writes.
    for (int attempt = 0; attempt < 60 && listed.getItems().isEmpty(); attempt++) {
      Thread.sleep(500);
      listed = payments.listPayments(filter).getData();
    }
    var result =
        Map.of(
            "payerWalletId", payer,
            "paymentId", paid.getPaymentId(),
            "normal", paid.getBreakdown().getNormal(),
            "listed", listed.getItems().stream().map(one -> one.getPaymentId()).collect(Collectors.toList()),
            "refusal", refusalOf(payments, payment(payer, shop, 999_999L)));
    System.out.println(JSON.getDefault().getMapper().writeValueAsString(result));
  }

  private static String createWallet(ApiClient client) throws ApiException {
    var wallet = new CreateWallet().userId(UUID.randomUUID().toString()).walletType(WalletType.NORMAL);
    return new WalletsApi(client)
        .createWallet(
            WalletsApi.APICreateWalletRequest.newBuilder()
                .createWallet(wallet)
                .idempotencyKey(UUID.randomUUID().toString())
                .build())
        .getData()
        .getWalletId();
  }

  private static PaymentsApi.APICreatePaymentRequest payment(String payer, String shop, long amount) {
    var body = new CreatePayment().payerWalletId(payer).receiverWalletId(shop).amount(amount);
    return PaymentsApi.APICreatePaymentRequest.newBuilder()
        .createPayment(body)
        .idempotencyKey(UUID.randomUUID().toString())
        .build();
  }

  private static String refusalOf(PaymentsApi payments, PaymentsApi.APICreatePaymentRequest request)
      throws Exception {
    try {
      payments.createPayment(request);
      return "";
    } catch (ApiException error) {
      return JSON.getDefault()
          .getMapper()
          .readValue(error.getResponseBody(), Refusal.class)
          .getError()
          .getCode()
          .getValue();
    }
  }
}
