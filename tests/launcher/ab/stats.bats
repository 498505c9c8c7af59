#!/usr/bin/env bats
# The numbers of an experiment, against published ones and against computations that share nothing with ours.

load ../../lib
load ab

setup() {
	need python3
	cd "$BATS_TEST_TMPDIR" || return
}

judged() { llrun --ab-report --json=judged.json "$1" >report.txt; }

@test "the signed-rank test and its estimate: Hollander and Wolfe's depression data" {
	# Nonparametric Statistical Methods (1973), p. 29: V = 40, two-sided p = 20/512, estimate -0.46; the control: no difference at all.
	saved data.json <<<'hamilton 1.83 0.50 1.62 2.48 1.68 1.88 1.55 3.06 1.30 / 0.878 0.647 0.598 2.05 1.06 1.29 1.06 3.14 1.29 / 1.83 0.50 1.62 2.48 1.68 1.88 1.55 3.06 1.30'
	judged data.json
	equal "$(result judged.json hamilton p)" 0.0390625
	matches "$(result judged.json hamilton effect)" '^-0\.4(6|59999)'
	equal "$(result judged.json hamilton base) $(result judged.json hamilton value)" "1.68 1.06"
	# One test, nine pairs all but two of one sign: significant, and lower is better.
	equal "$(result judged.json hamilton verdict)" better
}

@test "medians, estimates, intervals, p and Holm as another program computes them" {
	python3 - >lines <<'PY'
import random
r = random.Random(7)
for m in range(5):
    base = [round(r.lognormvariate(3, .2), 2) for _ in range(11)]
    arm = [round(b * (1 + .08 * m) * r.lognormvariate(0, .1), 2) for b in base]
    control = [round(r.lognormvariate(3, .2), 2) for _ in range(11)]
    if m == 4:
        arm[3], arm[7] = base[3], base[7] + abs(arm[2] - base[2]) # a zero and, nearly, a tie
    print("m%d" % m, *base, "/", *arm, "/", *control)
PY
	saved data.json <lines
	judged data.json
	python3 - <<'PY'
import itertools, json, random, statistics
data, judged = json.load(open("data.json")), json.load(open("judged.json"))
def hl(d):
    return statistics.median([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])
def signed_rank(d):
    d = [x for x in d if x != 0]
    size = sorted(abs(x) for x in d)
    rank = [(size.index(abs(x)) + 1 + len(size) - size[::-1].index(abs(x))) / 2 for x in d]
    w = sum(r for r, x in zip(rank, d) if x > 0)
    all = [sum(r for r, s in zip(rank, signs) if s) for signs in itertools.product((0, 1), repeat=len(rank))]
    return min(1, 2 * min(sum(a <= w for a in all), sum(a >= w for a in all)) / len(all))
ps = {}
for row in judged["results"]:
    of = lambda arm: [r["values"][row["metric"]] for r in sorted(data["runs_made"], key=lambda r: r["pair"]) if r["arm"] == arm]
    d = [y - x for x, y in zip(of(0), of(1))]
    assert abs(row["base"] - statistics.median(of(0))) < 1e-9 and abs(row["value"] - statistics.median(of(1))) < 1e-9, row
    assert abs(row["effect"] - hl(d)) < 1e-9, (row, hl(d))
    ps[row["metric"]] = signed_rank(d)
    assert abs(row["p"] - ps[row["metric"]]) < 1e-9, (row, ps)
    rng = random.Random(1)
    boot = sorted(hl(rng.choices(d, k=len(d))) for _ in range(4000))
    width = boot[3899] - boot[99]
    assert abs(row["low"] - boot[99]) < .1 * width and abs(row["high"] - boot[3899]) < .1 * width, (row, boot[99], boot[3899])
before = 0
for i, m in enumerate(sorted(ps, key=ps.get)):
    before = max(before, min(1, ps[m] * (len(ps) - i)))
    assert abs(before - next(r["p_holm"] for r in judged["results"] if r["metric"] == m)) < 1e-9, m
PY
}

@test "percentiles of histograms: the smallest value that so many lie at or below" {
	# 1 to 1000, each once: 500, 990, and too few for p99.9; then twenty times as many.
	python3 - >lines <<'PY'
def histogram(count, add): return str([[v + add, count] for v in range(1, 1001)]).replace(" ", "")
for name, count in (("few", 1), ("many", 20)):
    print(name, *[histogram(count, 0)] * 8, "/", *[histogram(count, 10)] * 8, "/", *[histogram(count, 0)] * 8)
PY
	saved data.json <lines
	judged data.json
	equal "$(result judged.json few base p50) $(result judged.json few base p99) $(result judged.json few value p99)" "500 990 1000"
	equal "$(result judged.json many base p99.9) $(result judged.json many value max) $(result judged.json many effect p99.9)" "999 1010 10"
	equal "$(result judged.json few verdict p99.9)" "not enough data"
	matches "$(result judged.json few why p99.9)" '10000 samples a run would do; there are 1000'
	equal "$(result judged.json many verdict p99.9)" worse
	# What is largest is described, never judged.
	equal "$(result judged.json many verdict max) $(result judged.json many p max)" "none null"
}

