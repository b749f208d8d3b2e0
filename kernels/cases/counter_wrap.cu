// counter_wrap: a completion counter is compared with the sum of what it held and what was posted.
//
// A hardware counter becomes 0 behind its largest value: the sum is never reached, and the sender waits for ever.
// Fixed by the distance from what it held, over the wrap.
#define DOORBELL_BACK_ENDS
#include "adapter.cuh"

using namespace cases;

// Whether `count` messages are complete.
template <bool kMended>
__device__ __forceinline__ bool are_complete(const queue_pair &qp, uint64_t count,
                                             uint64_t ticket) {
  if (!qp.is(DOORBELL_QP_EFA)) {
    return wait(qp, ticket) == DOORBELL_OK;
  }
  const doorbell_efa *efa = efa_of(qp.shared);
  return kMended ? efa_completions(qp.shared) >= count
                 : load_acquire_system(reinterpret_cast<const uint64_t *>(efa->completed)) >=
                       efa->counter_start + count;
}

template <bool kMended>
__device__ uint32_t counter_wrap(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    for (uint64_t part = 0; part < 2; ++part) {
      const posted sent = send(qp, part == 0 ? message(job, turn) : flag_write(job, turn + 1),
                               2 * turn + part);
      if (sent.status != DOORBELL_OK) {
        return sent.status;
      }
      // One message at a time: then a count says which.
      deadline limit(qp.shared->deadline_ns);
      while (!are_complete<kMended>(qp, 2 * turn + part + 1, sent.ticket)) {
        if (limit.due() && limit.passed()) {
          return DOORBELL_ERROR_DEADLINE;
        }
      }
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(counter_wrap)
