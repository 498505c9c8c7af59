/*
 * target.c - the program, looked at before exec: where it is, which ELF file runs in the end, and whether ld.so will
 * load the shim into it.  The only user of libelf.
 *
 * An executable is hostile input.  It is read, never mapped: a file truncated while mapped kills its reader (SIGBUS).
 * Only the first section of a type is looked at: the gABI allows one, and libelf would copy each of 60000.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "launcher.h"

enum {
	HEAD_SIZE = 256, /* BINPRM_BUF_SIZE: where the kernel looks for #! (128 before Linux 5.1) */
	MAX_SCRIPTS = 5  /* exec_binprm() in fs/exec.c gives ELOOP at the sixth (measured on 6.18) */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * What execve would say to this file: 0 or an errno.  Asked with the effective ids, which execve uses too.  Root needs
 * an x bit as well, though any of the three will do: the kernel answers access(2) by the same rule.
 */
static int execution_error(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

/*
 * The first file on PATH that can be executed, or else the first that is there and cannot be, for the message, or NULL.
 * An empty entry is the current directory, written "./" so that nobody who gets the path searches for it again.
 */
static const char *search_path(const char *program, int *error)
{
	const char *entry = getenv("PATH"), *best = NULL;

	*error = ENOENT;
	for (entry = entry ? entry : "/bin:/usr/bin" /* glibc's confstr(_CS_PATH) */;; entry++) {
		int length = (int)strcspn(entry, ":");
		const char *file = memory_printf("%.*s/%s", length ? length : 1, length ? entry : ".", program);
		int why = execution_error(file);

		if (!why || (!best && why != ENOENT && why != ENOTDIR)) {
			*error = why;
			best = file;
		}
		entry += length;
		if (!why || !*entry)
			return best;
	}
}

/*
 * As execvp(3): a name with a slash is taken as it is, any other is looked for on PATH, past files that may not be
 * executed.  program is kept, not copied.  Errors as of env(1): 127 not there, 126 anything else, with the cause said.
 */
int target_find(struct target *t, const char *program)
{
	int error;

	*t = (struct target){.path = program};
	if (!*program || strchr(program, '/'))
		error = execution_error(program);
	else
		t->path = search_path(program, &error);
	if (!error) {
		t->executable = t->path;
		t->base = t->executable_base = base_name(t->path);
		return 0;
	}
	say("%s: %s",
	    !*program ? "''"
	    : t->path ? t->path
		      : program,
	    !t->path          ? "not found in PATH"
	    : error == EISDIR ? "is a directory"
			      : strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* O_NONBLOCK: a #! line may name a FIFO, and opening that would wait for a writer. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

enum head { UNREADABLE, ELF, OTHER };

/* The start of a file, padded with NULs as the kernel does it, and one NUL more to end it.  fd may be -1: no file. */
static enum head read_head(int fd, char head[HEAD_SIZE + 1])
{
	memset(head, 0, HEAD_SIZE + 1);
	if (fd < 0 || pread(fd, head, HEAD_SIZE, 0) < 0)
		return UNREADABLE;
	return memcmp(head, ELFMAG, SELFMAG) ? OTHER : ELF;
}

/*
 * env(1) executes another program in its own process, so that one is looked at: what it is called, what it takes.  Options
 * other than -S, and assignments, are left to env.  NULL: not found.
 */
static const char *behind_env(const char *arguments)
{
	size_t length;
	int error;

	arguments += strspn(arguments, " \t");
	if (strncmp(arguments, "-S", 2) == 0)
		arguments += 2 + strspn(arguments + 2, " \t");
	length = strcspn(arguments, " \t\n");
	arguments = memory_copy(arguments, length);
	if (!length || *arguments == '-' || strchr(arguments, '='))
		return NULL;
	if (strchr(arguments, '/'))
		return execution_error(arguments) ? NULL : arguments;
	arguments = search_path(arguments, &error);
	return error ? NULL : arguments;
}

/*
 * Who runs a file that is not ELF, by load_script() in fs/binfmt_script.c.  Without #!, with an empty line, or with a
 * name that the buffer's end may have cut, it says ENOEXEC and execvp(3) tries the shell.  binfmt_misc is not asked.
 */
static const char *interpreter(const char *head)
{
	const char *name = head + 2 + strspn(head + 2, " \t"), *path, *behind;
	size_t length = strcspn(name, " \t\n");

	if (head[0] != '#' || head[1] != '!' || !length || name + length == head + HEAD_SIZE)
		return "/bin/sh";
	path = memory_copy(name, length);
	behind = strcmp(base_name(path), "env") == 0 ? behind_env(name + length) : NULL;
	return behind ? behind : path;
}

/* Follows #! lines.  Returns the last file, to be closed, or -1; head is its start. */
static int find_executable(struct target *t, char head[HEAD_SIZE + 1])
{
	int fd = open_regular(t->executable);
	char real[PATH_MAX];

	for (int scripts = 0; read_head(fd, head) == OTHER && scripts < MAX_SCRIPTS; scripts++) {
		close(fd);
		t->script = true;
		t->executable = interpreter(head);
		fd = open_regular(t->executable);
	}
	/* The name that /proc/PID/exe will show. */
	t->executable_base = memory_printf("%s", base_name(realpath(t->executable, real) ? real : t->executable));
	return fd;
}

/* To be ended with elf_end(3), which takes NULL, before fd is closed.  NULL: no ELF file; fd may be -1. */
static Elf *elf_open(int fd)
{
	Elf *elf = NULL;

	elf_version(EV_CURRENT); /* elf_begin fails without */
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf_kind(elf) == ELF_K_ELF) /* ELF_K_NONE if elf is NULL */
		return elf;
	elf_end(elf);
	return NULL;
}

/* 1: the first program header of this type; 0: there is none; -1: cannot be read. */
static int find_segment(Elf *elf, GElf_Word type, GElf_Phdr *header)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) || !n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, header))
			return -1;
		if (header->p_type == type)
			return 1;
	}
	return 0;
}

