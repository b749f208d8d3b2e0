/* libnvidia-ml.so.1: the few functions that communication libraries ask for to know where GPUs are. */
#include "core.h"
#include <stdio.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { NVML_INVALID = 2, NVML_NOT_SUPPORTED = 3, NVML_NOT_FOUND = 6, NVML_DRIVER = 9 };

static int handle(int device, void **found)
{
	int value;
	*found = (void *)(uint64_t)(device + 1);
	return doorbell_attribute(&value, 1, device) == OK ? 0 : NVML_INVALID;
}

static int device_of(const void *found)
{
	return (int)(uint64_t)found - 1;
}

API int nvmlInit_v2(void)
{
	const struct doorbell_gpus *gpus;
	return doorbell_open(&gpus) == OK ? 0 : NVML_DRIVER;
}

API int nvmlInit(void)
{
	return nvmlInit_v2();
}

API int nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return nvmlInit_v2();
}

API int nvmlShutdown(void)
{
	return 0;
}

API const char *nvmlErrorString(int error)
{
	return error == 0 ? "Success" : error == NVML_NOT_SUPPORTED ? "Not Supported" : "Error";
}

API int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
	snprintf(text, length, "580.65.06");
	return 0;
}

API int nvmlSystemGetCudaDriverVersion(int *version)
{
	*version = 13000;
	return 0;
}

API int nvmlDeviceGetCount_v2(unsigned *count)
{
	const struct doorbell_gpus *gpus;
	*count = doorbell_open(&gpus) == 0 ? (unsigned)gpus->count : 0;
	return 0;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	return handle((int)index, device);
}

API int nvmlDeviceGetHandleByPciBusId_v2(const char *text, void **device)
{
	int index;
	return doorbell_by_bus_id(&index, text) == OK ? handle(index, device) : NVML_NOT_FOUND;
}

API int nvmlDeviceGetIndex(const void *device, unsigned *index)
{
	*index = (unsigned)device_of(device);
	return 0;
}

API int nvmlDeviceGetName(const void *device, char *name, unsigned length)
{
	(void)device;
	snprintf(name, length, "Doorbell PTX VM");
	return 0;
}

API int nvmlDeviceGetUUID(const void *device, char *text, unsigned length)
{
	snprintf(text, length, "GPU-646f6f72-6265-6c6c-2d70-74782d6770%02x", (unsigned)device_of(device));
	return 0;
}

struct pci_info {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char text[32];
};

/* NCCL 2.30 has a structure that ends 16 bytes earlier: no byte is written behind the end of the last text. */
API int nvmlDeviceGetPciInfo_v3(const void *device, struct pci_info *info)
{
	int bus = 0;
	doorbell_attribute(&bus, 33, device_of(device));
	info->bus = (unsigned)bus;
	info->device = 0;
	info->id = 0x233010de;
	info->subsystem = 0x16c110de;
	info->domain = PCI_DOMAIN;
	snprintf(info->legacy, sizeof info->legacy, "%04X:%02X:00.0", info->domain, info->bus);
	snprintf(info->text, sizeof info->text, "%08X:%02X:00.0", info->domain, info->bus);
	return 0;
}

API int nvmlDeviceGetCudaComputeCapability(const void *device, int *major, int *minor)
{
	doorbell_attribute(major, 75, device_of(device));
	doorbell_attribute(minor, 76, device_of(device));
	return 0;
}

API int nvmlDeviceGetMaxPcieLinkWidth(const void *device, unsigned *width)
{
	(void)device;
	*width = 16;
	return 0;
}

API int nvmlDeviceGetMaxPcieLinkGeneration(const void *device, unsigned *generation)
{
	(void)device;
	*generation = 5;
	return 0;
}

API int nvmlDeviceGetPcieLinkMaxSpeed(const void *device, unsigned *megabytes)
{
	(void)device;
	*megabytes = 32000;
	return 0;
}

/* There is no NVLink between emulated GPUs: they are on PCIe. */
API int nvmlDeviceGetNvLinkState(const void *device, unsigned link, unsigned *active)
{
	(void)device, (void)link;
	*active = 0;
	return NVML_NOT_SUPPORTED;
}

API int nvmlDeviceGetNvLinkRemotePciInfo_v2(const void *device, unsigned link, struct pci_info *info)
{
	(void)device, (void)link, (void)info;
	return NVML_NOT_SUPPORTED;
}

API int nvmlDeviceGetNvLinkCapability(const void *device, unsigned link, int capability, unsigned *value)
{
	(void)device, (void)link, (void)capability;
	*value = 0;
	return NVML_NOT_SUPPORTED;
}

API int nvmlDeviceGetP2PStatus(const void *from, const void *to, int index, int *status)
{
	(void)from, (void)to, (void)index;
	*status = 0;
	return 0;
}

struct field_value {
	unsigned field, scope;
	long long when, micros;
	int type, status;
	uint64_t value;
};

API int nvmlDeviceGetFieldValues(const void *device, int count, struct field_value *values)
{
	(void)device;
	for (int i = 0; i < count; i++)
		values[i].status = NVML_NOT_SUPPORTED;
	return 0;
}

API int nvmlDeviceGetGpuFabricInfoV(const void *device, void *info)
{
	(void)device, (void)info;
	return NVML_NOT_SUPPORTED;
}

struct confidential_settings {
	unsigned version, environment, feature, development, multi_gpu;
};

API int nvmlSystemGetConfComputeSettings(struct confidential_settings *settings)
{
	*settings = (struct confidential_settings){.version = settings->version};
	return 0;
}

/* Earlier names of the same. */
#define ALIAS(name, of) __typeof__(of) name __attribute__((alias(#of), visibility("default")))
ALIAS(nvmlDeviceGetCount, nvmlDeviceGetCount_v2);
ALIAS(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2);
ALIAS(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2);
ALIAS(nvmlDeviceGetNvLinkRemotePciInfo, nvmlDeviceGetNvLinkRemotePciInfo_v2);
ALIAS(nvmlDeviceGetCurrPcieLinkWidth, nvmlDeviceGetMaxPcieLinkWidth);
ALIAS(nvmlDeviceGetCurrPcieLinkGeneration, nvmlDeviceGetMaxPcieLinkGeneration);
