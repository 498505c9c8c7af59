# Machines that nobody has at hand: each function makes the files that topology.c reads below DIR, for LLRUN_SYSROOT=DIR.
#     source tests/topology.bash; fake_smt_adjacent "$BATS_TEST_TMPDIR/root"
# shellcheck shell=bash

# put ROOT/PATH TEXT...: writes a file with a newline at its end, as sysfs does.
put() {
	mkdir -p "${1%/*}"
	printf '%s\n' "${@:2}" >"$1"
}

# fake_cpus DIR PRESENT ONLINE ISOLATED NOHZ_FULL
fake_cpus() {
	local cpu=$1/sys/devices/system/cpu

	put "$cpu/present" "$2"
	put "$cpu/online" "$3"
	put "$cpu/isolated" "$4"
	put "$cpu/nohz_full" "$5"
	mkdir -p "$1/sys/class/net" "$1/sys/fs/cgroup"
}

# fake_cpu DIR CPU SIBLINGS PACKAGE LLC: one CPU's core, package and caches (L1d of the core, L3 of LLC).
fake_cpu() {
	local cpu=$1/sys/devices/system/cpu/cpu$2

	put "$cpu/topology/thread_siblings_list" "$3"
	put "$cpu/topology/physical_package_id" "$4"
	put "$cpu/cache/index0/level" 1
	put "$cpu/cache/index0/shared_cpu_list" "$3"
	put "$cpu/cache/index1/level" 3
	put "$cpu/cache/index1/shared_cpu_list" "$5"
}

# fake_nodes DIR CPULIST...: nodes 0, 1, ... with these CPUs.
fake_nodes() {
	local node=$1/sys/devices/system/node i=0 list

	for list in "${@:2}"; do
		put "$node/node$i/cpulist" "$list"
		i=$((i + 1))
	done
	put "$node/online" "$( ((i > 1)) && echo "0-$((i - 1))" || echo 0)"
}

# fake_nic DIR NAME ADDRESS NODE [BELOW]: a NIC on the PCI device ADDRESS, or on the device BELOW that; links as in sysfs.
fake_nic() {
	local pci=devices/pci0000:00/$3 device

	device=$pci${5:+/$5}
	put "$1/sys/$pci/numa_node" "$4"
	put "$1/sys/$pci/local_cpulist" "$(<"$1/sys/devices/system/cpu/online")"
	mkdir -p "$1/sys/$device/net/$2"
	ln -s ../.. -T "$1/sys/$device/net/$2/device"
	ln -s "../../$device/net/$2" -T "$1/sys/class/net/$2"
}

# fake_virtual DIR NAME [LOWER...]: an interface without a device, such as lo or a bond over others.
fake_virtual() {
	local lower

	mkdir -p "$1/sys/devices/virtual/net/$2"
	for lower in "${@:3}"; do
		ln -s "../../../../class/net/$lower" "$1/sys/devices/virtual/net/$2/lower_$lower"
	done
	ln -s "../../devices/virtual/net/$2" -T "$1/sys/class/net/$2"
}

# 8 CPUs, siblings 2i and 2i+1, two nodes, 4-7 isolated at boot: the guest of check-vm.
fake_smt_adjacent() {
	local i

	fake_cpus "$1" 0-7 0-7 4-7 4-7
	for i in {0..7}; do
		fake_cpu "$1" "$i" "$((i & ~1))-$((i | 1))" $((i / 4)) "$((i / 4 * 4))-$((i / 4 * 4 + 3))"
	done
	fake_nodes "$1" 0-3 4-7
	fake_nic "$1" eth0 0000:00:03.0 1 virtio0
	fake_nic "$1" eth1 0000:00:04.0 -1
	fake_virtual "$1" lo
	fake_virtual "$1" bond0 eth0 eth1
}

# 8 CPUs, siblings i and i+4, one node, nothing isolated, no nohz_full.
fake_smt_split() {
	local i

	fake_cpus "$1" 0-7 0-7 '' '  (null)'
	for i in {0..7}; do
		fake_cpu "$1" "$i" "$((i % 4)),$((i % 4 + 4))" 0 0-7
	done
	fake_nodes "$1" 0-7
	fake_nic "$1" eth0 0000:00:03.0 -1
}

# SMT switched off: the odd CPUs are present and offline, and have no topology/.
fake_offline() {
	local i

	fake_cpus "$1" 0-7 0,2,4,6 '' '  (null)'
	for i in 0 2 4 6; do
		fake_cpu "$1" "$i" "$i" 0 0,2,4,6
	done
	fake_nodes "$1" 0,2,4,6
}

# 2048 CPUs, the upper half isolated, without topology/: each CPU is a core of its own.
fake_big() {
	fake_cpus "$1" 0-2047 0-2047 1024-2047 '  (null)'
	fake_nodes "$1" 0-1023 1024-2047
}

# 8 CPUs of which the cpuset /t allows 2-3; 4-7 isolated at boot, 2 nodes of which it allows node 0.
fake_cpuset() {
	fake_smt_adjacent "$1"
	put "$1/sys/fs/cgroup/cpuset.cpus.effective" 2-3
	put "$1/proc/self/cgroup" 0::/t
	put "$1/proc/self/status" $'Name:\tllrun' $'Mems_allowed:\t00000001' $'Mems_allowed_list:\t0' $'voluntary_ctxt_switches:\t1'
}

# 6-7 isolated by a cgroup v2 partition, as Linux 6.8 and later tell it; nothing isolated at boot.
fake_partition() {
	fake_smt_split "$1"
	put "$1/sys/fs/cgroup/cpuset.cpus.isolated" 6-7
}

# The same as Linux 6.1 tells it, in a hybrid layout: only the partitions say so.  "bad" asked for 4-5 and is invalid.
fake_old_partition() {
	local slice=$1/sys/fs/cgroup/unified/rt.slice

	fake_smt_split "$1"
	put "$1/sys/fs/cgroup/unified/cgroup.controllers" 'cpuset pids'
	put "$slice/cpuset.cpus.partition" member
	put "$slice/good/cpuset.cpus.partition" isolated
	put "$slice/good/cpuset.cpus.effective" 6-7
	put "$slice/bad/cpuset.cpus.partition" 'isolated invalid (Cpu list in cpuset.cpus not exclusive)'
	put "$slice/bad/cpuset.cpus.effective" 4-5
}
