// The layout of what NCCL's GIN expects of its back end Proxy (scenario.foreign.GinProxyAdapter): a context with a queue
// of descriptors for each peer. Enumerators are in the table as sizes of fields, each larger by one.
#pragma once

#include <nccl.h>

#include <nccl_device.h>

#include <nccl_device/gin/proxy/gin_proxy.h>

#include "layout.cuh"

struct doorbell_gin_descriptor {
  char header[1 + ncclGinProxyGfdHeader];
  char kind[1 + ncclGinProxyGfdHeaderExt];
  char inline_low[1 + ncclGinProxyGfdInlineLow];
  char inline_high[1 + ncclGinProxyGfdInlineHigh];
  char source[1 + ncclGinProxyGfdSrcOff];
  char source_window[1 + ncclGinProxyGfdSrcHandle];
  char signal[1 + ncclGinProxyGfdVASignalOff];
  char signal_window[1 + ncclGinProxyGfdVASignalHandle];
  char target[1 + ncclGinProxyGfdDstOff];
  char target_window[1 + ncclGinProxyGfdDstHandle];
  char completion[1 + ncclGinProxyGfdCompletion];
  char value[1 + ncclGinProxyGfdSignalVal];
};

struct doorbell_gin_operation {
  char put[1 + ncclGinProxyOpPut];
  char inlined[1 + ncclGinProxyOpWithInline];
  char counter[1 + ncclGinProxyOpWithCounter];
  char increment[1 + ncclGinProxyOpWithSignalInc];
  char add[1 + ncclGinProxyOpWithSignalAdd];
  char signal_alone[1 + ncclGinProxyOpVASignal];
  char get[1 + ncclGinProxyOpGet];
  char flush[1 + ncclGinProxyOpFlush];
};

#define DOORBELL_GIN_PROXY_STRUCTURES(X) \
  X(ncclGinProxyGpuCtx_t)                \
  X(ncclGinProxyGfd_t)                   \
  X(doorbell_gin_descriptor)             \
  X(doorbell_gin_operation)

#define DOORBELL_GIN_PROXY_FIELDS(X)                           \
  X(ncclGinProxyGpuCtx_t, context_ranks, nranks)               \
  X(ncclGinProxyGpuCtx_t, context_entries, queueSize)          \
  X(ncclGinProxyGpuCtx_t, context_queues, queues)              \
  X(ncclGinProxyGpuCtx_t, context_posted, pis)                 \
  X(ncclGinProxyGpuCtx_t, context_ended, cis)                  \
  X(ncclGinProxyGpuCtx_t, context_counters, counters)          \
  X(ncclGinProxyGpuCtx_t, context_signals, signals)            \
  X(ncclGinProxyGpuCtx_t, context_signal_offsets, signalOffsets) \
  X(ncclGinProxyGpuCtx_t, context_issued, lastIssuedGet)       \
  X(ncclGinProxyGpuCtx_t, context_visible, lastVisibleGet)     \
  X(doorbell_gin_descriptor, word_header, header)              \
  X(doorbell_gin_descriptor, word_kind, kind)                  \
  X(doorbell_gin_descriptor, word_inline_low, inline_low)      \
  X(doorbell_gin_descriptor, word_inline_high, inline_high)    \
  X(doorbell_gin_descriptor, word_source, source)              \
  X(doorbell_gin_descriptor, word_source_window, source_window) \
  X(doorbell_gin_descriptor, word_signal, signal)              \
  X(doorbell_gin_descriptor, word_signal_window, signal_window) \
  X(doorbell_gin_descriptor, word_target, target)              \
  X(doorbell_gin_descriptor, word_target_window, target_window) \
  X(doorbell_gin_descriptor, word_completion, completion)      \
  X(doorbell_gin_descriptor, word_value, value)                \
  X(doorbell_gin_operation, bit_put, put)                      \
  X(doorbell_gin_operation, bit_inline, inlined)               \
  X(doorbell_gin_operation, bit_counter, counter)              \
  X(doorbell_gin_operation, bit_increment, increment)          \
  X(doorbell_gin_operation, bit_add, add)                      \
  X(doorbell_gin_operation, bit_signal_alone, signal_alone)    \
  X(doorbell_gin_operation, bit_get, get)                      \
  X(doorbell_gin_operation, bit_flush, flush)

DOORBELL_API_TABLE("gin_proxy", NCCL_MAJOR << 16 | NCCL_MINOR << 8 | NCCL_PATCH, DOORBELL_GIN_PROXY_STRUCTURES,
                   DOORBELL_GIN_PROXY_FIELDS)
