// wrong_counter: a CPU that rings for the GPU polls the counter of reserved WQEs, not of written ones.
//
// Role 0 reserves, writes and publishes; role 1 (the CPU) rings for what the counter that it polls says.
// A reserved slot holds no WQE yet.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kReserved = 0;  // shared words
constexpr uint32_t kWritten = 1;

template <bool kMended>
__device__ uint32_t wrong_counter(const doorbell_qp *qps, const doorbell_job *job) {
  const queue_pair qp(&qps[0]);
  uint64_t *reserved = shared_word(job, kReserved);
  uint64_t *written = shared_word(job, kWritten);
  for (uint64_t index = 0; index < job->iterations; ++index) {
    if (job->role == 0) {
      set_release(reserved, index + 1);
      write_put(qp, job, index);
      set_release(written, index + 1);
      continue;
    }
    if (!wait_at_least(&qps[0], kMended ? written : reserved, index + 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    ring_in_order(qp, index + 1);
  }
  return job->role == 0 ? wait_completed(qp, job->iterations) : DOORBELL_OK;
}

DOORBELL_CASE(wrong_counter)