/* The first section of this type and, unless that is NULL, of this name; or NULL. */
static Elf_Scn *find_section(Elf *elf, GElf_Word type, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	const char *found;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, header) || header->sh_type != type)
			continue;
		found = elf_strptr(elf, names, header->sh_name);
		if (found && (!name || !strcmp(found, name)))
			break;
	}
	return section;
}

/* The string of the first dynamic entry that has this tag and matches, or NULL. */
static const char *dynamic_string(Elf *elf, GElf_Sxword tag, const char *pattern)
{
	GElf_Shdr header = {0};
	Elf_Data *data = elf_getdata(find_section(elf, SHT_DYNAMIC, NULL, &header), NULL);
	const char *text;
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		text = entry.d_tag == tag ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
		if (text && glob_match(pattern, text))
			return memory_copy(text, strlen(text));
	}
	return NULL;
}

/* The first reason stands: they are looked for from the hardest to the easiest to cure. */
static void no_shim(struct target *t, const char *why, const char *cure)
{
	if (!t->no_shim) {
		t->no_shim = why;
		t->no_shim_cure = cure;
	}
}

/* The linker's name for the start of this executable's file.  The shim is built with it, for the same machine. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* ld.so passes over a preload of another class or machine and runs the program without. */
static void check_machine(struct target *t, const char *head)
{
	const size_t machine = offsetof(Elf64_Ehdr, e_machine); /* an Elf32_Ehdr has it in the same place */
	const char *own = __ehdr_start;

	if (head[EI_CLASS] != own[EI_CLASS])
		no_shim(t, own[EI_CLASS] == ELFCLASS64 ? "is a 32-bit program" : "is a 64-bit program",
			"use a build of llrun for its kind");
	else if (head[EI_DATA] != own[EI_DATA] || memcmp(head + machine, own + machine, sizeof(Elf64_Half)))
		no_shim(t, "is built for another processor", "use a build for this one");
}

/* "ld.so PROGRAM" has no PT_INTERP either, but ld.so honours LD_PRELOAD and, unlike a static-pie, has a soname. */
static void check_loader(struct target *t, Elf *elf)
{
	GElf_Phdr header;
	Elf_Data *data;
	int found = find_segment(elf, PT_INTERP, &header);

	if (!found && !dynamic_string(elf, DT_SONAME, "*"))
		no_shim(t, "is statically linked", "link it dynamically");
	if (found != 1 || header.p_filesz > PATH_MAX) /* load_elf_binary() refuses a longer one */
		return;
	data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
	if (data && data->d_buf && memmem(data->d_buf, data->d_size, "ld-musl", 7))
		no_shim(t, "is linked with musl, not glibc", "use a build of it for glibc");
}

