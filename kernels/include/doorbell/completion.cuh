// Completions: who looks at the completion queue, what a CQE frees, how waits end.
//
// Any thread that waits polls, and any number may at once. `completed` only rises; whoever raises it
// has acquired the CQE at system scope and releases at gpu scope, so that a thread that finds its
// index there sees the data of a get or an atomic although another thread polled.
//
// A 16-bit wqe_counter is widened without knowing what was rung: when `completed` is k both before
// and after the CQE was read, the WQE that it names starts at least at k - ring size (an entry that
// somebody else has dealt with) and below k + ring size, because posters wait for room. A ring has
// at most 2^15 blocks, so (counter - k) mod 2^16 below the ring size means news, and the rest is old.
#ifndef DOORBELL_COMPLETION_CUH
#define DOORBELL_COMPLETION_CUH

#include "doorbell/queue_pair.cuh"

namespace doorbell {

constexpr uint32_t kCqeBytes = 64;
constexpr uint32_t kCqeRequesterError = 13;
constexpr uint32_t kCqeResponderError = 14;
constexpr uint32_t kCqeInvalid = 15;
constexpr uint32_t kSyndromeFlushed = 0x05;
constexpr uint32_t kProbes = 10;    // entries of a completion ring that one look reads ahead
constexpr uint32_t kWaiting = ~0u;  // no status yet

// Linear index of the calling thread over the grid.
__device__ __forceinline__ uint64_t thread_index() {
  const uint64_t block =
      blockIdx.x + gridDim.x * (blockIdx.y + static_cast<uint64_t>(gridDim.y) * blockIdx.z);
  const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return block * (blockDim.x * blockDim.y * blockDim.z) + thread;
}

// The last four bytes of a CQE, which the HCA stores last.
struct cqe_tail {
  uint32_t word;

