// adaptive_flag: a put, and behind it a WRITE of a flag on the same queue pair.
//
// InfiniBand places both in order. With adaptive routing each packet is placed when it arrives, and the
// flag's may be the first. Fixed by the strong-ordering fence bit on the flag: it leaves when the put is
// acknowledged.
#include "adapter.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t adaptive_flag(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    write_wqe(qp, message(job, turn), 2 * turn, true);
    const work_request flag = flag_write(job, turn + 1);
    if (kMended) {
      write_fenced(qp, flag, 2 * turn + 1);
    } else {
      write_wqe(qp, flag, 2 * turn + 1, true);
    }
    ring_in_order(qp, 2 * turn + 2);
  }
  return wait_completed(qp, 2 * job->iterations);
}

DOORBELL_CASE(adaptive_flag)
