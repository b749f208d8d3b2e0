// relaxed_flag: a put and a WRITE of its flag, both to memory registered for relaxed ordering.
//
// The packets are placed in order, but their PCIe writes may pass each other, and the flag is seen
// before the data. A fence bit does not help: what is acknowledged has left the HCA, no more. Fixed by
// an atomic, which the HCA does by a read and a write: the read pushes what was written before.
#include "adapter.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t relaxed_flag(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    write_wqe(qp, message(job, turn), 2 * turn, true);
    if (kMended) {
      write_wqe(qp, flag_add(job), 2 * turn + 1, true);
    } else {
      write_fenced(qp, flag_write(job, turn + 1), 2 * turn + 1);
    }
    ring_in_order(qp, 2 * turn + 2);
  }
  return wait_completed(qp, 2 * job->iterations);
}

DOORBELL_CASE(relaxed_flag)
