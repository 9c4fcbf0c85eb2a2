"""Write visits.parquet: visitors of a made-up shop, and what each of them bought."""

import random
from pathlib import Path

import pandas as pd

CITIES = ["Berlin", "Lima", "Nairobi", "Oslo"]
GOODS = ["bike", "coat", "kettle", "novel"]


def visit(chance: random.Random) -> dict[str, object]:
    """Return one visitor; some tell neither their age nor their city."""
    age, city, member = chance.randint(16, 80), chance.choice(CITIES), chance.random() < 0.3
    if chance.random() < 0.25:
        bought = chance.choice(GOODS)
    elif city == "Oslo":
        bought = "coat"
    elif age < 35:
        bought = "bike"
    else:
        bought = "novel" if member else "kettle"
    return {
        "age": None if chance.random() < 0.2 else age,
        "city": None if chance.random() < 0.1 else city,
        "member": member,
        "bought": bought,
    }


if __name__ == "__main__":
    chance = random.Random(7)
    visits = pd.DataFrame([visit(chance) for _ in range(5000)])
    visits.to_parquet(Path(__file__).with_name("visits.parquet"))
    print(visits.head())
