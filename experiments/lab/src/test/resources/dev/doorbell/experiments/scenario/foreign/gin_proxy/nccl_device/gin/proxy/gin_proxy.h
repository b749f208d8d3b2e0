// A stand-in for GIN's back end Proxy, for tests: a context with the names that the adapter asks for, in an order of our
// own, and descriptors whose words and operations are numbered otherwise. The bits inside the words are those of the
// library, since no header says them as numbers. Nothing of it is the library's code.
#pragma once

#include <stdint.h>

enum stand_in_operation {
  ncclGinProxyOpFlush = 1,
  ncclGinProxyOpGet = 2,
  ncclGinProxyOpVASignal = 4,
  ncclGinProxyOpWithSignalAdd = 8,
  ncclGinProxyOpWithSignalInc = 16,
  ncclGinProxyOpWithCounter = 32,
  ncclGinProxyOpWithInline = 64,
  ncclGinProxyOpPut = 128,
};

enum stand_in_word {
  ncclGinProxyGfdHeaderExt = 0,
  ncclGinProxyGfdSignalVal = 1,
  ncclGinProxyGfdCompletion = 2,
  ncclGinProxyGfdDstHandle = 3,
  ncclGinProxyGfdDstOff = 4,
  ncclGinProxyGfdSrcHandle = 5,
  ncclGinProxyGfdVASignalHandle = 5,
  ncclGinProxyGfdInlineHigh = 5,
  ncclGinProxyGfdSrcOff = 9,
  ncclGinProxyGfdVASignalOff = 9,
  ncclGinProxyGfdInlineLow = 9,
  ncclGinProxyGfdHeader = 15,
};

struct ncclGinProxyGfd_t {
  uint64_t words[16];
};

struct ncclGinProxyGpuCtx_t {
  uint32_t *lastVisibleGet;
  uint32_t *lastIssuedGet;
  uint64_t added;
  uint64_t *signalOffsets;
  uint64_t *signals;
  uint64_t *counters;
  uint32_t *cis;
  uint32_t *pis;
  ncclGinProxyGfd_t *queues;
  uint32_t queueSize;
  int nranks;
};

struct stand_in_request {
  uint32_t operation;
  uint64_t bytes;
  uint64_t source;        // or the bytes of an inline put, or where the signal is
  uint64_t source_window;
  uint64_t target;
  uint64_t target_window;
  uint32_t counter;
  uint32_t signal;
  uint64_t value;
};

static __device__ void stand_in_flush(ncclGinProxyGpuCtx_t *context, int peer) {
  volatile uint32_t *ended = context->cis + peer;
  while (*ended != context->pis[peer]) {
  }
  __threadfence_system();
}

// One thread asks the CPU for an operation.
static __device__ void stand_in_ask(ncclGinProxyGpuCtx_t *context, int peer, const stand_in_request &request) {
  volatile uint32_t *ended = context->cis + peer;
  const uint32_t index = context->pis[peer]++;
  while (index - *ended >= context->queueSize) {
  }
  uint64_t words[16] = {};
  const bool inlined = request.operation & ncclGinProxyOpWithInline;
  words[ncclGinProxyGfdHeader] = request.bytes << 7 | 2 << 1;
  words[ncclGinProxyGfdHeaderExt] = uint64_t(request.operation) << 8;
  words[ncclGinProxyGfdSrcOff] = inlined ? (request.source & 0xffffffffffffull) << 8 : request.source << 1;
  words[ncclGinProxyGfdSrcHandle] = inlined ? request.source >> 48 << 8 : request.source_window << 1;
  words[ncclGinProxyGfdDstOff] = request.target << 1;
  words[ncclGinProxyGfdDstHandle] = request.target_window << 1;
  words[ncclGinProxyGfdCompletion] =
      (request.value & 0xffff) << 48 | uint64_t(request.signal) << 24 | uint64_t(request.counter) << 1;
  words[ncclGinProxyGfdSignalVal] = request.value >> 32 << 24 | (request.value >> 16 & 0xffff) << 8;
  __threadfence_system();
  volatile uint64_t *to = context->queues[peer * context->queueSize + index % context->queueSize].words;
  for (int i = 0; i < 16; ++i) {
    to[i] = words[i] | 1;
  }
}
