// srd_flag: a put and a WRITE of its flag on one queue pair of an adapter that orders nothing.
//
// Messages of SRD take effect in any order: eight bytes of a flag arrive before the megabyte that they announce.
// There is neither a fence bit nor an atomic. Fixed by a wait for the data's completion before the flag is
// posted, which is what doorbell::signal does there.
#define DOORBELL_BACK_ENDS
#include "adapter.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t srd_flag(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    posted sent = send(qp, message(job, turn), 2 * turn);
    if (sent.status == DOORBELL_OK && kMended) {
      sent.status = wait(qp, sent.ticket);
    }
    if (sent.status == DOORBELL_OK) {
      sent = send(qp, flag_write(job, turn + 1), 2 * turn + 1);
    }
    if (sent.status != DOORBELL_OK) {
      return sent.status;
    }
  }
  return wait(qp, 2 * job->iterations);
}

DOORBELL_CASE(srd_flag)
