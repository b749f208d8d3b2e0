// doorbell_order: a poster hands its turn on, and rings after that, when its next request is written.
//
// Posters of one queue pair take turns, which they wait for by relaxed loads and a fence. A doorbell of mlx5 may
// be late: the record, which is written within the turn, says what is there. EFA's doorbell is the count itself,
// and one that falls back stands for more requests than the adapter takes. Fixed by ringing within the turn.
#define DOORBELL_BACK_ENDS
#include "adapter.cuh"

using namespace cases;

constexpr uint64_t kPosters = 2;

// Waits until `index` requests are announced. The fence makes the relaxed loads an acquire.
__device__ __forceinline__ bool wait_for_turn(const doorbell_qp *qp, uint64_t *turn,
                                              uint64_t index) {
  cuda::atomic_ref<uint64_t, cuda::thread_scope_system> word(*turn);
  deadline limit(qp->deadline_ns);
  while (word.load(cuda::memory_order_relaxed) != index) {
    if (limit.due() && limit.passed()) {
      return false;
    }
  }
  fence(true);
  return true;
}

__device__ __forceinline__ void ring_for(const queue_pair &qp, uint64_t count) {
  if (qp.is(DOORBELL_QP_EFA)) {
    doorbell::detail::store_register_word(qp.doorbell, low(count) & 0xffffu);
  } else {
    store_doorbell(qp, count);
  }
}

template <bool kMended>
__device__ uint32_t doorbell_order(const doorbell_qp *qps, const doorbell_job *job) {
  const queue_pair qp(&qps[0]);
  const uint64_t poster = thread_index();
  const uint64_t total = kPosters * job->iterations;
  if (job->role == 1) {
    for (uint64_t index = 0; index < total && poster == 0; ++index) {
      if (!wait_at_least(&qps[0], reinterpret_cast<const uint64_t *>(job->inbox) + index, index + 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    return DOORBELL_OK;
  }
  uint64_t *turn = shared_word(job, 0);
  for (uint64_t index = poster; index < total; index += kPosters) {
    work_request request = transfer_request(kOpcodeWrite, source::in_operand,
                                            {job->remote + index * 8, job->remote_key}, {}, 8);
    request.operand = index + 1;
    if (qp.is(DOORBELL_QP_EFA)) {
      doorbell::detail::write_efa_wqe(qp.shared, request, index);
    } else {
      write_wqe(qp, request, index, true);
    }
    if (!kMended && index >= kPosters) {
      ring_for(qp, index - kPosters + 1);
    }
    if (!wait_for_turn(&qps[0], turn, index)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (!qp.is(DOORBELL_QP_EFA)) {
      store_record(qp, index + 1);
      fence(true);
    }
    if (kMended) {
      ring_for(qp, index + 1);
    }
    set_release(turn, index + 1);
  }
  if (!kMended) {
    ring_for(qp, total - kPosters + poster + 1);
  }
  if (poster != 0) {
    return DOORBELL_OK;
  }
  if (!wait_for_turn(&qps[0], turn, total)) {
    return DOORBELL_ERROR_DEADLINE;
  }
  if (!qp.is(DOORBELL_QP_EFA)) {
    return wait_completed(qp, total);
  }
  // What the library counts as posted.
  store_relaxed_device(&qp.counters->reserved, total << DOORBELL_RESERVED_SHIFT);
  return doorbell::detail::wait_for_efa(qp.shared, total);
}

DOORBELL_CASE(doorbell_order)
