"""Scores predictions in a file, from any program: `python examples/prediction_file.py`. The same from a shell:

humboldt data chomsky reverse_string --split test --preset quick --output strings.jsonl
humboldt score chomsky reverse_string predictions.jsonl --preset quick
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as name:
    strings, predictions = Path(name) / "strings.jsonl", Path(name) / "predictions.jsonl"
    humboldt = [sys.executable, "-m", "humboldt"]
    task = ["chomsky", "reverse_string", "--preset", "quick"]
    subprocess.run([*humboldt, "data", *task, "--split", "test", "--output", strings], check=True)
    with strings.open() as lines, predictions.open("w") as file:
        for line in lines:
            symbols = json.loads(line)["input"].split()
            answer = symbols[::-1] if len(symbols) < 200 else symbols  # a model that fails on long strings
            file.write(json.dumps({"input": " ".join(symbols), "prediction": " ".join(answer)}) + "\n")
    subprocess.run([*humboldt, "score", *task, predictions], check=True)
