# The fuzz targets: NAME with libFuzzer where clang has it, and NAME-replay, which runs files through the same code, by
# any compiler.  Included by GNUmakefile after it has set BUILD.
F_DIR   := $(BUILD)/fuzz
F_CLANG ?= clang
F_NAMES := policy expr plan elf
FUZZ_SECONDS ?= 600
F_FLAGS := -std=gnu11 -D_GNU_SOURCE -DVERSION='"fuzz"' -O1 -g -fno-omit-frame-pointer -DEXACT_MEMORY

f_policy_sources := $(wildcard policy/*.c)
f_sources_policy := $(f_policy_sources)
f_sources_expr   := $(f_policy_sources)
f_sources_plan   := $(f_policy_sources)
f_sources_elf    := $(f_policy_sources) launcher/target.c launcher/message.c
f_libs_elf       := -lelf
f_headers        := tests/fuzz/fuzz.h $(wildcard policy/*.h policy/*.def launcher/*.h)
f_sanitize       := -fsanitize=address,undefined -fno-sanitize-recover=all

.PHONY: fuzz-programs
fuzz-programs: $(F_NAMES:%=$(F_DIR)/%-replay) $(F_NAMES:%=$(F_DIR)/%)
test-programs: fuzz-programs

# The objects would be of two kinds, so each program is compiled as a whole: they are small.
define f_program
$(F_DIR)/$(1)-replay: tests/fuzz/$(1).c tests/fuzz/replay.c $$(f_sources_$(1)) $$(f_headers)
	@mkdir -p $$(@D)
	$$(call say,FUZZ,$$@)
	$$(Q)$$(CC) $$(F_FLAGS) $$(f_sanitize) -o $$@ $$(filter %.c,$$^) $$(f_libs_$(1)) 2>/dev/null || \
		$$(CC) $$(F_FLAGS) -o $$@ $$(filter %.c,$$^) $$(f_libs_$(1))

$(F_DIR)/$(1): tests/fuzz/$(1).c $$(f_sources_$(1)) $$(f_headers)
	@mkdir -p $$(@D)
	$$(call say,FUZZ,$$@)
	@$$(F_CLANG) $$(F_FLAGS) -fsanitize=fuzzer $$(f_sanitize) -o $$@ $$(filter %.c,$$^) \
		$$(f_libs_$(1)) 2>$$@.log && rm -f $$@.log || { rm -f $$@; echo "fuzz: no libFuzzer here, see $$@.log"; }
endef
$(foreach name,$(F_NAMES),$(eval $(call f_program,$(name))))

# Each target in turn, from the committed seeds; what is found on the way is kept under the build tree.
.PHONY: fuzz-run
fuzz-run: $(F_NAMES:%=$(F_DIR)/%) $(BUILD)/llrun $(BUILD)/libllrun.so
	@mkdir -p $(F_DIR)/found/plan # the plan's text may get fields: one of today's beside the committed seeds
	@$(BUILD)/llrun -q --no-policy -w -c online -m -d -s 'Thread rx-* index=2-5 lib=libc.so*.CPUAffinity=online' \
		env | sed -n 's/^LLRUN_PLAN=.//p' >$(F_DIR)/found/plan/now
	@for name in $(F_NAMES); do \
		mkdir -p $(F_DIR)/found/$$name; \
		echo "fuzz: $$name for $(FUZZ_SECONDS) s"; \
		$(F_DIR)/$$name -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
			-artifact_prefix=$(F_DIR)/$$name- $(F_DIR)/found/$$name tests/fuzz/corpus/$$name 2>$(F_DIR)/$$name.out || \
			{ tail -40 $(F_DIR)/$$name.out; exit 1; }; \
		grep -E 'number_of_executed_units|average_exec_per_sec|peak_rss_mb' $(F_DIR)/$$name.out; \
	done
