/*
 * Files that describe the devices: programs read /sys/class/infiniband, the device's PCI function and
 * /dev/infiniband by their names; the calls here look for them below the folder "root" of the server. The PCI domain
 * db00 is one that no machine has.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "shim.h"

#define NODE "/dev/infiniband/uverbs"
#define NODE_MAJOR 231 /* Documentation/admin-guide/devices.txt: 231, from 192 on */
#define NODE_MINOR 192
#define UMAD "/dev/infiniband/umad"
#define CM_NODE "/dev/infiniband/rdma_cm"
#define MODULES "/proc/modules"	/* served where kernels of GPUs run; the machine's own otherwise */
#define CM_MAJOR 10 /* of miscellaneous devices, with a minor number that is free */
#define CM_MINOR 58

/* Prefixes of paths; one that ends with '/' or ':' may be continued, the others end a name. */
static const char *const served[] = {
	"/sys/class/infiniband",      "/sys/class/infiniband_verbs",	 "/sys/devices/pcidb00:00",
	"/sys/bus/pci/devices/db00:", "/sys/bus/pci/drivers/mlx5_core", "/dev/infiniband",
	"/sys/class/misc/rdma_cm",    "/sys/module/nvidia_peermem",
	"/sys/class/infiniband_mad",  "/sys/class/pci_bus/db00:",	 MODULES,
};

int shim_node(const char *path)
{
	if (!shim_folder || !path)
		return -1;
	if (!strcmp(path, CM_NODE))
		return SHIM_RDMA_CM;
	if (strncmp(path, NODE, sizeof NODE - 1))
		return -1;
	const char *digits = path + sizeof NODE - 1;
	char *end;
	long number = strtol(digits, &end, 10);
	return *digits >= '0' && *digits <= '9' && !*end && number < 256 ? (int)number : -1;
}

static bool is_served(const char *path)
{
	for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
		size_t length = strlen(served[i]);
		if (!strncmp(path, served[i], length) &&
		    (!path[length] || path[length] == '/' || served[i][length - 1] == ':'))
			return true;
	}
	return false;
}

const char *shim_path(const char *path, char buffer[SHIM_PATH_BYTES])
{
	if (!shim_folder || !path || *path != '/' || !is_served(path))
		return path;
	int length = snprintf(buffer, SHIM_PATH_BYTES, "%s/root%s", shim_folder, path);
	if (length < 0 || length >= SHIM_PATH_BYTES)
		return path;
	return strcmp(path, MODULES) || !syscall(SYS_faccessat, AT_FDCWD, buffer, F_OK) ? buffer : path;
}

const char *shim_open_path(const char *path, char buffer[SHIM_PATH_BYTES])
{
	const char *at = shim_path(path, buffer);
	if (at != path && (strstr(path, "counters/") || strstr(path, "/ports/1/state") || strstr(path, "/phys_state")))
		shim_refresh();
	static bool told;
	if (at != path && !strncmp(path, UMAD, sizeof UMAD - 1) && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		dprintf(STDERR_FILENO,
			"doorbell: %s: management datagrams (umad) are not served: the ports are Ethernet, without a subnet "
			"manager; sysfs has states and counters\n",
			path);
	return at;
}

/* The path that a program knows, of one below the server's folder. */
static char *known_path(char *path)
{
	char root[SHIM_PATH_BYTES];
	NEXT(realpath);
	if (!shim_folder || !path)
		return path;
	int length = snprintf(root, sizeof root, "%s/root", shim_folder);
	if (length > 0 && length < (int)sizeof root) {
		char *resolved = next(root, NULL);
		size_t skip = resolved ? strlen(resolved) : 0;
		if (skip && !strncmp(path, resolved, skip) && path[skip] == '/')
			memmove(path, path + skip, strlen(path + skip) + 1);
		free(resolved);
	}
	return path;
}

/* ------------------------------------------------------------------------------------------------------- status */

static unsigned major_of(int number)
{
	return number == SHIM_RDMA_CM ? CM_MAJOR : NODE_MAJOR;
}

static unsigned minor_of(int number)
{
	return number == SHIM_RDMA_CM ? CM_MINOR : NODE_MINOR + (unsigned)number;
}

static void show_node(struct stat *result, int number)
{
	result->st_mode = S_IFCHR | 0666;
	result->st_rdev = makedev(major_of(number), minor_of(number));
	result->st_size = 0;
	result->st_blocks = 0;
}

/* Returns n of the device node that a path or an open descriptor names, or -1. */
static int node_at(int dir, const char *path, int flags)
{
	if (path && *path)
		return shim_node(path);
	return flags & AT_EMPTY_PATH ? shim_device(dir) : -1;
}

static int status(int dir, const char *path, struct stat *result, int flags)
{
	char buffer[SHIM_PATH_BYTES];
	int error = (int)syscall(SYS_newfstatat, dir, shim_path(path, buffer), result, flags);
	int number = node_at(dir, path, flags);
	if (!error && number >= 0)
		show_node(result, number);
	return error;
}

static int status_of(int fd, struct stat *result)
{
	int error = (int)syscall(SYS_fstat, fd, result), number = shim_device(fd);
	if (!error && number >= 0)
		show_node(result, number);
	return error;
}

/* struct stat64 is struct stat where both have 64 bits; programs of C libraries before 2.33 call the last four. */
#define STATUS(suffix)                                                                                             \
	EXPORT int stat##suffix(const char *restrict path, struct stat##suffix *restrict result)                  \
	{                                                                                                          \
		return status(AT_FDCWD, path, (struct stat *)result, 0);                                           \
	}                                                                                                          \
	EXPORT int lstat##suffix(const char *restrict path, struct stat##suffix *restrict result)                 \
	{                                                                                                          \
		return status(AT_FDCWD, path, (struct stat *)result, AT_SYMLINK_NOFOLLOW);                         \
	}                                                                                                          \
	EXPORT int fstat##suffix(int fd, struct stat##suffix *result)                                             \
	{                                                                                                          \
		return status_of(fd, (struct stat *)result);                                                       \
	}                                                                                                          \
	EXPORT int fstatat##suffix(int dir, const char *restrict path, struct stat##suffix *restrict result,      \
				   int flags)                                                                      \
	{                                                                                                          \
		return status(dir, path, (struct stat *)result, flags);                                            \
	}                                                                                                          \
	EXPORT int __xstat##suffix(int version, const char *path, struct stat##suffix *result)                    \
	{                                                                                                          \
		(void)version;                                                                                     \
		return status(AT_FDCWD, path, (struct stat *)result, 0);                                           \
	}                                                                                                          \
	EXPORT int __lxstat##suffix(int version, const char *path, struct stat##suffix *result)                   \
	{                                                                                                          \
		(void)version;                                                                                     \
		return status(AT_FDCWD, path, (struct stat *)result, AT_SYMLINK_NOFOLLOW);                         \
	}                                                                                                          \
	EXPORT int __fxstat##suffix(int version, int fd, struct stat##suffix *result)                             \
	{                                                                                                          \
		(void)version;                                                                                     \
		return status_of(fd, (struct stat *)result);                                                       \
	}                                                                                                          \
	EXPORT int __fxstatat##suffix(int version, int dir, const char *path, struct stat##suffix *result,        \
				      int flags)                                                                   \
	{                                                                                                          \
		(void)version;                                                                                     \
		return status(dir, path, (struct stat *)result, flags);                                            \
	}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "64-bit files");
