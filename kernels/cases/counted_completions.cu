// counted_completions: a slot is filled again when as many messages are complete as were posted from it and before.
//
// A count says how many messages are complete, and not which: where they complete in any order a later one
// makes up for one whose payload is still being read. Fixed by waiting for the message of the slot itself.
#define DOORBELL_BACK_ENDS
#include "adapter.cuh"

using namespace cases;

constexpr uint64_t kSlots = 2;

// Messages that are complete, by the hardware counter where the adapter has one.
__device__ __forceinline__ uint64_t complete_count(const queue_pair &qp, uint64_t ticket,
                                                   uint64_t messages) {
  if (qp.is(DOORBELL_QP_EFA)) {
    return efa_completions(qp.shared);
  }
  return wait(qp, ticket) == DOORBELL_OK ? messages : 0;
}

template <bool kMended>
__device__ uint32_t counted_completions(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    if (!wait_at_least(&qps[0],
                       reinterpret_cast<const uint64_t *>(job->inbox + flag_offset(job)), 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    for (uint64_t turn = 0; turn < job->iterations; ++turn) {
      if (!is_whole(job, turn)) {
        return DOORBELL_ERROR_DATA;
      }
    }
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  uint64_t tickets[kSlots];
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    if (turn >= kSlots) {
      const uint64_t ticket = tickets[turn % kSlots];
      if (kMended) {
        const uint32_t status = wait(qp, ticket);
        if (status != DOORBELL_OK) {
          return status;
        }
      } else {
        deadline limit(qp.shared->deadline_ns);
        while (complete_count(qp, ticket, turn - kSlots + 1) < turn - kSlots + 1) {
          if (limit.due() && limit.passed()) {
            return DOORBELL_ERROR_DEADLINE;
          }
        }
      }
    }
    const uint64_t slot = turn % kSlots * job->stride;
    uint64_t *data = reinterpret_cast<uint64_t *>(job->local + slot);
    data[0] = turn + 1;
    data[job->bytes / 8 - 1] = turn + 1;
    work_request request = message(job, turn);
    request.local = job->local + slot;
    const posted sent = send(qp, request, turn);
    if (sent.status != DOORBELL_OK) {
      return sent.status;
    }
    tickets[turn % kSlots] = sent.ticket;
  }
  const uint32_t status = wait(qp, job->iterations);
  if (status != DOORBELL_OK) {
    return status;
  }
  const posted flag = send(qp, flag_write(job, 1), job->iterations);
  return flag.status == DOORBELL_OK ? wait(qp, job->iterations + 1) : flag.status;
}

DOORBELL_CASE(counted_completions)
