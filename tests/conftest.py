import os

from hypothesis import settings

settings.register_profile("banditree", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("banditree")
