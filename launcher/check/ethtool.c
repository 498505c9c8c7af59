/* ethtool.c owns what is asked of a network driver: only SIOCETHTOOL commands that get, all of whose answers are 32-bit
 * numbers. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "check.h"

static const struct {
	const char *name;
	uint32_t command;
} commands[] = {
	{"coalesce", ETHTOOL_GCOALESCE}, {"channels", ETHTOOL_GCHANNELS}, {"rings", ETHTOOL_GRINGPARAM},
	{"pause", ETHTOOL_GPAUSEPARAM},  {"flags", ETHTOOL_GFLAGS},       {"eee", ETHTOOL_GEEE},
};

/* A fake machine has no drivers: their answers stand in files, as decimal numbers. */
static bool from_file(struct check *c, const char *interface, const char *name, uint32_t *numbers, size_t n)
{
	struct answer unused = {0};
	const char *text = read_text(c, &unused, "/ethtool/%s/%s", interface, name);
	char *end;

	if (!text) {
		errno = errno == ENOENT ? EOPNOTSUPP : errno;
		return false;
	}
	for (size_t i = 1; i < n; i++, text = end) {
		numbers[i] = (uint32_t)strtoul(text, &end, 10);
		if (end == text)
			break;
	}
	return true;
}

bool ethtool(struct check *c, const char *interface, const char *name, void *numbers, size_t n)
{
	struct ifreq request = {.ifr_data = numbers};
	size_t i = 0;
	int fd, result;

	memset(numbers, 0, n * sizeof(uint32_t));
	while (strcmp(commands[i].name, name) != 0)
		i++;
	*(uint32_t *)numbers = commands[i].command;
	if (*c->t->root)
		return from_file(c, interface, name, numbers, n);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	result = ioctl(fd, SIOCETHTOOL, &request);
	close(fd);
	return result == 0;
}
