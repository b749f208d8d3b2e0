// The same operations on queue pairs of the Elastic Fabric Adapter (DOORBELL_QP_EFA): reliable, in no order.
//
// A work request has 128 bytes and lies in memory of the adapter, where threads store it in 16-byte stores
// that may be combined. A 32-bit doorbell carries the count of requests; a fence stands between. Completions
// come in any order and name the request's slot; whoever polls marks the slot, and `completed` moves over what
// is marked without a gap. Formats: rdma-core, providers/efa/efa_io_defs.h.
//
//       31            24 23            16 15                            0
//      +----------------+----------------+--------------------------------+
//      |     ctrl2      |     ctrl1      |            req_id              |  0
//      |            length               |          dest_qp_num           |  4
//      |                         immediate_data                           |  8
//      |    reserved    |     ctrl3      |              ah                | 12
//      |                              qkey                                | 16
//      |                        12 bytes of zero                          | 20
//      |          remote length | rkey | remote address                    | 32
//      |   local length | lkey | local address,  or 80 inline bytes       | 48
//      +------------------------------------------------------------------+
//
// What EFA lacks is DOORBELL_ERROR_ARGUMENT: atomics, and so put_signal. signal() waits for the data's
// completion. Posters ring in the order of their slots, each for its own requests: at most two, which is below
// every adapter's maximum batch.
#ifndef DOORBELL_EFA_CUH
#define DOORBELL_EFA_CUH

#include "doorbell/completion.cuh"
#include "doorbell/efa_abi.h"
#include "doorbell/wqe.cuh"

