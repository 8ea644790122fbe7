// Creates two wallets, charges one, pays from it, lists its payments, and pays more than it has.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"example.com/wonrail"
)

func main() {
	key := wonrail.APIKey{Key: os.Getenv("WONRAIL_API_KEY")}
	keys := map[string]wonrail.APIKey{"apiKey": key}
	ctx := context.WithValue(context.Background(), wonrail.ContextAPIKeys, keys)
	settings := wonrail.NewConfiguration()
	settings.Servers = wonrail.ServerConfigurations{{URL: os.Getenv("WONRAIL_BASE_URL")}}
	client := wonrail.NewAPIClient(settings)

	payer := createWallet(ctx, client)
	shop := createWallet(ctx, client)
	charge := *wonrail.NewCreateCharge(payer, 50_000)
	_, _, err := client.ChargesAPI.CreateCharge(ctx).CreateCharge(charge).IdempotencyKey(newKey()).Execute()
	check(err)
	paid, err := pay(ctx, client, payer, shop, 12_000)
	check(err)
	ids := []string{}
	// Lists can lag behind writes.
	for attempt := 0; attempt < 60 && len(ids) == 0; attempt++ {
		time.Sleep(500 * time.Millisecond)
		listed, _, err := client.PaymentsAPI.ListPayments(ctx).WalletId(payer).Limit(5).Execute()
		check(err)
		for _, payment := range listed.Data.Items {
			ids = append(ids, payment.PaymentId)
		}
	}
	_, refusal := pay(ctx, client, payer, shop, 999_999)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"payerWalletId": payer,
		"paymentId":     paid.PaymentId,
		"normal":        paid.Breakdown.Normal,
		"listed":        ids,
		"refusal":       codeOf(refusal),
	}))
}

func createWallet(ctx context.Context, client *wonrail.APIClient) string {
	wallet := *wonrail.NewCreateWallet(newKey(), wonrail.NORMAL)
	made, _, err := client.WalletsAPI.CreateWallet(ctx).CreateWallet(wallet).IdempotencyKey(newKey()).Execute()
	check(err)
	return made.Data.WalletId
}

func pay(ctx context.Context, client *wonrail.APIClient, payer, shop string, amount int64) (*wonrail.Payment, error) {
	payment := *wonrail.NewCreatePayment(payer, shop, amount)
	paid, _, err := client.PaymentsAPI.CreatePayment(ctx).CreatePayment(payment).IdempotencyKey(newKey()).Execute()
	if err != nil {
		return nil, err
	}
	return &paid.Data, nil
}

func codeOf(err error) wonrail.ErrorCode {
	var answered *wonrail.GenericOpenAPIError
	if !errors.As(err, &answered) {
		check(fmt.Errorf("no refusal, but %w", err))
	}
	refusal := answered.Model().(wonrail.Refusal)
	return refusal.Error.Code
}

func newKey() string {
	random := make([]byte, 16)
	_, err := rand.Read(random)
	check(err)
	return hex.EncodeToString(random)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
