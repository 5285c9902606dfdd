"""CSV in, JSON and a mail out: dataclasses, Decimal, groupby, templates, TOML."""
import csv
import email.message
import email.utils
import itertools
import json
import string
import tomllib
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal


@dataclass(order=True)
class Sale:
    region: str
    price: Decimal
    tags: list[str] = field(default_factory=list, compare=False)


with open("settings.toml", "rb") as file:
    settings = tomllib.load(file)
with open("sales.csv", newline="") as file:
    sales = sorted(Sale(r["region"], Decimal(r["price"]), r["tags"].split("+")) for r in csv.DictReader(file))

report = {}
for region, group in itertools.groupby(sales, key=lambda s: s.region):
    group = list(group)
    net = sum((s.price for s in group), Decimal())
    tax = (net * Decimal(settings["tax"])).quantize(Decimal("0.01"), ROUND_HALF_UP)
    report[region] = {"net": str(net), "tax": str(tax), "tags": sorted({t for s in group for t in s.tags})}
with open("report.json", "w") as file:
    json.dump({"report": report, "first": asdict(sales[0])}, file, default=str, indent=1)

mail = email.message.EmailMessage()
mail["Subject"] = string.Template("Sales of $month").substitute(settings)
mail["Date"] = email.utils.formatdate(localtime=True)
mail["Message-ID"] = email.utils.make_msgid(domain="shop.example")
mail.set_content("\n".join(f"{k}: {v['net']} + {v['tax']}" for k, v in report.items()))
mail.add_attachment(json.dumps(report).encode(), maintype="application", subtype="json", filename="report.json")
print(mail.as_string())