namespace doorbell {

constexpr uint32_t kEfaWqeBytes = 128;
constexpr uint32_t kEfaCqeBytes = 32;
constexpr uint32_t kEfaMaxInline = 80;
constexpr uint32_t kEfaRead = 1;
constexpr uint32_t kEfaWrite = 2;

__device__ __forceinline__ const doorbell_efa *efa_of(const doorbell_qp *qp) {
  return reinterpret_cast<const doorbell_efa *>(qp->commands);
}

// Good completions so far, over the counter's wrap: right as long as there are fewer than its range.
__device__ __forceinline__ uint64_t efa_completions(const doorbell_qp *qp) {
  const doorbell_efa *efa = efa_of(qp);
  const uint64_t now = load_acquire_system(reinterpret_cast<const uint64_t *>(efa->completed));
  return now >= efa->counter_start ? now - efa->counter_start
                                   : now + (efa->counter_max - efa->counter_start) + 1;
}

namespace detail {

__device__ __forceinline__ uint64_t posted_to(const doorbell_counters *counters) {
  return reserved_index(load_relaxed_device(&counters->reserved));
}

__device__ __forceinline__ uint64_t *efa_mark(const doorbell_qp *qp, uint64_t index) {
  return reinterpret_cast<uint64_t *>(counters_of(qp) + 1) + (index & (qp->sq_blocks - 1));
}

// A store of four bytes to a register.
__device__ __forceinline__ void store_register_word(uint64_t address, uint32_t value) {
  asm volatile("st.mmio.relaxed.sys.global.b32 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(reinterpret_cast<void *>(address))), "r"(value)
               : "memory");
}

// Takes the completions that are there. One thread does; others return at once.
inline __device__ __noinline__ uint32_t efa_progress(const doorbell_qp *qp) {
  doorbell_counters *counters = counters_of(qp);
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> turn(counters->poller);
  if (turn.load(cuda::memory_order_relaxed) != 0 ||
      turn.exchange(1, cuda::memory_order_acquire) != 0) {
    __nanosleep(64);
    return DOORBELL_OK;
  }
  uint32_t status = DOORBELL_OK;
  uint64_t index = load_relaxed_device(&counters->cq_index);
  const uint64_t before = index;
#pragma unroll 1
  for (uint32_t looks = 0; looks < qp->cq_entries && status == DOORBELL_OK; ++looks) {
    const uint64_t entry = qp->cq_ring + (index & (qp->cq_entries - 1)) * kEfaCqeBytes;
    const uint32_t word = load_acquire_system(reinterpret_cast<const uint32_t *>(entry));
    const bool phase = (word >> 24 & 1) != 0;
    if (phase != ((index & qp->cq_entries) == 0)) {
      break;
    }
    ++index;
    if ((word >> 16 & 0xff) != 0) {
      doorbell_error *error = reinterpret_cast<doorbell_error *>(qp->error);
      error->syndrome = word >> 16 & 0xff;
      error->wqe_index = word & 0xffff;
      status = fail(qp, DOORBELL_ERROR_CQE, 0, word & 0xffff);
    } else {
      store_relaxed_device(efa_mark(qp, word & 0xffff), 1);
    }
  }
  if (index != before) {
    const uint64_t end = posted_to(counters);
    uint64_t completed = load_relaxed_device(&counters->completed);
    while (completed < end && load_relaxed_device(efa_mark(qp, completed)) == 1) {
      store_relaxed_device(efa_mark(qp, completed), 0);
      ++completed;
    }
    store_relaxed_device(&counters->cq_index, index);
    store_release_device(&counters->completed, completed);
  }
  turn.store(0, cuda::memory_order_release);
  return status;
}

// Waits until everything below `index` is done.
inline __device__ __noinline__ uint32_t wait_for_efa(const doorbell_qp *qp, uint64_t index) {
  doorbell_counters *counters = counters_of(qp);
  deadline limit(qp->deadline_ns);
  for (;;) {
    if (load_acquire_device(&counters->completed) >= index) {
      return DOORBELL_OK;
    }
    if (load_acquire_device(&counters->poison) != 0) {
      return DOORBELL_ERROR_POISONED;
    }
    const uint32_t status = efa_progress(qp);
    if (status != DOORBELL_OK) {
      return status;
    }
    if (limit.due() && limit.passed()) {
      return fail(qp, DOORBELL_ERROR_DEADLINE, 0, index);
    }
  }
}

__device__ __forceinline__ void write_efa_wqe(const doorbell_qp *qp, const work_request &request,
                                              uint64_t index) {
  const doorbell_efa *efa = efa_of(qp);
  const uint64_t at = qp->sq_ring + (index & (qp->sq_blocks - 1)) * kEfaWqeBytes;
  const uint32_t lap = low(index / qp->sq_blocks) & 1;
  const bool inlined = request.is_inline();
  const bool immediate = request.opcode == kOpcodeWriteImm;
  const uint32_t op = request.opcode == kOpcodeRead ? kEfaRead : kEfaWrite;
  const uint32_t ctrl1 = 0x80u | (inlined ? 0x20u : 0u) | (immediate ? 0x10u : 0u) | op;
  const uint32_t ctrl2 = 0x1cu | lap;
  const uint32_t buffers = request.bytes == 0 ? 0u : 1u;
  const uint32_t slot = low(index) & (qp->sq_blocks - 1);
  store_unit_register(at, {slot | ctrl1 << 16 | ctrl2 << 24,
                           efa->remote_number | (inlined ? request.bytes : buffers) << 16,
                           immediate ? request.immediate : 0u, efa->address_handle});
  store_unit_register(at + 16, {efa->queue_key, 0, 0, 0});
  store_unit_register(at + 32, {request.bytes, big_endian(request.remote_key),
                                low(request.remote), high(request.remote)});
  if (!inlined) {
    store_unit_register(at + 48, {request.bytes, big_endian(request.local_key),
                                  low(request.local), high(request.local)});
    return;
  }
#pragma unroll 1
  for (uint32_t word = 0; word * 4 < request.bytes; word += 4) {
    uint32_t words[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      words[i] = inline_word(request.payload, request.bytes, request.local, request.operand,
                             request.compare, word + i);
    }
    store_unit_register(at + 48 + word * 4, {words[0], words[1], words[2], words[3]});
  }
}

__device__ __forceinline__ bool efa_expresses(const work_request &request) {
  return (request.opcode == kOpcodeWrite || request.opcode == kOpcodeWriteImm ||
          request.opcode == kOpcodeRead || request.opcode == kOpcodeNop) &&
         (!request.is_inline() || request.bytes <= kEfaMaxInline);
}

// Posts one or two requests, of which one that does nothing takes no slot.
inline __device__ __noinline__ posted submit_to_efa(const doorbell_qp *qp, work_request first,
                                                    work_request second, uint32_t count) {
  doorbell_counters *counters = counters_of(qp);
  if (!efa_expresses(first) || (count == 2 && !efa_expresses(second)) ||
      count > efa_of(qp)->max_batch) {
    return {DOORBELL_ERROR_ARGUMENT, 0};
  }
  const bool has_first = first.opcode != kOpcodeNop;
  const bool has_second = count == 2 && second.opcode != kOpcodeNop;
  const uint32_t slots = (has_first ? 1 : 0) + (has_second ? 1 : 0);
  if (slots == 0) {
    return {DOORBELL_OK, posted_to(counters)};
  }
  if (load_relaxed_device(&counters->poison) != 0) {
    return {DOORBELL_ERROR_POISONED, 0};
  }
  const uint64_t base =
      reserved_index(cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(counters->reserved)
                         .fetch_add(static_cast<uint64_t>(slots) << DOORBELL_RESERVED_SHIFT,
                                    cuda::memory_order_relaxed));
  const uint64_t end = base + slots;
  if (end > qp->sq_blocks) {
    const uint32_t status = wait_for_efa(qp, end - qp->sq_blocks);
    if (status != DOORBELL_OK) {
      return {status, 0};
    }
  }
  if (has_first) {
    write_efa_wqe(qp, first, base);
  }
  if (has_second) {
    write_efa_wqe(qp, second, end - 1);
  }
  deadline limit(qp->deadline_ns);
  while (load_acquire_device(&counters->rung) != base) {
    if (limit.due()) {
      if (load_acquire_device(&counters->poison) != 0) {
        return {DOORBELL_ERROR_POISONED, 0};
      }
      if (limit.passed()) {
        return {fail(qp, DOORBELL_ERROR_DEADLINE, 0, base), 0};
      }
    }
  }
  fence(true);  // payload and requests, and the doorbell of the poster before this one, before the doorbell
  store_register_word(qp->doorbell, low(end) & 0xffffu);
  store_release_device(&counters->rung, end);
  return {DOORBELL_OK, end};
}

}  // namespace detail

}  // namespace doorbell

#endif  // DOORBELL_EFA_CUH
