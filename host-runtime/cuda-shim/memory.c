/* Memory of the GPUs, registered memory of the program, and copies between them. */
#define _GNU_SOURCE
#include "core.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096ul
#define PART (32u << 10)
/* Where the server places windows of GPU memory. */
#define GPUS_START (1ul << 45)
#define GPUS_END (3ul << 45)

int doorbell_map(uint64_t address, uint64_t bytes, uint64_t file, uint64_t offset);
void doorbell_unmap(uint64_t address, uint64_t bytes);

/* Pages of the program that kernels reach at another address. */
struct pages {
	uint64_t start, bytes, device;
	unsigned users;
	bool shared; /* they were a file's before */
};

/* A range that the program has registered; several may lie in the same pages. */
struct registration {
	uint64_t start, bytes;
	struct pages *pages;
	struct registration *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registration *registrations;

int doorbell_allocate(enum gpu_memory kind, size_t bytes, void **address)
{
	uint64_t at;
	int error = CALL(GPU_ALLOCATE, &at, 1, (uint64_t)doorbell_device, kind, bytes);
	if (error == OK)
		*address = (void *)at;
	return error;
}

int doorbell_free(void *address)
{
	doorbell_current = true; /* also by cudaFree(0), which programs call for this */
	if (!address)
		return OK;
	int error = CALL(GPU_SYNCHRONIZE, NULL, 0, (uint64_t)doorbell_device, (uint64_t)-1);
	return error != OK ? error : CALL(GPU_FREE, NULL, 0, (uint64_t)address);
}

static struct pages *pages_of(uint64_t start, size_t bytes)
{
	for (struct registration *each = registrations; each; each = each->next) {
		struct pages *in = each->pages;
		if (start >= in->start && bytes <= in->bytes && start - in->start <= in->bytes - bytes)
			return in;
	}
	return NULL;
}

uint64_t doorbell_translate(const void *address, size_t bytes)
{
	const struct doorbell_gpus *gpus;
	uint64_t start = (uint64_t)address;
	if (doorbell_open(&gpus) != OK)
		return 0;
	if (start >= gpus->base && bytes <= gpus->bytes && start - gpus->base <= gpus->bytes - bytes)
		return start;
	pthread_mutex_lock(&lock);
	struct pages *in = pages_of(start, bytes);
	uint64_t translated = in ? in->device + (start - in->start) : 0;
	pthread_mutex_unlock(&lock);
	return translated;
}

/* A mapping of this process, from /proc/self/maps. */
struct mapping {
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	char how[5];
};

static bool mapping_of(uint64_t address, struct mapping *found)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return false;
	char *line = NULL;
	size_t room = 0;
	bool is = false;
	while (!is && getline(&line, &room, maps) > 0)
		is = sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &found->start, &found->end, found->how, &found->offset,
			    &found->major, &found->minor, &found->inode) == 7 &&
		     address >= found->start && address < found->end;
	free(line);
	fclose(maps);
	return is;
}

/* Opens the file of a shared mapping: by its entry in map_files, or as one that the process has open. */
static int open_mapped(const struct mapping *of)
{
	char path[300];
	snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", of->start, of->end);
	int opened = open(path, O_RDWR | O_CLOEXEC);
	if (opened >= 0)
		return opened;
	DIR *files = opendir("/proc/self/fd");
	for (struct dirent *each; files && (each = readdir(files));) {
		struct stat status;
		snprintf(path, sizeof path, "/proc/self/fd/%s", each->d_name);
		if (stat(path, &status) == 0 && status.st_ino == of->inode && !S_ISCHR(status.st_mode)) {
			opened = open(path, O_RDWR | O_CLOEXEC);
			if (opened >= 0)
				break;
		}
	}
	if (files)
		closedir(files);
	return opened;
}

/* Replaces private pages by pages of a new file with the same bytes. */
static int share(uint64_t start, uint64_t bytes)
{
	int file = memfd_create("doorbell-registered", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0)
		return -1;
	for (uint64_t done = 0; done < bytes;) {
		ssize_t written = pwrite(file, (void *)(start + done), bytes - done, (off_t)done);
		if (written <= 0) {
			close(file);
			return -1;
		}
		done += (uint64_t)written;
	}
	if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0 ||
	    mmap((void *)start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
		close(file);
		return -1;
	}
	return file;
}

