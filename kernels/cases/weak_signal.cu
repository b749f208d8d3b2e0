// weak_signal: the last of several messages carries its own signal, and the receiver reads all of them.
//
// A message within one packet is whole when its last word is there: that orders the message itself, a weak
// signal, and nothing before it. Where writes are placed in any order the earlier messages may be missing.
// Fixed by the strong-ordering fence bit on the message that carries the signal.
#include "adapter.cuh"

using namespace cases;

constexpr uint64_t kMessages = 3;  // of a turn
constexpr uint64_t kShort = 64;    // bytes of each: less than a packet

__device__ __forceinline__ uint64_t offset_of(uint64_t message) { return message * kShort; }

template <bool kMended>
__device__ uint32_t weak_signal(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    for (uint64_t turn = 0; turn < job->iterations; ++turn) {
      const uint64_t at = job->inbox + turn * job->stride;
      if (!wait_at_least(&qps[0],
                         reinterpret_cast<const uint64_t *>(at + offset_of(kMessages) - 8), turn + 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      for (uint64_t message = 0; message < kMessages - 1; ++message) {
        if (*reinterpret_cast<const uint64_t *>(at + offset_of(message)) != turn + 1) {
          return DOORBELL_ERROR_DATA;
        }
      }
    }
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    for (uint64_t message = 0; message < kMessages; ++message) {
      const uint64_t at = turn * job->stride + offset_of(message);
      uint64_t *words = reinterpret_cast<uint64_t *>(job->local + at);
      words[0] = turn + 1;
      words[kShort / 8 - 1] = turn + 1;
      const work_request request = transfer_request(kOpcodeWrite, source::device,
                                                    {job->remote + at, job->remote_key},
                                                    {job->local + at, job->local_key}, kShort);
      const uint64_t index = kMessages * turn + message;
      if (kMended && message == kMessages - 1) {
        write_fenced(qp, request, index);
      } else {
        write_wqe(qp, request, index, true);
      }
    }
    ring_in_order(qp, kMessages * (turn + 1));
  }
  return wait_completed(qp, kMessages * job->iterations);
}

DOORBELL_CASE(weak_signal)
