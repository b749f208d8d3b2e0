// unfenced_token: the lanes of a warp write a token, and nothing orders it before the command to send it.
//
// Block 0 of role 0 writes a token into the send buffer and puts a command into a word; block 1 takes commands
// and posts, as a proxy does. The proxy has its fences, but what it has not acquired it cannot hand on: the
// HCA may read the token before it has arrived. Fixed by a release behind the lanes' barrier.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kCommand = 0;  // shared words
constexpr uint32_t kDone = 1;

template <bool kMended>
__device__ uint32_t unfenced_token(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const uint32_t lane = threadIdx.x;
  if (blockIdx.x == 0) {
    for (uint64_t turn = 1; turn <= job->iterations; ++turn) {
      if (lane < job->bytes / 8) {
        reinterpret_cast<uint64_t *>(job->local + (turn - 1) * job->stride)[lane] = turn;
      }
      __syncwarp();
      bool done = true;
      if (lane == 0) {
        if (kMended) {
          set_release(shared_word(job, kCommand), turn);
        } else {
          set_relaxed(shared_word(job, kCommand), turn);
        }
        done = wait_at_least(&qps[0], shared_word(job, kDone), turn);
      }
      __syncwarp();
      if (!done) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    return DOORBELL_OK;
  }
  if (lane != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 1; turn <= job->iterations; ++turn) {
    if (!wait_at_least(&qps[0], shared_word(job, kCommand), turn)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    write_put(qp, job, turn - 1);
    ring_in_order(qp, turn);
    const uint32_t status = wait_completed(qp, turn);
    if (status != DOORBELL_OK) {
      return status;
    }
    set_release(shared_word(job, kDone), turn);
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(unfenced_token)
