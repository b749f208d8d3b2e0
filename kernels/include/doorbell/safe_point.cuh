// Safe points: where a kernel that runs lets the host change what it posts to. After a failure the host
// connects the queue pair again, or another one; when doorbells do not get through, it has commands
// handed to the CPU instead; and back.
//
//   poster                              host
//   between two operations: wanted?     wanted = e + 1     (or a poster failed, and says so)
//   state = e + 1, WAITING or FAILED    all posters there: finishes what was posted, writes the
//   waits                               descriptor of the queue pair anew
//   reads the descriptor, posts on      granted = e + 1
//
// When an epoch is granted, everything that was posted in earlier ones is done: tickets of theirs are
// done, whatever a wait on them said. What a post refused is the poster's to post again.
//
// Order: `state` is stored with release, `granted` loaded with acquire, both at system scope. A
// poster must not keep anything of the descriptor in registers across a safe point: make a new
// queue_pair after it.
#ifndef DOORBELL_SAFE_POINT_CUH
#define DOORBELL_SAFE_POINT_CUH

#include "doorbell/operations.cuh"
#include "doorbell/safe_point_abi.h"

namespace doorbell {

// A poster at its safe point. Belongs to one thread.
class safe_point {
 public:
  // The host has granted epoch 0 or a later one before it launches.
  __device__ __forceinline__ safe_point(uint64_t shared, uint64_t poster)
      : shared_(reinterpret_cast<doorbell_safe_point *>(shared)),
        own_(reinterpret_cast<doorbell_poster *>(shared_->posters) + poster),
        epoch_(load_acquire_system(&shared_->granted)) {
    enter(DOORBELL_POSTER_POSTING);
  }

  // Whether the host wants the caller at the safe point.
  __device__ __forceinline__ bool is_wanted() const {
    return load_acquire_system(&shared_->wanted) != epoch_;
  }

  // Says how many operations have been posted.
  __device__ __forceinline__ void posted(uint64_t operations) {
    store_relaxed_system(&own_->posted, operations);
  }

  // Waits until the host grants the next epoch. Returns DOORBELL_OK; DOORBELL_ERROR_POISONED when it
  // grants no more; DOORBELL_ERROR_DEADLINE.
  __device__ __forceinline__ uint32_t cross(bool failed, uint64_t nanoseconds) {
    const uint64_t next = epoch_ + 1;
    enter(next, failed ? DOORBELL_POSTER_FAILED : DOORBELL_POSTER_WAITING);
    deadline limit(nanoseconds);
    for (;;) {
      const uint64_t granted = load_acquire_system(&shared_->granted);
      if (granted == DOORBELL_SAFE_POINT_CLOSED) {
        return DOORBELL_ERROR_POISONED;
      }
      if (granted >= next) {
        epoch_ = granted;
        enter(DOORBELL_POSTER_POSTING);
        return DOORBELL_OK;
      }
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
      __nanosleep(256);
    }
  }

  // The caller posts no more, and does not come to the safe point again.
  __device__ __forceinline__ void leave() { enter(DOORBELL_POSTER_ENDED); }

 private:
  __device__ __forceinline__ void enter(uint64_t state) { enter(epoch_, state); }

  __device__ __forceinline__ void enter(uint64_t epoch, uint64_t state) {
    cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(own_->state)
        .store(epoch << DOORBELL_POSTER_SHIFT | state, cuda::memory_order_release);
  }

  doorbell_safe_point *shared_;
  doorbell_poster *own_;
  uint64_t epoch_;
};

}  // namespace doorbell

#endif  // DOORBELL_SAFE_POINT_CUH
