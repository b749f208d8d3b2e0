// safe_point: the host changes what a kernel posts to, before the kernel is at its safe point.
//
// Role 0 posts as kernels with safe points do (safe_point.cuh): between two operations it looks whether
// the host wants it, and after the safe point it reads the descriptor again. Role 1 is the host's keeper:
// it wants the next epoch, waits until the poster is there, reads what the poster has left, points the
// descriptor at the other queue pair, and grants. Broken, it does not wait: the descriptor changes under
// a poster that reads it, and what the poster has left is not all there.
#include "case.cuh"
#include "doorbell/safe_point.cuh"

using namespace cases;

// Shared words: the safe point, its one poster, the descriptor, what the poster leaves, and whether all
// of that is set up.
constexpr uint32_t kPoint = 0;
constexpr uint32_t kPoster = 1;
constexpr uint32_t kDescriptor = 2;
constexpr uint32_t kLeft = 3;
constexpr uint32_t kReady = 4;

constexpr uint32_t kQueuePairs = 2;

// Operations to an epoch, at least.
constexpr uint64_t kStride = 2;

__device__ uint32_t keep_going(const doorbell_qp *qps, const doorbell_job *job) {
  if (!wait_at_least(&qps[0], shared_word(job, kReady), 1)) {
    return DOORBELL_ERROR_DEADLINE;
  }
  safe_point point(reinterpret_cast<uint64_t>(shared_word(job, kPoint)), 0);
  uint64_t next = 0;
  uint64_t posted[kQueuePairs] = {};
  while (next < job->iterations) {
    // One epoch: a queue pair of its own.
    const uint64_t which = *shared_word(job, kDescriptor);
    const queue_pair qp(&qps[which]);
    while (next < job->iterations && !point.is_wanted()) {
      const uint64_t offset = next * job->stride;
      write_wqe(qp,
                transfer_request(kOpcodeWrite, source::device,
                                 {job->remote + offset, job->remote_key},
                                 {job->local + offset, job->local_key}, job->bytes),
                posted[which]++, true);
      ring_in_order(qp, posted[which]);
      const uint32_t status = wait_completed(qp, posted[which]);
      if (status != DOORBELL_OK) {
        return status;
      }
      *shared_word(job, kLeft) = ++next;
      point.posted(next);
    }
    if (next < job->iterations) {
      const uint32_t status = point.cross(false, qps[0].deadline_ns);
      if (status != DOORBELL_OK) {
        return status;
      }
    }
  }
  point.leave();
  return DOORBELL_OK;
}

template <bool kMended>
__device__ uint32_t keep(const doorbell_qp *qps, const doorbell_job *job) {
  doorbell_safe_point *point = reinterpret_cast<doorbell_safe_point *>(shared_word(job, kPoint));
  doorbell_poster *poster = reinterpret_cast<doorbell_poster *>(shared_word(job, kPoster));
  point->posters = reinterpret_cast<uint64_t>(poster);
  set_release(shared_word(job, kReady), 1);
  for (uint64_t epoch = 1; epoch * kStride < job->iterations; ++epoch) {
    if (!wait_at_least(&qps[0], &poster->posted, epoch * kStride)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    set_release(&point->wanted, epoch);
    // There, in this epoch, or ended: a later state is a larger number.
    const uint64_t there = epoch << DOORBELL_POSTER_SHIFT | DOORBELL_POSTER_WAITING;
    const uint64_t ended = (epoch - 1) << DOORBELL_POSTER_SHIFT | DOORBELL_POSTER_ENDED;
    deadline limit(qps[0].deadline_ns);
    uint64_t state = load_acquire_system(&poster->state);
    while (kMended && state < there && state != ended) {
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
      state = load_acquire_system(&poster->state);
    }
    if (*shared_word(job, kLeft) < epoch * kStride) {
      return DOORBELL_ERROR_DATA;
    }
    *shared_word(job, kDescriptor) = epoch % kQueuePairs;
    set_release(&point->granted, epoch);
    if (state == ended) {
      break;
    }
  }
  return DOORBELL_OK;
}

template <bool kMended>
__device__ uint32_t safe_point_case(const doorbell_qp *qps, const doorbell_job *job) {
  return job->role == 0 ? keep_going(qps, job) : keep<kMended>(qps, job);
}

extern "C" __global__ void safe_point_broken(const doorbell_qp *qps, const doorbell_job *job) {
  report(job, safe_point_case<false>(qps, job));
}

extern "C" __global__ void safe_point_fixed(const doorbell_qp *qps, const doorbell_job *job) {
  report(job, safe_point_case<true>(qps, job));
}
