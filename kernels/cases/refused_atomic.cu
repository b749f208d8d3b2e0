// refused_atomic: an atomic signal on an HCA without atomics, and a sender that never looks at its CQEs.
//
// The atomic completes with an error, everything behind it is flushed, and the receiver waits for ever.
// Fixed by a fenced WRITE of the count in place of the atomic: the word has one writer.
#include "adapter.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t refused_atomic(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    write_wqe(qp, message(job, turn), 2 * turn, true);
    if (kMended) {
      write_fenced(qp, flag_write(job, turn + 1), 2 * turn + 1);
    } else {
      write_wqe(qp, flag_add(job), 2 * turn + 1, true);
    }
    ring_in_order(qp, 2 * turn + 2);
  }
  return kMended ? wait_completed(qp, 2 * job->iterations) : uint32_t{DOORBELL_OK};
}

DOORBELL_CASE(refused_atomic)
