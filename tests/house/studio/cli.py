"""Answers with what it was started with."""

import json
import os
import sys

print(json.dumps({"arguments": sys.argv[1:], "folder": os.getcwd(), "prefix": sys.prefix, "safe": sys.flags.safe_path}))
