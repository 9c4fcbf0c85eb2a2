"""Turns mappings, sequences, arrays and tables into the float64 rows that the core reads."""

from banditree.contexts.batches import take
from banditree.contexts.dates import date_parts
from banditree.contexts.description import FeatureInfo, Features
from banditree.contexts.encoder import Encoder
from banditree.contexts.features import Pending

__all__ = ["Encoder", "FeatureInfo", "Features", "Pending", "date_parts", "take"]
