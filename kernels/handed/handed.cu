// handed: a stream of puts that a CPU thread posts on the kernel's behalf.
//
// Launch     the sender alone, one thread.
// Job        local, remote, bytes, iterations, window, stamps, status. Queue pair 0, which must be one
//            with a command queue (DOORBELL_QP_PROXY).
// Window     at most window commands are in flight: the oldest is waited for before the next one.
// Order      the payload before the command: the release of the command's phase. A command is done when
//            the CPU has seen its completion.
// Who else   the proxy consumes the commands and posts; no other thread of the GPU writes commands.
// Stamps     before the first command, after the last completion.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

constexpr uint32_t kMostInFlight = 64;

inline __device__ uint32_t stream(const queue_pair &qp, const doorbell_job &job) {
  __shared__ uint64_t tickets[kMostInFlight];
  const uint32_t window = job.window < kMostInFlight ? job.window : kMostInFlight;
  if (!qp.is(DOORBELL_QP_PROXY) || window == 0) {
    return DOORBELL_ERROR_ARGUMENT;
  }
  uint32_t slot = 0;
  for (uint64_t n = 0; n < job.iterations; ++n) {
    uint32_t status = n < window ? DOORBELL_OK : wait(qp, tickets[slot]);
    if (status == DOORBELL_OK) {
      const posted handed = put(qp, {job.remote, job.remote_key}, {job.local, job.local_key},
                                job.bytes);
      tickets[slot] = handed.ticket;
      status = handed.status;
    }
    if (status != DOORBELL_OK) {
      return status;
    }
    slot = slot + 1 == window ? 0 : slot + 1;
  }
  return quiet(qp);
}

extern "C" __global__ void handed(const doorbell_qp *qps, const doorbell_job *jobs) {
  const queue_pair qp(&qps[0]);
  const doorbell_job job = jobs[0];
  const uint64_t start = global_time();
  const uint32_t status = stream(qp, job);
  reinterpret_cast<uint64_t *>(job.stamps)[0] = start;
  reinterpret_cast<uint64_t *>(job.stamps)[1] = global_time();
  reinterpret_cast<uint32_t *>(job.status)[thread_index()] = status;
}
