// The layout of what DeepEP's low-latency kernels find NVSHMEM's IBGDA transport by. They have device code of their own
// for it, so NVSHMEM must not be configured to inline all of its own.
#pragma once

#include <nvshmem.h>

#include <device_host_transport/nvshmem_common_ibgda.h>
#include <non_abi/nvshmem_version.h>

#include "layout.cuh"
#include "nvshmem_fields.cuh"

DOORBELL_API_TABLE("deepep",
                   NVSHMEM_VENDOR_MAJOR_VERSION << 16 | NVSHMEM_VENDOR_MINOR_VERSION << 8 | NVSHMEM_VENDOR_PATCH_VERSION,
                   DOORBELL_NVSHMEM_STRUCTURES, DOORBELL_NVSHMEM_FIELDS)
