// The queue pair as a kernel's thread holds it.
#ifndef DOORBELL_QUEUE_PAIR_CUH
#define DOORBELL_QUEUE_PAIR_CUH

#include "doorbell/memory.cuh"

namespace doorbell {

constexpr uint32_t kBlockBytes = 64;  // of the send ring
constexpr uint32_t kUnitBytes = 16;   // of a WQE: what its DS field counts
constexpr uint32_t kUnitsOfBlock = kBlockBytes / kUnitBytes;

__device__ __forceinline__ doorbell_counters *counters_of(const doorbell_qp *qp) {
  return reinterpret_cast<doorbell_counters *>(qp->counters);
}

// The block index in `reserved`.
__device__ __forceinline__ uint64_t reserved_index(uint64_t reserved) {
  return (reserved & ~DOORBELL_RESERVED_BROKEN) >> DOORBELL_RESERVED_SHIFT;
}

// A signal is more than a WRITE there. A packed message is not posted in another way.
constexpr uint32_t kOrderFlags = DOORBELL_QP_ORDER_ATOMIC | DOORBELL_QP_ORDER_FLUSH |
                                 DOORBELL_QP_ORDER_FENCE | DOORBELL_QP_ORDER_WAIT;

// What posting and a lone wait need at every turn is kept in registers; the rest, which is out of line,
// is read where the host wrote it. A queue_pair belongs to one thread and cannot be copied. A thread
// that posts to an exclusive queue pair does so through one queue_pair at a time, which keeps the index.
struct queue_pair {
  const doorbell_qp *shared;
  doorbell_counters *counters;
  uint64_t sq_ring;
  uint64_t sq_record;
  uint64_t doorbell;
  uint64_t cq_ring;
  uint32_t sq_blocks;
  uint32_t cq_entries;
  uint32_t qpn;
  uint32_t flags;
  uint32_t batch;
  uint32_t blueflame_bytes;
  uint32_t max_inline;
  mutable uint64_t completed = 0;  // everything below is done, acquired: often room enough

  // The blocks of this thread's last WQE, if nobody else had reserved any when it was rung for: then
  // that WQE was the last of the queue pair. Else all ones. Exclusive: last_end is the next index, all
  // ones before it was read.
  mutable uint64_t last_start = ~0ull;
  mutable uint64_t last_end = ~0ull;
  mutable uint64_t next_entry = ~0ull;  // of a completion ring, probably; all ones: not known

  __device__ __forceinline__ explicit queue_pair(const doorbell_qp *qp)
      : shared(qp),
        counters(counters_of(qp)),
        sq_ring(qp->sq_ring),
        sq_record(qp->sq_record),
        doorbell(qp->doorbell),
        cq_ring(qp->cq_ring),
        sq_blocks(qp->sq_blocks),
        cq_entries(qp->cq_entries),
        qpn(qp->qpn),
        flags(qp->flags),
        batch(qp->batch),
        blueflame_bytes(qp->blueflame_bytes),
        max_inline(qp->max_inline) {}

  queue_pair(const queue_pair &) = delete;
  queue_pair &operator=(const queue_pair &) = delete;

  __device__ __forceinline__ bool is(uint32_t flag) const { return (flags & flag) != 0; }
};

// What a post returns. The ticket is what wait() takes; it means something when status is
// DOORBELL_OK.
struct posted {
  uint32_t status;
  uint64_t ticket;
};

}  // namespace doorbell

#endif  // DOORBELL_QUEUE_PAIR_CUH
