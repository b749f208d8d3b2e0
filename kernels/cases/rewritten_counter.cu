// rewritten_counter: a counter that is written again and again by WRITEs, each before the last is
// complete.
//
// Where placement is out of order an older value may be written last, and stays: the receiver waits for
// a count that was sent long ago. Fixed by waiting for each completion.
#include "adapter.cuh"

using namespace cases;

constexpr uint64_t kWrites = 6;  // a round
constexpr uint32_t kOver = 0;    // shared words: rounds whose WRITEs are complete, and rounds checked
constexpr uint32_t kChecked = 1;

template <bool kMended>
__device__ uint32_t rewritten_counter(const doorbell_qp *qps, const doorbell_job *job) {
  const uint64_t *counter = reinterpret_cast<const uint64_t *>(job->inbox + flag_offset(job));
  if (job->role == 1) {
    for (uint64_t round = 0; round < job->iterations; ++round) {
      if (!wait_at_least(&qps[0], shared_word(job, kOver), round + 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      if (load_acquire_system(counter) != kWrites * (round + 1)) {
        return DOORBELL_ERROR_DATA;
      }
      set_release(shared_word(job, kChecked), round + 1);
    }
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  uint64_t written = 0;
  for (uint64_t round = 0; round < job->iterations; ++round) {
    for (uint64_t n = 0; n < kWrites; ++n, ++written) {
      write_wqe(qp, flag_write(job, written + 1), written, true);
      if (kMended || n + 1 == kWrites) {
        ring_in_order(qp, written + 1);
        const uint32_t status = wait_completed(qp, written + 1);
        if (status != DOORBELL_OK) {
          return status;
        }
      }
    }
    set_release(shared_word(job, kOver), round + 1);
    if (!wait_at_least(&qps[0], shared_word(job, kChecked), round + 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(rewritten_counter)
