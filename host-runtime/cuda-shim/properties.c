/* Properties of the emulated GPUs, and the names of errors. */
#include "core.h"
#include <stdio.h>
#include <string.h>

/* CU_DEVICE_ATTRIBUTE_* that are not 0 and the same for every emulated GPU. */
static const struct {
	int attribute, value;
} attributes[] = {
	{2, 1024},	  {3, 1024},	 {4, 64},	{5, 2147483647}, {6, 65535},   {7, 65535},  {8, 49152},
	{9, 65536},	  {10, 32},	 {11, 2147483647}, {12, 65536},	 {13, 1000000}, {14, 512},  {15, 1},
	{19, 1},	  {30, 512},	 {31, 1},	{36, 1000000},	 {37, 5120},   {38, 52428800}, {39, 2048},
	{40, 3},	  {41, 1},	 {51, 32},	{78, 1},	 {79, 1},      {80, 1},	    {82, 65536},
	{83, 1},	  {87, 2},	 {89, 1},	{90, 1},	 {92, 1},      {93, 1},	    {94, 1},
	{95, 1},	  {98, 1},	 {99, 1},	{111, 1024},	 {115, 1},     {116, 1},    {117, 1},
	{102, 1},	  {103, 1},	 {110, 1},	{118, 200},	  {122, 1},	 {123, 1},	{124, 1},	{126, 4},	 {134, -1},
};

enum { THREADS = 1, SMS = 16, BUS = 33, DEVICE = 34, DOMAIN = 50, MAJOR = 75, MINOR = 76, SHARED_SM = 81, SHARED_BLOCK = 97,
       BLOCKS_SM = 106 };

static int bus_of(int device)
{
	return 0x10 + device;
}

int doorbell_attribute(int *value, int attribute, int device)
{
	const struct doorbell_gpus *gpus;
	int error = doorbell_open(&gpus);
	if (error != OK)
		return error;
	if (device < 0 || device >= (int)gpus->count)
		return INVALID_DEVICE;
	switch (attribute) {
	case THREADS: *value = (int)gpus->threads; return OK;
	case SMS: *value = (int)gpus->multiprocessors; return OK;
	case BUS: *value = bus_of(device); return OK;
	case DEVICE: *value = 0; return OK;
	case DOMAIN: *value = PCI_DOMAIN; return OK;
	case MAJOR: *value = (int)gpus->capability / 10; return OK;
	case MINOR: *value = (int)gpus->capability % 10; return OK;
	case SHARED_SM: *value = (int)gpus->shared + 1024; return OK;
	case SHARED_BLOCK: *value = (int)gpus->shared; return OK;
	case BLOCKS_SM: *value = (int)(gpus->blocks / gpus->multiprocessors); return OK;
	default: break;
	}
	*value = 0;
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].attribute == attribute)
			*value = attributes[i].value;
	return attribute > 0 && attribute < 200 ? OK : INVALID_VALUE;
}

int doorbell_bus_id(char *text, int length, int device)
{
	return snprintf(text, (size_t)length, "%04X:%02X:00.0", PCI_DOMAIN, bus_of(device)) < length ? OK : INVALID_VALUE;
}

int doorbell_by_bus_id(int *device, const char *text)
{
	const struct doorbell_gpus *gpus;
	int error = doorbell_open(&gpus);
	unsigned domain, bus, slot;
	if (error != OK)
		return error;
	if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 &&
	    (domain = PCI_DOMAIN, sscanf(text, "%x:%x", &bus, &slot) != 2))
		return INVALID_VALUE;
	for (int i = 0; i < (int)gpus->count; i++) {
		if (domain == PCI_DOMAIN && bus == (unsigned)bus_of(i)) {
			*device = i;
			return OK;
		}
	}
	return INVALID_DEVICE;
}

static const struct {
	int error;
	const char *name, *text;
} errors[] = {
	{0, "Success", "no error"},
	{1, "InvalidValue", "invalid argument"},
	{2, "MemoryAllocation", "out of memory"},
	{3, "InitializationError", "initialization error"},
	{9, "InvalidConfiguration", "invalid configuration argument"},
	{13, "InvalidSymbol", "invalid device symbol"},
	{17, "InvalidDevicePointer", "invalid device pointer"},
	{21, "InvalidMemcpyDirection", "invalid copy direction for memcpy"},
	{98, "InvalidDeviceFunction", "invalid device function"},
	{100, "NoDevice", "no CUDA-capable device is detected"},
	{101, "InvalidDevice", "invalid device ordinal"},
	{201, "DeviceUninitialized", "invalid device context"},
	{209, "NoKernelImageForDevice", "no kernel image is available for execution on the device"},
	{218, "InvalidPtx", "a PTX JIT compilation failed"},
	{400, "InvalidResourceHandle", "invalid resource handle"},
	{401, "IllegalState", "the operation cannot be performed in the present state"},
	{500, "SymbolNotFound", "named symbol not found"},
	{600, "NotReady", "device not ready"},
	{700, "IllegalAddress", "an illegal memory access was encountered"},
	{702, "LaunchTimeout", "the launch timed out and was terminated"},
	{704, "PeerAccessAlreadyEnabled", "peer access is already enabled"},
	{705, "PeerAccessNotEnabled", "peer access has not been enabled"},
	{710, "Assert", "device-side assert triggered"},
	{712, "HostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
	{713, "HostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
	{716, "MisalignedAddress", "misaligned address"},
	{719, "LaunchFailure", "unspecified launch failure"},
	{801, "NotSupported", "operation not supported"},
	{900, "StreamCaptureUnsupported", "operation not permitted when stream is capturing"},
	{901, "StreamCaptureInvalidated", "operation failed due to a previous error during capture"},
	{903, "StreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
	{906, "StreamCaptureImplicit", "operation would make the default stream depend on a capturing stream"},
	{905, "StreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
};

const char *doorbell_error_name(int error)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error)
			return errors[i].name;
	return "Unknown";
}

const char *doorbell_error_text(int error)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error)
			return errors[i].text;
	return "unknown error";
}