/* A set that is all empty (setcap "=") gives nothing.  Inheritable ones count: they may meet the caller's. */
static bool has_capabilities(const char *path)
{
	struct vfs_ns_cap_data caps = {0};
	ssize_t size = getxattr(path, "security.capability", &caps, sizeof(caps));
	uint32_t any = le32toh(caps.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE;

	for (int i = 0; i < VFS_CAP_U32; i++)
		any |= caps.data[i].permitted | caps.data[i].inheritable;
	return size > 0 && any;
}

/*
 * Secure mode, in which ld.so(8) drops the preload without a word: cap_bprm_creds_from_file() in security/commoncap.c
 * sets AT_SECURE if the new effective ids are not the real ones, so set-user-ID to oneself is harmless, or if a real
 * user other than root gains file capabilities.  A nosuid mount turns both off; no_new_privs the mode bits, but it
 * leaves file capabilities secure (measured on 6.18).  Set-group-ID without group-execute gives no group.
 */
static void check_secure_mode(struct target *t)
{
	struct statvfs fs = {0};
	struct stat st;
	bool nosuid, bits, user, group;

	if (stat(t->executable, &st))
		return;
	nosuid = !statvfs(t->executable, &fs) && fs.f_flag & ST_NOSUID;
	bits = !nosuid && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
	user = bits && st.st_mode & S_ISUID;
	group = bits && st.st_mode & S_ISGID && st.st_mode & S_IXGRP;

	if (user && st.st_uid != getuid())
		no_shim(t, "is set-user-ID", memory_printf("start llrun as user %u, or chmod u-s", st.st_uid));
	if (group && st.st_gid != getgid())
		no_shim(t, "is set-group-ID", memory_printf("start llrun as group %u, or chmod g-s", st.st_gid));
	if ((!user && geteuid() != getuid()) || (!group && getegid() != getgid()))
		no_shim(t, "would run with effective ids that are not the real ones", "start llrun with one identity");
	if (!nosuid && getuid() && has_capabilities(t->executable))
		no_shim(t, "has file capabilities",
			"take them away (setcap -r) and give AmbientCapabilities= in the unit, or LimitRTPRIO=");
}

/* ld.so(8): LD_PRELOAD is split at spaces and colons, there is no escape, and $ORIGIN and its like are expanded. */
static void check_shim(struct target *t, const char *shim)
{
	const char *why = NULL, *cure = "install llrun under a path without them";
	struct statvfs fs;

	if (strpbrk(shim, " :")) {
		why = "ld.so splits LD_PRELOAD at spaces and colons";
	} else if (strchr(shim, '$')) {
		why = "ld.so expands $ in LD_PRELOAD";
	} else if (access(shim, R_OK)) {
		why = strerror(errno);
		cure = "install llrun where this user can read it";
	} else if (!statvfs(shim, &fs) && fs.f_flag & ST_NOEXEC) {
		why = "its file system is mounted noexec";
		cure = "install llrun on one that is not";
	}
	if (why)
		no_shim(t, memory_printf("cannot load the shim %s: %s", shim, why), cure);
}

/*
 * Fills the rest of what target_find began.  Never fails: what cannot be read is left as if it were an ordinary dynamic
 * program, and execve will judge; ids, capabilities and the shim are looked at all the same, of the interpreter, for
 * the kernel ignores a script's.  shim is an absolute path, or NULL if there is none: then nothing is said about it.
 */
void target_inspect(struct target *t, const char *shim)
{
	char head[HEAD_SIZE + 1];
	int fd = find_executable(t, head);
	Elf *elf = elf_open(fd);
	GElf_Shdr header;

	if (elf) {
		if (shim)
			check_machine(t, head);
		/* Go's linker writes these sections, for cgo and external linking too, and strip keeps them. */
		t->go = find_section(elf, SHT_PROGBITS, ".go.buildinfo", &header) ||
			find_section(elf, SHT_NOTE, ".note.go.buildid", &header);
		check_loader(t, elf);
		t->sanitizer = dynamic_string(elf, DT_NEEDED, "libasan.so*");
		if (!t->sanitizer)
			t->sanitizer = dynamic_string(elf, DT_NEEDED, "libclang_rt.asan*.so*");
		elf_end(elf);
	}
	if (fd >= 0)
		close(fd);
	check_secure_mode(t);
	if (shim)
		check_shim(t, shim);
}

/* What the symbol table of this type has, counted from base. */
static size_t list_functions(Elf *elf, GElf_Word type, const char *name, uint64_t base, uint64_t *offsets, size_t max)
{
	GElf_Shdr header = {0};
	Elf_Data *data = elf_getdata(find_section(elf, type, NULL, &header), NULL);
	const char *text;
	GElf_Sym symbol;
	size_t n = 0;

	for (int i = 0; data && n < max && gelf_getsym(data, i, &symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_value < base)
			continue;
		text = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (text && !strcmp(text, name))
			offsets[n++] = symbol.st_value - base;
	}
	return n;
}

/*
 * Looks in .symtab, which has all that .dynsym has; *stripped: there is only .dynsym, or the file cannot be read.
 * A function's offset is st_value minus (p_vaddr of the first PT_LOAD, the lowest, rounded down to 4096 whatever the
 * page size).  The shim subtracts, from the start routine's address, dlpi_addr + (the same p_vaddr, rounded alike) of
 * the first entry of dl_iterate_phdr(3), the executable; dlpi_addr is 0 for ET_EXEC and a PIE's load bias.
 */
size_t target_functions(const struct target *t, const char *name, uint64_t *offsets, size_t max, bool *stripped)
{
	int fd = open_regular(t->executable);
	Elf *elf = elf_open(fd);
	GElf_Shdr header;
	GElf_Phdr load;
	size_t n = 0;

	*stripped = !elf || !find_section(elf, SHT_SYMTAB, NULL, &header);
	if (elf && find_segment(elf, PT_LOAD, &load) == 1)
		n = list_functions(elf, *stripped ? SHT_DYNSYM : SHT_SYMTAB, name, load.p_vaddr & ~UINT64_C(4095),
				   offsets, max);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return n;
}
