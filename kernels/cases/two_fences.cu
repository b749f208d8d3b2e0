// two_fences: of the two fences of a doorbell the second was thought to be one too many.
//
// One fence orders the WQE before the record, the other the record before the doorbell. Without the
// second, the doorbell may overtake the record: the HCA looks, finds the old index and goes back to
// sleep, and nobody rings again. More than two are of no use.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t two_fences(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t index = 0; index < job->iterations; ++index) {
    write_put(qp, job, index);
    fence(true);
    store_record(qp, index + 1);
    if (kMended) {
      fence(true);
    }
    store_doorbell(qp, index + 1);
  }
  return wait_completed(qp, job->iterations);
}

DOORBELL_CASE(two_fences)
