// reused_source: the word that a WRITE sends is changed before the WRITE is complete.
//
// Each turn sets the peer's counter from one word of the sender. The HCA may read that word at any time until
// it has completed the request, so an earlier turn may send a later value: the counter seems to skip, and the
// fabric seems to reorder. Fixed by waiting for the completion before the word is changed.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t reused_source(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  uint64_t *word = reinterpret_cast<uint64_t *>(job->local);
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < job->iterations && status == DOORBELL_OK; ++turn) {
    *word = turn + 1;
    write_wqe(qp,
              transfer_request(kOpcodeWrite, source::device, {job->remote, job->remote_key},
                               {job->local, job->local_key}, 8),
              turn, true);
    ring_in_order(qp, turn + 1);
    if (kMended) {
      status = wait_completed(qp, turn + 1);
    }
  }
  return status == DOORBELL_OK ? wait_completed(qp, job->iterations) : status;
}

DOORBELL_CASE(reused_source)
