// early_refill: the CPU fills a send buffer again as soon as its message is posted.
//
// Role 1 (the CPU) fills the buffer, role 0 posts it and says that it is free. The HCA reads the buffer at any
// time until it has completed the request, so a message may carry the bytes of the one behind it. Fixed by
// giving the buffer back when the message is complete.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kFilled = 0;  // shared words
constexpr uint32_t kSent = 1;

template <bool kMended>
__device__ uint32_t early_refill(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    for (uint64_t turn = 1; turn <= job->iterations; ++turn) {
      if (!wait_at_least(&qps[0], shared_word(job, kSent), turn - 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      for (uint32_t i = 0; i < job->bytes / 8; ++i) {
        reinterpret_cast<uint64_t *>(job->local)[i] = turn;
      }
      set_release(shared_word(job, kFilled), turn);
    }
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 1; turn <= job->iterations; ++turn) {
    if (!wait_at_least(&qps[0], shared_word(job, kFilled), turn)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    write_wqe(qp,
              transfer_request(kOpcodeWrite, source::device, {job->remote, job->remote_key},
                               {job->local, job->local_key}, job->bytes),
              turn - 1, true);
    ring_in_order(qp, turn);
    if (kMended) {
      const uint32_t status = wait_completed(qp, turn);
      if (status != DOORBELL_OK) {
        return status;
      }
    }
    set_release(shared_word(job, kSent), turn);
  }
  return wait_completed(qp, job->iterations);
}

DOORBELL_CASE(early_refill)
