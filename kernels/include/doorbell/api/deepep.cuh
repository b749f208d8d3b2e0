// The layout of what DeepEP's kernels find NVSHMEM's IBGDA transport by. They have device code of their own
// for it, so NVSHMEM must not be configured to inline all of its own.
#pragma once

#include <nvshmem.h>

#include <device_host_transport/nvshmem_common_ibgda.h>
#include <non_abi/nvshmem_version.h>

#include "layout.cuh"
#include "nvshmem_fields.cuh"

DOORBELL_NVSHMEM_VALUES

#define DOORBELL_DEEPEP_STRUCTURES(X) DOORBELL_NVSHMEM_STRUCTURES(X) DOORBELL_NVSHMEM_TEAM_STRUCTURES(X)

#define DOORBELL_DEEPEP_FIELDS(X) DOORBELL_NVSHMEM_FIELDS(X) DOORBELL_NVSHMEM_TEAM_FIELDS(X)

DOORBELL_API_TABLE("deepep",
                   NVSHMEM_VENDOR_MAJOR_VERSION << 16 | NVSHMEM_VENDOR_MINOR_VERSION << 8 | NVSHMEM_VENDOR_PATCH_VERSION,
                   DOORBELL_DEEPEP_STRUCTURES, DOORBELL_DEEPEP_FIELDS)
