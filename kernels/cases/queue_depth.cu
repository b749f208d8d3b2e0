// queue_depth: a poster that relies on a send ring as deep as all that it ever posts.
//
// A shallower ring was configured. The poster goes round it and stores new WQEs over those that the HCA has not
// fetched yet: messages are lost, others are sent twice. Fixed by waiting until the block is free.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t queue_depth(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  uint32_t status = DOORBELL_OK;
  for (uint64_t index = 0; index < job->iterations && status == DOORBELL_OK; ++index) {
    if (kMended && index >= qp.sq_blocks) {
      status = wait_completed(qp, index + 1 - qp.sq_blocks);
    }
    write_put(qp, job, index);
    ring_in_order(qp, index + 1);
  }
  return status == DOORBELL_OK ? wait_completed(qp, job->iterations) : status;
}

DOORBELL_CASE(queue_depth)
