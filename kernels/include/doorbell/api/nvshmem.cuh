// The layout of NVSHMEM's IBGDA transport. The library's generated headers are those of the user's build of it.
#pragma once

#include "device/nvshmem_device_macros.h"

#include "non_abi/device/pt-to-pt/ibgda_device.cuh"
#include "non_abi/nvshmem_version.h"

#include "layout.cuh"
#include "nvshmem_fields.cuh"

DOORBELL_NVSHMEM_VALUES

#define DOORBELL_NVSHMEM_ALL_STRUCTURES(X) DOORBELL_NVSHMEM_STRUCTURES(X) DOORBELL_NVSHMEM_TEAM_STRUCTURES(X)

#define DOORBELL_NVSHMEM_ALL_FIELDS(X) DOORBELL_NVSHMEM_FIELDS(X) DOORBELL_NVSHMEM_TEAM_FIELDS(X)

DOORBELL_API_TABLE("nvshmem",
                   NVSHMEM_VENDOR_MAJOR_VERSION << 16 | NVSHMEM_VENDOR_MINOR_VERSION << 8 | NVSHMEM_VENDOR_PATCH_VERSION,
                   DOORBELL_NVSHMEM_ALL_STRUCTURES, DOORBELL_NVSHMEM_ALL_FIELDS)
