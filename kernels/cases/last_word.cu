// last_word: the receiver polls the last word of a message of several packets.
//
// The last packet may be placed before the others where placement is out of order. Fixed by an atomic
// behind the message: atomics keep their place.
#include "adapter.cuh"

using namespace cases;

__device__ __forceinline__ uint32_t receive_by_last_word(const doorbell_qp *qps,
                                                         const doorbell_job *job) {
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    const uint64_t last = job->inbox + turn * job->stride + job->bytes - sizeof(uint64_t);
    if (!wait_at_least(&qps[0], reinterpret_cast<const uint64_t *>(last), turn + 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (!is_whole(job, turn)) {
      return DOORBELL_ERROR_DATA;
    }
  }
  return DOORBELL_OK;
}

template <bool kMended>
__device__ uint32_t last_word(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    if constexpr (kMended) {
      return receive_by_flag(qps, job);
    } else {
      return receive_by_last_word(qps, job);
    }
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    write_wqe(qp, message(job, turn), 2 * turn, true);
    // In the broken kernel nobody looks at the flag.
    write_wqe(qp, flag_add(job), 2 * turn + 1, true);
    ring_in_order(qp, 2 * turn + 2);
  }
  return wait_completed(qp, 2 * job->iterations);
}

DOORBELL_CASE(last_word)
