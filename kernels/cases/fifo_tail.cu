// fifo_tail: the CPU gives a FIFO's slot back before it has read it.
//
// Role 0 pushes commands into a ring of two slots, role 1 (the CPU) takes them and moves the tail on. The
// tail was copied to the GPU on a path of its own: it says that a slot is free while the CPU still reads
// it. Fixed by moving the tail after the read, with release.
#include "case.cuh"

using namespace cases;

constexpr uint32_t kSlots = 2;
constexpr uint32_t kTail = 0;   // shared words: the tail, then a sequence word and a command a slot
constexpr uint32_t kFirst = 1;

template <bool kMended>
__device__ uint32_t fifo_tail(const doorbell_qp *qps, const doorbell_job *job) {
  uint64_t *tail = shared_word(job, kTail);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    uint64_t *sequence = shared_word(job, kFirst + 2 * (turn % kSlots));
    uint64_t *command = shared_word(job, kFirst + 2 * (turn % kSlots) + 1);
    if (job->role == 0) {
      if (turn >= kSlots && !wait_at_least(&qps[0], tail, turn + 1 - kSlots)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      *command = 100 + turn;
      set_release(sequence, turn + 1);
      continue;
    }
    if (!wait_at_least(&qps[0], sequence, turn + 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (!kMended) {
      set_relaxed(tail, turn + 1);
    }
    if (*command != 100 + turn) {
      return DOORBELL_ERROR_DATA;
    }
    if (kMended) {
      set_release(tail, turn + 1);
    }
  }
  return DOORBELL_OK;
}

DOORBELL_CASE(fifo_tail)