/* Lets kernels reach whole pages; the program keeps their address. */
static int map_pages(uint64_t start, uint64_t bytes, struct pages *fresh)
{
	struct mapping at;
	if (!mapping_of(start, &at))
		return INVALID_VALUE;
	bool shared = at.how[3] == 's' && at.inode != 0;
	if (shared && at.end - start < bytes)
		return INVALID_VALUE;
	int file = shared ? open_mapped(&at) : share(start, bytes);
	if (file < 0)
		return INVALID_VALUE;
	uint64_t offset = shared ? at.offset + (start - at.start) : 0;
	*fresh = (struct pages){start, bytes, 0, 0, shared};
	int error = CALL(GPU_MAP_FILE, &fresh->device, 1, (uint64_t)doorbell_device, (uint64_t)file, offset, bytes);
	close(file);
	return error;
}

static bool overlaps(uint64_t start, uint64_t bytes)
{
	for (struct registration *each = registrations; each; each = each->next)
		if (start < each->start + each->bytes && each->start < start + bytes)
			return true;
	return false;
}

int doorbell_register(void *address, size_t bytes)
{
	uint64_t start = (uint64_t)address & -PAGE;
	uint64_t end = ((uint64_t)address + bytes + PAGE - 1) & -PAGE;
	if (!bytes)
		return INVALID_VALUE;
	struct registration *fresh = malloc(sizeof *fresh);
	struct pages *pages = NULL;
	pthread_mutex_lock(&lock);
	int error = !fresh ? OUT_OF_MEMORY : overlaps((uint64_t)address, bytes) ? 712 : OK; /* is registered already */
	if (error == OK && !(pages = pages_of(start, end - start))) {
		pages = malloc(sizeof *pages);
		error = pages ? map_pages(start, end - start, pages) : OUT_OF_MEMORY;
		if (error != OK)
			free(pages);
	}
	if (error == OK) {
		pages->users++;
		*fresh = (struct registration){(uint64_t)address, bytes, pages, registrations};
		registrations = fresh;
	} else {
		free(fresh);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/* Gives a range private pages with the same bytes. */
static int make_private(uint64_t start, uint64_t bytes)
{
	void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		return OUT_OF_MEMORY;
	memcpy(fresh, (void *)start, bytes);
	if (mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) != MAP_FAILED)
		return OK;
	munmap(fresh, bytes);
	return INVALID_VALUE;
}

int doorbell_unregister(void *address)
{
	pthread_mutex_lock(&lock);
	struct registration **at = &registrations;
	while (*at && (*at)->start != (uint64_t)address)
		at = &(*at)->next;
	struct registration *gone = *at;
	int error = gone ? OK : 713; /* is not registered */
	if (gone) {
		struct pages *pages = gone->pages;
		*at = gone->next;
		if (--pages->users == 0) {
			error = doorbell_free((void *)pages->device);
			if (error == OK && !pages->shared)
				error = make_private(pages->start, pages->bytes);
			free(pages);
		}
		free(gone);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

static void move_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height)
{
	for (size_t row = 0; row < height; row++)
		memmove(to + row * to_pitch, from + row * from_pitch, width);
}

/* Sends rows of the program's memory as part of the stream: the program may change them at once. */
static int store_rows(uint64_t to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height,
		      uint64_t stream)
{
	int error = OK;
	for (size_t row = 0; row < height; row++) {
		for (size_t done = 0; done < width && error == OK; done += PART) {
			uint64_t in[] = {(uint64_t)doorbell_device, stream, to + row * to_pitch + done};
			size_t part = width - done < PART ? width - done : PART;
			error = doorbell_call(GPU_STORE, in, 3, from + row * from_pitch + done, part, NULL, 0);
		}
	}
	return error;
}

/* False for addresses of GPU memory that the process has not mapped: another program's, say. */
static bool is_own(uint64_t address)
{
	struct mapping unused;
	return address < GPUS_START || address >= GPUS_END || mapping_of(address, &unused);
}

int doorbell_copy2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, void *stream,
	      bool wait)
{
	if (!width || !height)
		return OK;
	if (!to || !from || (height > 1 && (to_pitch < width || from_pitch < width)))
		return INVALID_VALUE;
	int error;
	if (doorbell_copy_captured(to, to_pitch, from, from_pitch, width, height, stream, &error))
		return error;
	uint64_t there = doorbell_translate(to, (height - 1) * to_pitch + width);
	uint64_t here = doorbell_translate(from, (height - 1) * from_pitch + width);
	uint64_t queue = doorbell_stream(stream);
	if (there && here) {
		error = CALL(GPU_COPY, NULL, 0, (uint64_t)doorbell_device, queue, there, to_pitch, here, from_pitch, width,
				height);
		return error == OK && wait ? doorbell_synchronize(stream) : error;
	}
	if (!wait && there) {
		error = CALL(GPU_QUERY, NULL, 0, (uint64_t)doorbell_device, queue);
		if (error == NOT_READY)
			return store_rows(there, to_pitch, from, from_pitch, width, height, queue);
	} else {
		error = doorbell_synchronize(stream);
	}
	if (error == OK && !((there || is_own((uint64_t)to)) && (here || is_own((uint64_t)from))))
		error = INVALID_VALUE;
	if (error == OK)
		move_rows(to, to_pitch, from, from_pitch, width, height);
	return error;
}

int doorbell_copy(void *to, const void *from, size_t bytes, void *stream, bool wait)
{
	return doorbell_copy2d(to, bytes, from, bytes, bytes, 1, stream, wait);
}

int doorbell_fill(void *to, size_t pitch, uint64_t value, size_t element, size_t width, size_t height, void *stream)
{
	if (!width || !height)
		return OK;
	uint64_t at = doorbell_translate(to, (height - 1) * pitch + width * element);
	if (!at)
		return INVALID_VALUE;
	return CALL(GPU_FILL, NULL, 0, (uint64_t)doorbell_device, doorbell_stream(stream), at, height > 1 ? pitch : width * element,
		       value, element, width, height);
}

/* A handle is the key of a block and the offset in it. */
int doorbell_export(const void *address, unsigned char handle[64])
{
	uint64_t out[3];
	int error = CALL(GPU_EXPORT, out, 3, (uint64_t)address);
	memset(handle, 0, 64);
	if (error == OK)
		memcpy(handle, out, 2 * sizeof *out);
	return error;
}

int doorbell_import(const unsigned char handle[64], void **address)
{
	uint64_t key[2], out[4];
	memcpy(key, handle, sizeof key);
	int error = CALL(GPU_IMPORT, out, 4, (uint64_t)doorbell_device, key[0]);
	if (error != OK)
		return error;
	error = doorbell_map(out[0], (out[1] + PAGE - 1) & -PAGE, out[2], out[3]);
	if (error == OK)
		*address = (void *)(out[0] + key[1]);
	return error;
}

int doorbell_export_event(void *event, unsigned char handle[64])
{
	uint64_t key;
	int error = CALL(GPU_EVENT_EXPORT, &key, 1, (uint64_t)event);
	memset(handle, 0, 64);
	if (error == OK)
		memcpy(handle, &key, sizeof key);
	return error;
}

int doorbell_import_event(const unsigned char handle[64], void **event)
{
	uint64_t key;
	memcpy(&key, handle, sizeof key);
	return CALL(GPU_EVENT_IMPORT, (uint64_t *)event, 1, key);
}

int doorbell_close_import(void *address)
{
	uint64_t out[4];
	int error = CALL(GPU_POINTER, out, 4, (uint64_t)address);
	if (error == OK && out[0] != GPU_IMPORTED)
		error = INVALID_VALUE;
	if (error == OK)
		error = doorbell_free((void *)out[2]);
	if (error == OK)
		doorbell_unmap(out[2], (out[3] + PAGE - 1) & -PAGE);
	return error;
}
