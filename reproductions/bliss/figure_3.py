"""Figure 3 as data: the largest n up to which every a^n b^n is accepted (ε = 0), against the training size.

python figure_3.py < results.json > figure_3.csv
"""

import csv
import json
import sys

columns = ("label", "model", "train_size", "largest_n", "members")
rows = []
for record in json.load(sys.stdin):
    if record["task"] == "an_bn" and record["measure"] == "largest_n":
        label, _, size = record["setting"].rpartition(" train_size=")
        rows.append((label, record["model"], int(size), int(record["value"]), record["members"]))
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow(columns)
writer.writerows(sorted(rows))