@test "too few runs: says so, and how many would do" {
	# One test: 2/2^n <= 0.05 from n = 6.
	saved five.json <<<'m 1 2 3 4 5 / 11 12 13 14 15 / 1 2 3 4 5'
	judged five.json
	equal "$(result judged.json m verdict): $(result judged.json m why)" "not enough data: 6 runs would do"
	saved six.json <<<'m 1 2 3 4 5 6 / 11 12 13 14 15 16 / 1 2 3 4 5 6'
	judged six.json
	equal "$(result judged.json m verdict) $(result judged.json m p)" "worse 0.03125"
	# Two tests: from n = 7.
	saved two.json <<<'m 1 2 3 4 5 6 / 11 12 13 14 15 16 / 1 2 3 4 5 6
n 1 2 3 4 5 6 / 11 12 13 14 15 16 / 1 2 3 4 5 6'
	judged two.json
	equal "$(result judged.json m verdict): $(result judged.json n why)" "not enough data: 7 runs would do"
}

@test "an effect smaller than A/A shows is none, however sure" {
	saved data.json <<<'m 100 100 100 100 100 100 100 100 / 101 101 101 101 101 101 101 101 / 95 105 95 105 95 105 95 105
high 100 100 100 100 100 100 100 100 / 120 120 120 120 120 120 120 121 / 95 105 95 105 95 105 95 105'
	judged data.json
	equal "$(result judged.json m verdict) $(result judged.json high verdict)" "no difference shown better"
}

@test "runs that failed leave their pair out" {
	saved data.json <<<'m 1 2 3 null 5 6 7 / 11 12 null 14 15 16 17 / 1 2 3 4 5 6 7'
	judged data.json
	equal "$(result judged.json m pairs)" 5
	matches "$(result judged.json m why)" '6 runs that count would do'
}

@test "of sixty A/A experiments few find anything; of those with 5 % among 1 % of noise, all" {
	# Noise with a tail and a drift, as on a busy machine; the generator's seed is fixed, so this says always the same.
	python3 - <<'PY'
import json, random
r = random.Random(3)
def experiment(effect, spread, name):
    runs, level = [], {m: 100 for m in range(8)}
    for pair in range(12):
        for arm in r.sample(range(3), 3):
            values = {}
            for m in range(8):
                level[m] *= r.lognormvariate(0, spread / 4)
                values["m%d" % m] = level[m] * r.lognormvariate(0, spread) * (1 + effect * (arm == 1)) + (r.random() < .1) * 500 * spread * r.random()
            runs.append({"arm": arm, "pair": pair, "values": values})
    json.dump({"llrun_ab": 1, "program": ["p"], "seed": 1, "runs": 12, "arms": [{"name": n} for n in ("bare", "x", "A/A")],
        "metrics": [{"name": "m%d" % m, "unit": "", "from": "x"} for m in range(8)], "runs_made": runs}, open(name, "w"))
for i in range(60):
    experiment(0, .1, "aa.%d" % i)
for i in range(8):
    experiment(.05, .01, "ab.%d" % i)
PY
	local i found=0
	for i in {0..59}; do
		llrun --ab-report "aa.$i" >report.txt
		! grep -qE '  (better|worse)$' report.txt || found=$((found + 1))
	done
	echo "A/A experiments with a verdict: $found of 60"
	((found <= 3))
	for i in {0..7}; do
		llrun --ab-report "ab.$i" >report.txt
		equal "$i: $(grep -cE '  worse$' report.txt)" "$i: 8"
	done
}

@test "saved experiments are compared, and said not to be in balance" {
	saved one.json <<<'m 1 2 3 4 5 6 7 8 / 11 12 13 14 15 16 17 18 / 1 2 3 4 5 6 7 8'
	saved two.json <<<'m 101 102 103 104 105 106 107 108 / 11 12 13 14 15 16 17 18 / 101 102 103 104 105 106 107 108'
	run llrun --ab-report one.json two.json
	equal "$status" 0
	matches "$output" 'They ran one after the other'
	matches "$(sed -n '/^bare in two.json against bare in one.json/,$p' <<<"$output" | head -2)" '  m, us .* worse$'
	matches "$(sed -n '/^x in two.json/,$p' <<<"$output")" '  m, us .* no difference shown$'
	for file in /dev/null "$ROOT/GNUmakefile" nothing.json; do
		run llrun --ab-report "$file"
		equal "$status" 125
		matches "$output" "^llrun: $file: "
	done
}
