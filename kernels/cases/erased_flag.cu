// erased_flag: the CPU erases a rendezvous flag that the kernel has just set again.
//
// Role 0 sets the flag to the round's number and waits for the answer; role 1 (the CPU) answers and then
// clears the flag. The kernel may be in its next round by then: the flag is lost, both wait for ever.
// Fixed by clearing before the answer.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kFlag = 0;  // shared words
constexpr uint32_t kAnswer = 1;

template <bool kMended>
__device__ uint32_t erased_flag(const doorbell_qp *qps, const doorbell_job *job) {
  uint64_t *flag = shared_word(job, kFlag);
  uint64_t *answer = shared_word(job, kAnswer);
  for (uint64_t round = 1; round <= job->iterations; ++round) {
    if (job->role == 0) {
      set_relaxed(flag, round);
      if (!wait_at_least(&qps[0], answer, round)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      continue;
    }
    if (!wait_at_least(&qps[0], flag, round)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (kMended) {
      set_relaxed(flag, 0);
    }
    set_release(answer, round);
    if (!kMended) {
      set_relaxed(flag, 0);
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(erased_flag)
