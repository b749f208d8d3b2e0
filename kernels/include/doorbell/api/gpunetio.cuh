// The layout of GPUNetIO's structures.
#pragma once

#include <doca_gpunetio_device.h>

#include "gpunetio_fields.cuh"
#include "layout.cuh"

DOORBELL_API_TABLE("gpunetio", DOCA_GPUNETIO_VERSION, DOORBELL_GPUNETIO_STRUCTURES, DOORBELL_GPUNETIO_FIELDS)
