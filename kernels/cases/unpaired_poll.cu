// unpaired_poll: the CPU polls the kernel's completion flag, and its poll is no acquire.
//
// Role 0 writes a payload and its length, and sets the flag with release. Role 1 (the CPU) has seen the flag, reads
// the length and posts the payload. On x86 loads stay in order, so nobody missed the other half of the pair; on
// aarch64 what follows the poll may be older than the flag. Fixed by a fence behind the poll that succeeded.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kLength = 0;  // shared words; the flags lie behind

template <bool kMended>
__device__ uint32_t unpaired_poll(const doorbell_qp *qps, const doorbell_job *job) {
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    uint64_t *length = shared_word(job, kLength) + turn;
    uint64_t *flag = shared_word(job, 1 + static_cast<uint32_t>(turn));
    if (job->role == 0) {
      *reinterpret_cast<uint64_t *>(job->local + turn * job->stride) = turn + 1;
      *length = job->bytes;
      set_release(flag, 1);
      continue;
    }
    deadline limit(qp.shared->deadline_ns);
    while (*const_cast<const volatile uint64_t *>(flag) == 0) {
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    if (kMended) {
      fence(true);
    }
    if (*length != job->bytes) {
      return DOORBELL_ERROR_DATA;
    }
    write_put(qp, job, turn);
    ring_in_order(qp, turn + 1);
  }
  return job->role == 0 ? uint32_t{DOORBELL_OK} : wait_completed(qp, job->iterations);
}

DOORBELL_CASE(unpaired_poll)
