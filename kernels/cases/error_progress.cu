// error_progress: a wait that counts an error CQE as progress.
//
// The atomic behind each message is refused, which ends the queue pair. Who only counts CQEs takes that for
// completion, and everything after it too: the peer is told, over another queue pair, of messages that were
// flushed. Fixed by a look at the opcode of each CQE: what failed goes over the other queue pair, without atomics.
#include "adapter.cuh"

using namespace cases;

constexpr uint32_t kEntryBytes = 64;
constexpr uint32_t kRequesterError = 0xd;
constexpr uint32_t kInvalid = 0xf;

// Waits until CQE `index` of a ring is there, each once and in order. Returns false at the deadline; `failed` is
// set if the CQE reports an error, and somebody looks at that.
template <bool kMended>
__device__ __forceinline__ bool take_cqe(const queue_pair &qp, uint64_t index, bool &failed) {
  const uint64_t entry = qp.cq_ring + (index & (qp.cq_entries - 1)) * kEntryBytes;
  const uint32_t lap = (index & qp.cq_entries) == 0 ? 0u : 1u;
  deadline limit(qp.shared->deadline_ns);
  for (;;) {
    // The last byte: opcode << 4 | owner.
    const uint32_t last = load_acquire_system(reinterpret_cast<const uint32_t *>(entry + 60)) >> 24;
    if (last >> 4 != kInvalid && (last & 1u) == lap) {
      failed |= kMended && last >> 4 == kRequesterError;
      return true;
    }
    if (limit.due() && limit.passed()) {
      return false;
    }
  }
}

template <bool kMended>
__device__ uint32_t error_progress(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair counted(&qps[0]);
  const queue_pair other(&qps[1]);
  bool failed = false;
  uint64_t next = 0;  // block of the other queue pair
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    if (!failed) {
      write_wqe(counted, message(job, turn), 2 * turn, true);
      work_request add = flag_add(job);
      add.remote += 8;  // a count beside the flag, for whoever looks at it
      write_wqe(counted, add, 2 * turn + 1, true);
      ring_in_order(counted, 2 * turn + 2);
      for (uint64_t part = 0; part < 2; ++part) {
        if (!take_cqe<kMended>(counted, 2 * turn + part, failed)) {
          return DOORBELL_ERROR_DEADLINE;
        }
      }
    }
    for (uint32_t part = failed ? 0 : 1; part < 2; ++part) {
      write_wqe(other, part == 0 ? message(job, turn) : flag_write(job, turn + 1), next, true);
      ring_in_order(other, ++next);
      const uint32_t status = wait_completed(other, next);
      if (status != DOORBELL_OK) {
        return status;
      }
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(error_progress)
