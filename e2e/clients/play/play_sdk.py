"""Creates two wallets, charges one, pays from it, lists its payments, exports its statement as
camt.053, and pays more than it has.
"""

import json
import time
import uuid
from datetime import datetime, timedelta, timezone
from io import BytesIO

from wonrail import Client, errors

with Client() as client:
    payer, shop = (
        client.wallets.create(user_id=str(uuid.uuid4()), wallet_type="NORMAL").wallet_id for _ in range(2)
    )
    client.charges.create(wallet_id=payer, amount=50_000)
    paid = client.payments.create(payer_wallet_id=payer, receiver_wallet_id=shop, amount=12_000)
    listed: list[str] = []
    # Lists can lag behind writes.
    for _ in range(60):
        listed = [payment.payment_id for payment in client.payments.list(wallet_id=payer, limit=5)]
        if listed:
            break
        time.sleep(0.5)
    report = BytesIO()
    yesterday = datetime.now(timezone.utc) - timedelta(days=1)
    client.reports.download_statements(report, from_=yesterday, wallet_id=payer, format="camt053")
    assert report.getvalue().count(b"<Ntry>") == 2
    refusal = ""
    try:
        client.payments.create(payer_wallet_id=payer, receiver_wallet_id=shop, amount=999_999)
    except errors.RefusedError as error:
        refusal = error.code
    print(
        json.dumps(
            {
                "payerWalletId": payer,
                "paymentId": paid.payment_id,
                "normal": paid.breakdown.normal,
                "listed": listed,
                "refusal": refusal,
            }
        )
    )
