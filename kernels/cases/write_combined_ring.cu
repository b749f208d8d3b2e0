// write_combined_ring: the CPU fills a command ring in write-combined memory and sets the flag.
//
// Role 1 is the CPU. Stores to ordinary memory leave an x86 CPU in order, so nobody missed a fence; those
// to write-combined memory do not, and the GPU finds a flag in front of a command that is not there.
// Fixed by the fence (sfence) between them.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kWords = 4;  // of a command; the flag is the word behind

template <bool kMended>
__device__ uint32_t write_combined_ring(const doorbell_qp *qps, const doorbell_job *job) {
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    uint64_t *command = shared_word(job, static_cast<uint32_t>(turn));
    uint64_t *flag = command + kWords;
    if (job->role == 1) {
      for (uint32_t word = 0; word < kWords; ++word) {
        command[word] = turn + word;
      }
      if (kMended) {
        fence(true);
      }
      set_relaxed(flag, 1);
      continue;
    }
    if (!wait_at_least(&qps[0], flag, 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    for (uint32_t word = 0; word < kWords; ++word) {
      if (command[word] != turn + word) {
        return DOORBELL_ERROR_DATA;
      }
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(write_combined_ring)
