# What the tests run (programs/) and look with (observers/), built into $(BUILD)/tests.  Included by GNUmakefile after it
# has set BUILD; `make test-programs` makes them all.  Their flags are their own: SAN= and the shim's flags are not theirs.
TEST_CFLAGS ?= -std=gnu11 -O1 -g -Wall -Wextra
T_DIR := $(BUILD)/tests
T_C := $(filter-out ctorlib omp,$(basename $(notdir $(wildcard tests/programs/*.c tests/observers/*.c))))
T_REQUIRED := $(T_C:%=$(T_DIR)/%) $(T_DIR)/ctorlib.so
# Made where the compiler for them is; a test that wants one says `need_program NAME` and is skipped without.
T_OPTIONAL := $(addprefix $(T_DIR)/,cxx omp golang golang-cgo Hello.class threads-static threads-static-pie threads-m32 \
	threads-musl threads-asan threads-tsan threads-ubsan)

.PHONY: test-programs
test-programs: $(T_REQUIRED) $(T_OPTIONAL)

$(T_DIR)/%: tests/programs/%.c | $(T_DIR)
	$(CC) $(TEST_CFLAGS) -MMD -pthread -o $@ $<
$(T_DIR)/%: tests/observers/%.c | $(T_DIR)
	$(CC) $(TEST_CFLAGS) -MMD -pthread -o $@ $<
$(T_DIR)/ctorlib.so: tests/programs/ctorlib.c | $(T_DIR)
	$(CC) $(TEST_CFLAGS) -MMD -pthread -fPIC -shared -Wl,-soname,ctorlib.so -o $@ $<
$(T_DIR)/ctormain: tests/programs/ctormain.c $(T_DIR)/ctorlib.so
	$(CC) $(TEST_CFLAGS) -MMD -pthread -o $@ $< $(T_DIR)/ctorlib.so -Wl,-rpath,'$$ORIGIN'
$(T_DIR):
	mkdir -p $@

t_optional = $(1) 2>$@.log && rm -f $@.log || echo "tests: no $(@F) here, see $@.log"
$(T_DIR)/cxx: tests/programs/cxx.cc tests/programs/show.h | $(T_DIR)
	@$(call t_optional,$(CXX) -O1 -g -Wall -Wextra -pthread -o $@ $<)
$(T_DIR)/omp: tests/programs/omp.c tests/programs/show.h | $(T_DIR)
	@$(call t_optional,$(CC) $(TEST_CFLAGS) -fopenmp -o $@ $<)
$(T_DIR)/golang: tests/programs/golang/main.go | $(T_DIR)
	@$(call t_optional,CGO_ENABLED=0 go build -o $@ $<)
$(T_DIR)/golang-cgo: tests/programs/golang/main.go | $(T_DIR)
	@$(call t_optional,CGO_ENABLED=1 go build -tags netcgo -o $@ $<)
$(T_DIR)/Hello.class: tests/programs/Hello.java | $(T_DIR)
	@$(call t_optional,javac -d $(@D) $<)

# Builds that the shim cannot enter, or that want their own library first.
t_variant_static := -static
t_variant_static-pie := -static-pie
t_variant_m32 := -m32
t_variant_asan := -fsanitize=address
t_variant_tsan := -fsanitize=thread
t_variant_ubsan := -fsanitize=undefined
$(T_DIR)/threads-musl: tests/programs/threads.c tests/programs/show.h | $(T_DIR)
	@$(call t_optional,musl-gcc $(TEST_CFLAGS) -o $@ $<)
$(T_DIR)/threads-%: tests/programs/threads.c tests/programs/show.h | $(T_DIR)
	@$(call t_optional,$(CC) $(TEST_CFLAGS) -pthread $(t_variant_$*) -o $@ $<)

-include $(wildcard $(T_DIR)/*.d)

# tests/compat: others' test suites, bare and under llrun.
$(T_DIR)/wrong.so: tests/compat/wrong.c | $(T_DIR)
	$(CC) $(TEST_CFLAGS) -D_GNU_SOURCE -Wno-nonnull -fPIC -shared -o $@ $<