  __device__ __forceinline__ uint32_t opcode() const { return word >> 28; }
  __device__ __forceinline__ bool owner() const { return (word >> 24 & 1) != 0; }
  __device__ __forceinline__ uint32_t wqe_counter() const {
    return __byte_perm(word, 0, 0x4401);
  }
  __device__ __forceinline__ bool is_error() const {
    return opcode() == kCqeRequesterError || opcode() == kCqeResponderError;
  }
};

__device__ __forceinline__ uint64_t cqe_address(const doorbell_qp *qp, uint64_t index) {
  return qp->cq_ring + (index & (qp->cq_entries - 1)) * kCqeBytes;
}

__device__ __forceinline__ cqe_tail read_cqe_tail(uint64_t cqe) {
  return {load_acquire_system(reinterpret_cast<const uint32_t *>(cqe + 0x3c))};
}

// Records the first error of a queue pair and makes every later wait on it end. Returns what the
// caller's operation ends with. `cqe` is the error CQE's address, or 0.
inline __device__ __noinline__ uint32_t fail(const doorbell_qp *qp, uint32_t status, uint64_t cqe,
                                             uint64_t awaited) {
  if ((qp->flags & DOORBELL_QP_PROXY) != 0) {
    return status;  // the record is the CPU's to write
  }
  doorbell_counters *counters = counters_of(qp);
  uint64_t none = 0;
  const bool first =
      cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(counters->poison)
          .compare_exchange_strong(none, status, cuda::memory_order_acq_rel);
  if (!first) {
    return status == DOORBELL_ERROR_CQE ? DOORBELL_ERROR_POISONED : status;
  }
  doorbell_error *error = reinterpret_cast<doorbell_error *>(qp->error);
  error->qpn = qp->qpn;
  if (cqe != 0) {
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(cqe);
    error->vendor_syndrome = bytes[0x36];
    error->syndrome = bytes[0x37];
    error->opcode = bytes[0x38];
    error->wqe_index = bytes[0x3c] << 8 | bytes[0x3d];
  }
  error->thread = thread_index();
  error->awaited = awaited;
  error->completed = load_relaxed_device(&counters->completed);
  error->time_ns = global_time();
  store_release_system(&error->status, status);
  return status;
}

// What one look at the completion queue found.
enum class look : uint32_t {
  nothing,   // no CQE, or the counters moved meanwhile: look again
  progress,  // completed or the consumer index moved on
  error      // an error CQE
};

// The index below which everything is done according to a good CQE, or 0 when it is no news.
// `completed` is the counter as it was before the CQE was read.
__device__ __forceinline__ uint64_t completed_by(const doorbell_qp *qp, cqe_tail tail,
                                                 uint64_t completed) {
  const uint32_t ahead = (tail.wqe_counter() - low(completed)) & 0xffffu;
  if (ahead >= qp->sq_blocks) {
    return 0;
  }
  const uint64_t index = completed + ahead;
  uint64_t blocks = 1;
  if (qp->max_inline > 28) {
    // WQEs may have several blocks. Whoever has room already may be writing the slot again: the WQE's
    // own index and queue pair, in the same 8 bytes, say whether it is still the one. Were it one of
    // 2^16 blocks later, `completed` would long have passed the index.
    const uint64_t slot = index & (qp->sq_blocks - 1);
    const uint64_t head = load_relaxed_device(
        reinterpret_cast<const uint64_t *>(qp->sq_ring + slot * kBlockBytes));
    const uint32_t said = big_endian(low(head)) >> 8 & 0xffffu;
    if (said != (low(index) & 0xffffu) || big_endian(high(head)) >> 8 != qp->qpn) {
      return 0;
    }
    const uint32_t units = big_endian(high(head)) & 0x3fu;
    blocks = (units + kUnitsOfBlock - 1) / kUnitsOfBlock;
  }
  return index + blocks;
}

// After an error CQE, WQEs before the failed one are done; a flushed one says nothing.
__device__ __forceinline__ void complete_before_error(const doorbell_qp *qp, cqe_tail tail,
                                                      uint64_t cqe, uint64_t completed) {
  const uint32_t ahead = (tail.wqe_counter() - low(completed)) & 0xffffu;
  const uint8_t syndrome = reinterpret_cast<const volatile uint8_t *>(cqe)[0x37];
  doorbell_counters *counters = counters_of(qp);
  if (ahead < qp->sq_blocks && syndrome != kSyndromeFlushed &&
      load_acquire_device(&counters->completed) == completed) {
    raise_release_device(&counters->completed, completed + ahead);
  }
}

// One look at a collapsed queue: entry 0 holds the newest CQE.
__device__ __forceinline__ look look_collapsed(const doorbell_qp *qp, uint64_t completed,
                                               uint64_t &cqe) {
  doorbell_counters *counters = counters_of(qp);
  cqe = qp->cq_ring;
  const cqe_tail tail = read_cqe_tail(cqe);
  if (tail.opcode() == kCqeInvalid) {
    return look::nothing;
  }
  if (tail.is_error()) {
    complete_before_error(qp, tail, cqe, completed);
    return look::error;
  }
  const uint64_t done = completed_by(qp, tail, completed);
  if (done == 0 || load_acquire_device(&counters->completed) != completed) {
    return look::nothing;
  }
  raise_release_device(&counters->completed, done);
  return look::progress;
}

// Tells an HCA that checks for overrun how far the queue has been consumed. Whoever moved the index
// writes it; when another did so meanwhile, the newer value is written again, so that the last word
// in the record is the newest.
__device__ __forceinline__ void write_cq_record(const doorbell_qp *qp, uint64_t consumed) {
  doorbell_counters *counters = counters_of(qp);
  uint64_t written;
  do {
    written = consumed;
    store_relaxed_system(reinterpret_cast<uint32_t *>(qp->cq_record),
                         big_endian(low(written) & 0xffffffu));
    consumed = load_acquire_device(&counters->cq_index);
  } while (consumed != written);
}

__device__ __forceinline__ bool is_new(const doorbell_qp *qp, cqe_tail tail, uint64_t index) {
  return tail.opcode() != kCqeInvalid && tail.owner() == ((index & qp->cq_entries) != 0);
}

// One look at a ring, of as many entries as are there. The HCA stores CQEs in order, and nothing good
// comes after an error: so a good CQE stands for all before it, and a few are looked at, the farther
// the sparser, at the same time. What is found is acquired by a second load.
__device__ __forceinline__ look look_ring(const doorbell_qp *qp, uint64_t completed,
                                          uint64_t &cqe) {
  doorbell_counters *counters = counters_of(qp);
  const uint64_t first = load_acquire_device(&counters->cq_index);
  uint64_t next = first;
  cqe_tail newest{0};
  cqe = cqe_address(qp, first);
  cqe_tail tail = read_cqe_tail(cqe);
  bool error = is_new(qp, tail, first) && tail.is_error();
  if (is_new(qp, tail, first) && !error) {
    newest = tail;
    next = first + 1;
    uint32_t words[kProbes];
#pragma unroll
    for (uint32_t i = 0; i < kProbes; ++i) {
      words[i] = load_relaxed_system(
          reinterpret_cast<const uint32_t *>(cqe_address(qp, first + (1u << i)) + 0x3c));
    }
    uint32_t farthest = 0;
#pragma unroll
    for (uint32_t i = 0; i < kProbes; ++i) {
      const uint32_t ahead = 1u << i;
      if (ahead < qp->cq_entries && is_new(qp, {words[i]}, first + ahead) &&
          !cqe_tail{words[i]}.is_error()) {
        farthest = ahead;
      }
    }
    if (farthest != 0) {
      tail = read_cqe_tail(cqe_address(qp, first + farthest));
      if (is_new(qp, tail, first + farthest) && !tail.is_error()) {
        newest = tail;
        next = first + farthest + 1;
      }
    }
  }
  if (next != first) {
    const uint64_t done = completed_by(qp, newest, completed);
    if (load_acquire_device(&counters->completed) != completed) {
      return look::nothing;
    }
    // Entries are consumed before their blocks are free: once blocks are free, the HCA may overwrite
    // the entries, and nobody may find them half consumed.
    uint64_t expected = first;
    if (cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(counters->cq_index)
            .compare_exchange_strong(expected, next, cuda::memory_order_acq_rel)) {
      if ((qp->flags & DOORBELL_QP_CQ_RECORD) != 0) {
        write_cq_record(qp, next);  // an HCA that checks for overrun has to know, too
      }
      if (done != 0) {
        raise_release_device(&counters->completed, done);
      }
    }
    return look::progress;
  }
  if (error) {
    complete_before_error(qp, tail, cqe, completed);
    return look::error;
  }
  return look::nothing;
}

inline __device__ __noinline__ look look_at(const doorbell_qp *qp, uint64_t completed, uint64_t &cqe) {
  return (qp->flags & DOORBELL_QP_CQ_COLLAPSED) != 0 ? look_collapsed(qp, completed, cqe)
                                                    : look_ring(qp, completed, cqe);
}

// Looks once whether the queue pair is in error; for those who wait for something else.
inline __device__ __noinline__ uint32_t check(const doorbell_qp *qp, uint64_t awaited) {
  if ((qp->flags & DOORBELL_QP_PROXY) != 0) {
    return load_acquire_system(&reinterpret_cast<doorbell_error *>(qp->error)->status);
  }
  doorbell_counters *counters = counters_of(qp);
  uint64_t cqe;
  if (look_at(qp, load_acquire_device(&counters->completed), cqe) == look::error) {
    return fail(qp, DOORBELL_ERROR_CQE, cqe, awaited);
  }
  return load_acquire_device(&counters->poison) != 0 ? DOORBELL_ERROR_POISONED : DOORBELL_OK;
}

// One turn of a wait for blocks below `index`: DOORBELL_OK, an error, or kWaiting. For those who have
// something else to do in between. `due`: the rarer causes to end a wait are looked at as well.
inline __device__ __noinline__ uint32_t glance(const doorbell_qp *qp, uint64_t index, bool due) {
  doorbell_counters *counters = counters_of(qp);
  const uint64_t completed = load_acquire_device(&counters->completed);
  if (completed >= index) {
    return DOORBELL_OK;
  }
  uint64_t cqe = 0;
  look found = look::nothing;
  if (load_relaxed_device(&counters->poller) == 0 &&
      exchange_relaxed_device(&counters->poller, 1) == 0) {
    found = look_at(qp, completed, cqe);
    store_relaxed_device(&counters->poller, 0);
  } else {
    __nanosleep(64);
  }
  if (found == look::nothing && !due) {
    return kWaiting;
  }
  const uint64_t poison = load_acquire_device(&counters->poison);
  if (load_acquire_device(&counters->completed) >= index) {
    return DOORBELL_OK;
  }
  return found == look::error ? fail(qp, DOORBELL_ERROR_CQE, cqe, index)
         : poison != 0        ? DOORBELL_ERROR_POISONED
                              : kWaiting;
}

// Waits until every block below `index` is completed. Ends with DOORBELL_ERROR_CQE for the thread
// that met the error, DOORBELL_ERROR_POISONED for those after it, DOORBELL_ERROR_DEADLINE when time
// is up. Acquires: fetched data may be read afterwards.
//
// One of those who wait looks for all; the others watch `completed`. Looks at a line of host memory
// are served one after the other, a bus round trip each, and fences wait for those in flight: with as
// many pollers as waiters an H200 posts a tenth. Being the poller is a hint without any order; should
// it be stuck, the others look once in a long while nevertheless.
inline __device__ __noinline__ uint32_t wait_completed(const doorbell_qp *qp, uint64_t index) {
  doorbell_counters *counters = counters_of(qp);
  deadline limit(qp->deadline_ns);
  uint32_t status = DOORBELL_OK;
  bool polls = (qp->flags & DOORBELL_QP_EXCLUSIVE) != 0;
  bool looks = polls;
  for (;;) {
    const uint64_t completed = load_acquire_device(&counters->completed);
    if (completed >= index) {
      break;
    }
    uint64_t cqe = 0;
    const look found = looks ? look_at(qp, completed, cqe) : look::nothing;
    if (found == look::error) {
      if (load_acquire_device(&counters->completed) < index) {
        status = fail(qp, DOORBELL_ERROR_CQE, cqe, index);
      }
      break;
    }
    if (found == look::progress) {
      continue;
    }
    if (limit.due()) {
      if (load_acquire_device(&counters->poison) != 0) {
        status = load_acquire_device(&counters->completed) >= index ? DOORBELL_OK
                                                                    : DOORBELL_ERROR_POISONED;
        break;
      }
      if (limit.passed()) {
        status = fail(qp, DOORBELL_ERROR_DEADLINE, 0, index);
        break;
      }
    }
    if (!polls && load_relaxed_device(&counters->poller) == 0) {
      polls = exchange_relaxed_device(&counters->poller, 1) == 0;
    }
    looks = polls || limit.rarely();
    if (!looks) {
      __nanosleep(64);
    }
  }
  if (polls) {
    store_relaxed_device(&counters->poller, 0);
  }
  return status;
}

}  // namespace doorbell

#endif  // DOORBELL_COMPLETION_CUH
