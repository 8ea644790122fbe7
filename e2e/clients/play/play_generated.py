"""Creates two wallets, charges one, pays from it, lists its payments, and pays more than it has."""

import json
import os
import time
import uuid

from generated.api.charges import create_charge
from generated.api.payments import create_payment, list_payments
from generated.api.wallets import create_wallet
from generated.client import AuthenticatedClient
from generated.models import CreateCharge, CreatePayment, CreateWallet, Refusal, WalletType

client = AuthenticatedClient(
    base_url=os.environ["WONRAIL_BASE_URL"],
    token=os.environ["WONRAIL_API_KEY"],
    prefix="",
    auth_header_name="X-API-Key",
)


def key() -> str:
    return str(uuid.uuid4())


def wallet() -> str:
    body = CreateWallet(user_id=key(), wallet_type=WalletType.NORMAL)
    made = create_wallet.sync(client=client, body=body, idempotency_key=key())
    assert made is not None and not isinstance(made, Refusal)
    return made.data.wallet_id


def pay(amount: int):
    body = CreatePayment(payer_wallet_id=payer, receiver_wallet_id=shop, amount=amount)
    return create_payment.sync(client=client, body=body, idempotency_key=key())


payer, shop = wallet(), wallet()
charge = CreateCharge(wallet_id=payer, amount=50_000)
create_charge.sync(client=client, body=charge, idempotency_key=key())
paid = pay(12_000).data
# Lists can lag behind writes.
for _ in range(60):
    listed = list_payments.sync(client=client, wallet_id=payer, limit=5)
    if listed.data.items:
        break
    time.sleep(0.5)
print(
    json.dumps(
        {
            "payerWalletId": payer,
            "paymentId": paid.payment_id,
            "normal": paid.breakdown.normal,
            "listed": [payment.payment_id for payment in listed.data.items],
            "refusal": pay(999_999).error.code.value,
        }
    )
)
