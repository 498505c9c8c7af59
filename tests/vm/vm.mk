# The guest with isolated CPUs: its kernel, below $(BUILD)/vm, and what only runs in it.  Included by GNUmakefile.
VM_KERNEL ?= linux-image-6.12-amd64
VM_DIR := $(BUILD)/vm/$(VM_KERNEL)
TESTS_VM := $(T_DIR)/spin $(VM_DIR)/vmlinux

$(T_DIR)/spin: tests/vm/spin.c tests/programs/show.h | $(T_DIR)
	$(CC) $(TEST_CFLAGS) -pthread -o $@ $<

# Where it cannot be had the tests say why, and are skipped.
$(VM_DIR)/vmlinux: tests/vm/getkernel
	$(call say,FETCH,$(VM_KERNEL))
	$(Q)mkdir -p $(@D) && tests/vm/getkernel '$(VM_KERNEL)' $(@D) 2>$(@D)/why && rm -f $(@D)/why || cat $(@D)/why
