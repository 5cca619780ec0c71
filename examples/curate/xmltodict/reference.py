"""Turn a shop's XML export into orders as JSON and a table of what was sold."""

import csv
import json
import os
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import xmltodict

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

shop = xmltodict.parse((INPUTS / "orders.xml").read_bytes(), force_list=("order", "item"), force_cdata=True)["shop"]
orders, sold = [], defaultdict(lambda: [0, Decimal(0)])
for order in shop["order"]:
    customer = order["customer"]
    cancelled = order.get("@cancelled") == "true"
    total = Decimal(0)
    for item in order["item"]:
        worth = int(item["@qty"]) * Decimal(item["#text"])
        total += worth
        if not cancelled:
            sold[item["@sku"]][0] += int(item["@qty"])
            sold[item["@sku"]][1] += worth
    note = order.get("note") or {}
    orders.append(
        {
            "id": order["@id"],
            "placed": order["@placed"],
            "customer": customer["#text"],
            "vip": customer.get("@vip") == "yes",
            "cancelled": cancelled,
            "items": len(order["item"]),
            "total": float(total),
            "note": note.get("#text", "").strip() or None,
        }
    )
ordered = orders
(OUTPUT / "orders.json").write_text(json.dumps(ordered, ensure_ascii=False, indent=2), "utf-8")
rows = sorted(sold.items(), key=lambda pair: pair[1][1], reverse=True)
with (OUTPUT / "sold.csv").open("w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["sku", "pieces", "revenue"])
    writer.writerows([sku, pieces, f"{revenue:.2f}"] for sku, (pieces, revenue) in rows)
