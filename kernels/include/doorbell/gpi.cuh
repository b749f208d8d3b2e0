// The same operations through NCCL's GPU-Push Interface (DOORBELL_QP_GPI): a thread stores a descriptor of
// 64 bytes into memory of the NIC, which picks the queue pair.
//
// A descriptor has eight segments of eight bytes, each with the owner bit of its lap in bit 0: they may arrive
// in any order, and no doorbell follows. The NIC writes its consumer index and a counter of completions into
// GPU memory; the counter counts in the order of descriptors. Format: NCCL 2.30.7,
// gin_gpi_device_host_common.h.
//
//     63           48 47           32 31    24 23    16 15            1 0
//    +---------------+---------------+--------+--------+--------------+-+
//  0 |    signal     |    counter    |op_flags|   op   |       0      |O|
//  1 |             size              |             pe                 |O|
//  2 |       signal value, low       | target's handle |       0      |O|
//  3 |       signal value, high      | source's handle |       0      |O|
//  4 |                     offset in the target                       |O|
//  5 |                     offset in the source                       |O|
//  6 |      inline data, low         |                0               |O|
//  7 |      inline data, high        |                0               |O|
//    +-------------------------------+--------------------------------+-+
//
// A handle is the index of a memory key here. What the interface lacks is DOORBELL_ERROR_ARGUMENT: immediate
// data, compare-and-swap, inline payloads above 8 bytes, and atomics that fetch: put_signal adds, and its
// `fetched` is left as it was.
#ifndef DOORBELL_GPI_CUH
#define DOORBELL_GPI_CUH

#include "doorbell/command_queue.cuh"
#include "doorbell/completion.cuh"
#include "doorbell/gpi_abi.h"
#include "doorbell/wqe.cuh"

