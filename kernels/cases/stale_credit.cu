// stale_credit: a credit of the round before arrives when the next round has begun.
//
// Role 1 fills slots, role 0 reads them and returns credits: a put of how far it has read. Between rounds
// role 1 sets the credits to zero. A credit that is still on its way then writes over the zero; role 1
// believes that slots are free and fills them while role 0 reads. Fixed by waiting for the completions
// of the credits before the round is said to be over.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kSlots = 2;
constexpr uint32_t kRounds = 2;
constexpr uint32_t kOver = 0;   // shared words: rounds that are over, then a sequence word and a value a slot
constexpr uint32_t kFirst = 1;

template <bool kMended>
__device__ uint32_t stale_credit(const doorbell_qp *qps, const doorbell_job *job) {
  uint64_t *over = shared_word(job, kOver);
  uint64_t *credit = reinterpret_cast<uint64_t *>(job->inbox);
  const queue_pair qp(&qps[0]);
  uint64_t turn = 0;
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint64_t n = 0; n < job->iterations; ++n, ++turn) {
      uint64_t *sequence = shared_word(job, kFirst + 2 * (n % kSlots));
      uint64_t *value = shared_word(job, kFirst + 2 * (n % kSlots) + 1);
      if (job->role == 1) {
        if (n >= kSlots && !wait_at_least(&qps[0], credit, n + 1 - kSlots)) {
          return DOORBELL_ERROR_DEADLINE;
        }
        *value = 100 + turn;
        set_release(sequence, turn + 1);
        continue;
      }
      if (!wait_at_least(&qps[0], sequence, turn + 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      if (*value != 100 + turn) {
        return DOORBELL_ERROR_DATA;
      }
      work_request request = transfer_request(kOpcodeWrite, source::in_operand,
                                              {job->remote, job->remote_key}, {}, 8);
      request.operand = n + 1;
      write_wqe(qp, request, turn, true);
      ring_in_order(qp, turn + 1);
    }
    if (job->role == 0) {
      if (kMended) {
        const uint32_t status = wait_completed(qp, turn);
        if (status != DOORBELL_OK) {
          return status;
        }
      }
      set_release(over, round + 1);
    } else {
      if (!wait_at_least(&qps[0], over, round + 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      *credit = 0;
    }
  }
  return job->role == 0 ? wait_completed(qp, turn) : uint32_t{DOORBELL_OK};
}

DOORBELL_CASE(stale_credit)
