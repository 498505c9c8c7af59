# What bench.sh measures with, built into $(BUILD)/bench.  Included by GNUmakefile after it has set BUILD.
B_DIR      := $(BUILD)/bench
B_PROGRAMS := $(patsubst tests/bench/%.c,$(B_DIR)/%,$(wildcard tests/bench/*.c))

$(B_DIR)/%: tests/bench/%.c tests/bench/bench.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow -pthread -o $@ $<