STATUS()
STATUS(64)

EXPORT int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict result)
{
	char buffer[SHIM_PATH_BYTES];
	int error = (int)syscall(SYS_statx, dir, shim_path(path, buffer), flags, mask, result);
	int number = node_at(dir, path, flags);
	if (!error && number >= 0) {
		result->stx_mode = S_IFCHR | 0666;
		result->stx_rdev_major = major_of(number);
		result->stx_rdev_minor = minor_of(number);
	}
	return error;
}

EXPORT int access(const char *path, int mode)
{
	char buffer[SHIM_PATH_BYTES];
	return (int)syscall(SYS_faccessat, AT_FDCWD, shim_path(path, buffer), mode);
}

EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	char buffer[SHIM_PATH_BYTES];
	NEXT(faccessat);
	return next(dir, shim_path(path, buffer), mode, flags);
}

/* "ls -l" looks at attributes, too. */
EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t bytes)
{
	char buffer[SHIM_PATH_BYTES];
	return syscall(SYS_getxattr, shim_path(path, buffer), name, value, bytes);
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t bytes)
{
	char buffer[SHIM_PATH_BYTES];
	return syscall(SYS_lgetxattr, shim_path(path, buffer), name, value, bytes);
}

/* ------------------------------------------------------------------------------------------------ links, folders */

EXPORT ssize_t readlink(const char *restrict path, char *restrict to, size_t bytes)
{
	char buffer[SHIM_PATH_BYTES];
	return syscall(SYS_readlinkat, AT_FDCWD, shim_path(path, buffer), to, bytes);
}

EXPORT ssize_t readlinkat(int dir, const char *restrict path, char *restrict to, size_t bytes)
{
	char buffer[SHIM_PATH_BYTES];
	return syscall(SYS_readlinkat, dir, shim_path(path, buffer), to, bytes);
}

/* Called instead by programs compiled with _FORTIFY_SOURCE. */
EXPORT ssize_t __readlink_chk(const char *restrict path, char *restrict to, size_t bytes, size_t room)
{
	if (bytes > room)
		abort();
	return readlink(path, to, bytes);
}

EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
	char buffer[SHIM_PATH_BYTES];
	NEXT(realpath);
	const char *at = shim_path(path, buffer);
	char *result = next(at, resolved);
	return at == path ? result : known_path(result);
}

EXPORT char *__realpath_chk(const char *restrict path, char *restrict resolved, size_t room)
{
	if (room < PATH_MAX)
		abort();
	return realpath(path, resolved);
}

EXPORT char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

EXPORT DIR *opendir(const char *path)
{
	char buffer[SHIM_PATH_BYTES];
	NEXT(opendir);
	return next(shim_path(path, buffer));
}

EXPORT int chdir(const char *path)
{
	char buffer[SHIM_PATH_BYTES];
	return (int)syscall(SYS_chdir, shim_path(path, buffer));
}

EXPORT char *getcwd(char *to, size_t bytes)
{
	NEXT(getcwd);
	return known_path(next(to, bytes));
}

#define SCAN(suffix)                                                                                               \
	EXPORT int scandir##suffix(const char *restrict path, struct dirent##suffix ***restrict names,             \
				   int (*filter)(const struct dirent##suffix *),                                   \
				   int (*order)(const struct dirent##suffix **, const struct dirent##suffix **))   \
	{                                                                                                          \
		char buffer[SHIM_PATH_BYTES];                                                                      \
		NEXT(scandir##suffix);                                                                             \
		return next(shim_path(path, buffer), names, filter, order);                                        \
	}
SCAN()
SCAN(64)

EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
	char buffer[SHIM_PATH_BYTES];
	NEXT(fopen);
	return next(shim_open_path(path, buffer), mode);
}

EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	char buffer[SHIM_PATH_BYTES];
	NEXT(fopen64);
	return next(shim_open_path(path, buffer), mode);
}
