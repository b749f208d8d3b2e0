// per_thread_wqe: every lane writes a WQE, lane 0 rings after a vote.
//
// A vote or a shuffle makes the lanes meet, but it orders no memory: lane 0 may ring before the WQEs of
// the others are where the HCA looks. __syncwarp orders.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t per_thread_wqe(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  const uint32_t lane = threadIdx.x;
  write_put(qp, job, lane);
  if (kMended) {
    __syncwarp();
  } else if (!__all_sync(0xffffffffu, lane < blockDim.x)) {
    return DOORBELL_ERROR_ARGUMENT;
  }
  if (lane != 0) {
    return DOORBELL_OK;
  }
  ring_in_order(qp, blockDim.x);
  return wait_completed(qp, blockDim.x);
}

DOORBELL_CASE(per_thread_wqe)