namespace doorbell {

constexpr uint32_t kGpiBytes = 64;
constexpr uint32_t kGpiRead = 0;
constexpr uint32_t kGpiWrite = 1;
constexpr uint32_t kGpiWriteInline = 4;
constexpr uint32_t kGpiAtomicAdd = 7;
constexpr uint32_t kGpiCounted = 0x2;
constexpr uint32_t kGpiWriteback = 0x4;
constexpr uint64_t kGpiCounterMask = (1ull << 56) - 1;
constexpr uint64_t kGpiCounterError = 1ull << 62;

__device__ __forceinline__ const doorbell_gpi *gpi_of(const doorbell_qp *qp) {
  return reinterpret_cast<const doorbell_gpi *>(qp->commands);
}

namespace detail {

__device__ __forceinline__ uint64_t gpi_handle(uint32_t key) {
  return big_endian(key) >> 8 & 0xffffu;
}

// Waits until `count` descriptors are complete.
inline __device__ __noinline__ uint32_t wait_for_gpi(const doorbell_qp *qp, uint64_t count) {
  doorbell_counters *counters = counters_of(qp);
  const uint64_t *counter = reinterpret_cast<const uint64_t *>(gpi_of(qp)->counter);
  deadline limit(qp->deadline_ns);
  for (;;) {
    const uint64_t now = load_acquire_system(counter);
    if ((now & kGpiCounterMask) >= count) {
      return DOORBELL_OK;
    }
    if ((now & kGpiCounterError) != 0) {
      return fail(qp, DOORBELL_ERROR_CQE, 0, count);
    }
    if (limit.due()) {
      if (load_acquire_device(&counters->poison) != 0) {
        return DOORBELL_ERROR_POISONED;
      }
      if (limit.passed()) {
        return fail(qp, DOORBELL_ERROR_DEADLINE, 0, count);
      }
    }
  }
}

__device__ __forceinline__ bool gpi_expresses(const work_request &request, bool adds) {
  switch (request.opcode) {
    case kOpcodeWrite:
      return !request.is_inline() || request.bytes <= 8;
    case kOpcodeRead:
    case kOpcodeNop:
      return true;
    case kOpcodeFetchAdd:
      return adds;
    default:
      return false;
  }
}

inline __device__ __noinline__ posted submit_one_to_gpi(const doorbell_qp *qp,
                                                        work_request request) {
  doorbell_counters *counters = counters_of(qp);
  const doorbell_gpi *gpi = gpi_of(qp);
  const uint64_t depth = 1ull << gpi->log_depth;
  const uint64_t index =
      reserved_index(cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(counters->reserved)
                         .fetch_add(1ull << DOORBELL_RESERVED_SHIFT, cuda::memory_order_relaxed));
  const uint64_t *consumed = reinterpret_cast<const uint64_t *>(gpi->consumed);
  deadline limit(qp->deadline_ns);
  while (index + 1 - load_acquire_system(consumed) > depth) {
    if (limit.due()) {
      if (load_acquire_device(&counters->poison) != 0) {
        return {DOORBELL_ERROR_POISONED, 0};
      }
      if (limit.passed()) {
        return {fail(qp, DOORBELL_ERROR_DEADLINE, 0, index), 0};
      }
    }
  }
  const uint64_t owner = index >> gpi->log_depth & 1;
  const bool inlined = request.is_inline();
  const bool adds = request.opcode == kOpcodeFetchAdd;
  const uint64_t op = adds                            ? kGpiAtomicAdd
                      : inlined                       ? kGpiWriteInline
                      : request.opcode == kOpcodeRead ? kGpiRead
                                                      : kGpiWrite;
  uint64_t data = adds ? request.operand : 0;
  if (inlined) {
    data = inline_word(request.payload, request.bytes, request.local, request.operand,
                       request.compare, 0) |
           static_cast<uint64_t>(inline_word(request.payload, request.bytes, request.local,
                                             request.operand, request.compare, 1))
               << 32;
  }
  const bool from_memory = !inlined && !adds;
  const uint64_t source_handle = from_memory ? gpi_handle(request.local_key) : 0;
  const uint64_t source_offset = from_memory ? request.local : 0;
  const uint64_t at = gpi->ring + (index & (depth - 1)) * kGpiBytes;
  fence(true);  // the payload before the descriptor: it has no doorbell
  store_words(at,
              static_cast<uint64_t>(gpi->counter_id & 0xffffu) << 32 |
                  static_cast<uint64_t>(kGpiCounted | kGpiWriteback) << 24 | op << 16 | owner,
              static_cast<uint64_t>(request.bytes) << 32 |
                  static_cast<uint64_t>(gpi->peer) << 1 | owner);
  store_words(at + 16, gpi_handle(request.remote_key) << 16 | owner, source_handle << 16 | owner);
  store_words(at + 32, request.remote << 1 | owner, source_offset << 1 | owner);
  store_words(at + 48, data << 32 | owner, (data & 0xffffffff00000000ull) | owner);
  return {DOORBELL_OK, index + 1};
}

// Posts one or two requests; one that does nothing takes no descriptor. The second may add.
inline __device__ __noinline__ posted submit_to_gpi(const doorbell_qp *qp, work_request first,
                                                    work_request second, uint32_t count,
                                                    bool adds) {
  if (!gpi_expresses(first, adds && count == 1) || (count == 2 && !gpi_expresses(second, true))) {
    return {DOORBELL_ERROR_ARGUMENT, 0};
  }
  posted last{DOORBELL_OK, reserved_index(load_relaxed_device(&counters_of(qp)->reserved))};
#pragma unroll 1
  for (uint32_t i = 0; i < count && last.status == DOORBELL_OK; ++i) {
    const work_request request = i == 0 ? first : second;
    if (request.opcode != kOpcodeNop) {
      last = submit_one_to_gpi(qp, request);
    }
  }
  return last;
}

}  // namespace detail

}  // namespace doorbell

#endif  // DOORBELL_GPI_CUH
