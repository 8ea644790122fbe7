"""Plays the guides in Python: a failed settlement, an expired cancellation, a payout of 1,000 rows
from a file, and the export of the month as camt.053.
"""

import json
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

from wonrail import Client, errors

OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
ROWS = 1_000
PEOPLE = 20

with Client() as client, TemporaryDirectory() as folder:
    employer = client.wallets.create(user_id="employer", wallet_type="NORMAL").wallet_id
    client.charges.create(wallet_id=employer, amount=2_000_000)
    failing = client.transfers.create(
        from_wallet_id=employer,
        to_wallet_address=OUTSIDE,
        amount=5_000,
        memo="sandbox:settlement_failed",
    )
    while failing.status == "PENDING":
        time.sleep(0.5)
        failing = client.transfers.get(failing.transfer_id)

    people = [
        client.wallets.create(user_id=f"person-{number}", wallet_type="NORMAL") for number in range(PEOPLE)
    ]
    file = Path(folder, "salaries.csv")
    with file.open("w") as salaries:
        salaries.write("toWalletAddress,amount,reference,idempotencyKey\n")
        for row in range(ROWS):
            salaries.write(f"{people[row % PEOPLE].wallet_address},1000,salary-{row},november/{row}\n")
    payout = client.payouts.create(from_wallet_id=employer, csv=file.read_text())
    while payout.status == "PENDING":
        time.sleep(0.5)
        payout = client.payouts.get(payout.payout_id)

    month = Path(folder, "november.xml")
    with month.open("wb") as report:
        start = datetime.now(timezone.utc) - timedelta(days=31)
        client.reports.download_statements(report, from_=start, wallet_id=employer, format="camt053")

    charge = client.charges.create(wallet_id=employer, amount=10_000)
    clock = client.sandbox.open_clock()
    client.sandbox.advance_clock(to=clock.time + timedelta(days=31))
    refusal = ""
    try:
        client.charges.cancel(charge_id=charge.charge_id)
    except errors.RefusedError as error:
        refusal = error.code
    print(
        json.dumps(
            {
                "transfer": [failing.status, failing.failure_reason],
                "payout": [payout.status, payout.accepted_count, payout.accepted_amount],
                "salaries": month.read_text().count("<EndToEndId>salary-"),
                "refusal": refusal,
            }
        )
    )
