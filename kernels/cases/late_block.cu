// late_block: a block that begins late says so over the host's word that all is over.
//
// The blocks of role 0 each set a flag to "started" and wait until it says "over"; role 1 (the CPU) waits
// for the flag of block 0, does the work and sets all flags to "over". A block that has not begun by then
// overwrites it, and waits for ever. Fixed by waiting for all blocks before the word is given.
#include "case.cuh"

using namespace cases;

constexpr uint64_t kStarted = 1;
constexpr uint64_t kOver = 2;

template <bool kMended>
__device__ uint32_t late_block(const doorbell_qp *qps, const doorbell_job *job) {
  for (uint32_t round = 0; round < job->iterations; ++round) {
    const uint32_t first = round * gridDim.x;  // shared words
    if (job->role == 0) {
      uint64_t *flag = shared_word(job, first + blockIdx.x);
      set_release(flag, kStarted);
      if (!wait_at_least(&qps[0], flag, kOver)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      continue;
    }
    if (blockIdx.x != 0) {
      continue;
    }
    for (uint32_t block = 0; block < (kMended ? gridDim.x : 1); ++block) {
      if (!wait_at_least(&qps[0], shared_word(job, first + block), kStarted)) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    for (uint32_t block = 0; block < gridDim.x; ++block) {
      set_release(shared_word(job, first + block), kOver);
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(late_block)
