// no_fence: WQE, record and doorbell without any fence.
//
// It runs on a CPU whose stores stay in order, and was taken over from there. On a GPU the HCA may see
// the doorbell, fetch the slot and find what was there before.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t no_fence(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t index = 0; index < job->iterations; ++index) {
    write_put(qp, job, index);
    if (kMended) {
      ring_in_order(qp, index + 1);
    } else {
      store_record(qp, index + 1);
      store_doorbell(qp, index + 1);
    }
  }
  return wait_completed(qp, job->iterations);
}

DOORBELL_CASE(no_fence)
