# What the tests of --ab share: load ../../lib, then load ab.

# A saved experiment with given numbers: saved FILE [RUNS] <<< 'METRIC BASE... / ARM... / CONTROL...', one line a metric.
saved() {
	python3 -c '
import json, sys
metrics, runs = [], {}
for line in sys.stdin:
    name, *rest = line.split()
    base, arm, control = [[json.loads(x) for x in part.split()] for part in " ".join(rest).split("/")]
    metrics.append({"name": name, "unit": "us", "from": "x", "higher_is_better": name.startswith("high")})
    for a, values in enumerate((base, arm, control)):
        for pair, value in enumerate(values):
            if value is not None:
                runs.setdefault((pair, a), {})[name] = value
pairs = 1 + max(pair for pair, a in runs)
json.dump({"llrun_ab": 1, "version": "0", "date": "D", "kernel": "K", "machine": "M", "boot_id": sys.argv[1], "program": ["p"], "seed": 1,
    "runs": pairs, "disturbed_dropped": False, "arms": [{"name": n} for n in ("bare", "x", "A/A")], "metrics": metrics,
    "runs_made": [{"arm": a, "pair": pair, "warm_up": False, "values": v} for (pair, a), v in sorted(runs.items())]}, sys.stdout)
' "$1" >"$1"
}

# result FILE METRIC FIELD [QUANTITY]: of the saved results of an experiment.
result() {
	python3 -c '
import json, sys
file, metric, field, *quantity = sys.argv[1:]
for r in json.load(open(file))["results"]:
    if r["metric"] == metric and r["quantity"] == (quantity or [""])[0]:
        print(json.dumps(r[field]) if not isinstance(r[field], str) else r[field])
' "$@"
}

# values FILE METRIC: what each run gave, warm-up first.
values() {
	python3 -c '
import json, sys
print(*[json.dumps(r["values"].get(sys.argv[2])) for r in json.load(open(sys.argv[1]))["runs_made"]])' "$@"
}
