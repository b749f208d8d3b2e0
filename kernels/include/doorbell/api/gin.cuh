// The layout of what NCCL's GIN expects of its back end GDAKI (scenario.foreign.GinAdapter): a context with a queue pair
// of GPUNetIO for each peer, and the handle of a window.
#pragma once

#include <nccl.h>

#include <nccl_device.h>

#include <nccl_device/gin/gdaki/gin_gdaki.h>

#include "gpunetio_fields.cuh"
#include "layout.cuh"

#define DOORBELL_GIN_STRUCTURES(X) \
  DOORBELL_GPUNETIO_STRUCTURES(X)  \
  X(ncclGinGdakiGPUContext)        \
  X(ncclGinGdakiMemHandle)

#define DOORBELL_GIN_FIELDS(X)                                     \
  DOORBELL_GPUNETIO_FIELDS(X)                                      \
  X(ncclGinGdakiGPUContext, context_qps, gdqp)                     \
  X(ncclGinGdakiGPUContext, context_companions, companion_gdqp)    \
  X(ncclGinGdakiGPUContext, context_counters, counters_table.buffer) \
  X(ncclGinGdakiGPUContext, context_counter_keys, counters_table.rkeys) \
  X(ncclGinGdakiGPUContext, context_counter_lkey, counters_table.lkey) \
  X(ncclGinGdakiGPUContext, context_counter_offset, counters_table.offset) \
  X(ncclGinGdakiGPUContext, context_signals, signals_table.buffer) \
  X(ncclGinGdakiGPUContext, context_signal_keys, signals_table.rkeys) \
  X(ncclGinGdakiGPUContext, context_signal_lkey, signals_table.lkey) \
  X(ncclGinGdakiGPUContext, context_signal_offset, signals_table.offset) \
  X(ncclGinGdakiGPUContext, context_sink, sink_buffer_lkey)        \
  X(ncclGinGdakiGPUContext, context_issued, last_issued_get)       \
  X(ncclGinGdakiGPUContext, context_visible, last_visible_get)     \
  X(ncclGinGdakiMemHandle, handle_rkeys, rkeys)                    \
  X(ncclGinGdakiMemHandle, handle_lkey, lkey)

DOORBELL_API_TABLE("gin", NCCL_MAJOR << 16 | NCCL_MINOR << 8 | NCCL_PATCH, DOORBELL_GIN_STRUCTURES, DOORBELL_GIN_FIELDS)
