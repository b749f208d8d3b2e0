// blocked_forwarder: a forwarder waits for one source, and the window is with the other.
//
// Block 0 and block 1 of role 0 send through a window of one message. Block 0 of role 1 forwards, and frees
// the window. It waits for source 0, then for source 1: when source 1 has the window first, source 0 waits
// for the window, the forwarder for source 0 and source 1 for the forwarder. Fixed by serving whichever
// source is ready.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kWindow = 0;  // shared words
constexpr uint32_t kReady = 1;   // and kReady + 1: messages of a source that lie in the window
constexpr uint32_t kDone = 3;    // and kDone + 1: those that were forwarded
constexpr uint32_t kSources = 2;

// Takes the window. False when the deadline passes.
__device__ __forceinline__ bool take(const doorbell_qp *qp, uint64_t *window) {
  deadline limit(qp->deadline_ns);
  uint64_t free = 0;
  while (!cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*window).compare_exchange_strong(
      free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) {
    free = 0;
    if (limit.due() && limit.passed()) {
      return false;
    }
  }
  return true;
}

__device__ __forceinline__ void forward(const doorbell_job *job, uint32_t source, uint64_t turn) {
  set_release(shared_word(job, kDone + source), turn);
  set_release(shared_word(job, kWindow), 0);
}

template <bool kMended>
__device__ uint32_t blocked_forwarder(const doorbell_qp *qps, const doorbell_job *job) {
  const uint32_t source = blockIdx.x;
  if (job->role == 0) {
    for (uint64_t turn = 1; turn <= job->iterations; ++turn) {
      if (!take(&qps[0], shared_word(job, kWindow))) {
        return DOORBELL_ERROR_DEADLINE;
      }
      set_release(shared_word(job, kReady + source), turn);
      if (!wait_at_least(&qps[0], shared_word(job, kDone + source), turn)) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    return DOORBELL_OK;
  }
  if (source != 0) {
    return DOORBELL_OK;
  }
  uint64_t turns[kSources] = {1, 1};
  deadline limit(qps[0].deadline_ns);
  while (turns[0] + turns[1] < kSources * (job->iterations + 1)) {
    for (uint32_t from = 0; from < kSources; ++from) {
      if (turns[from] > job->iterations) {
        continue;
      }
      if (!kMended && !wait_at_least(&qps[0], shared_word(job, kReady + from), turns[from])) {
        return DOORBELL_ERROR_DEADLINE;
      }
      if (load_acquire_system(shared_word(job, kReady + from)) >= turns[from]) {
        forward(job, from, turns[from]++);
      }
    }
    if (limit.due() && limit.passed()) {
      return DOORBELL_ERROR_DEADLINE;
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(blocked_forwarder)
