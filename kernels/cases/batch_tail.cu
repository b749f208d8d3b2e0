// batch_tail: a quiet retires batches of requests when their last request is complete, the oldest batch first.
//
// Where requests complete in the order of posting, the completion of a batch's last request says that the batch
// is complete, and batches end in order. Where they complete in any order the end of a batch may come before that of
// an older one: it is taken for a request within a batch, nothing retires its batch later, and the quiet never
// ends. Fixed by counting the completion of each request by itself.
#define DOORBELL_BACK_ENDS
#include "adapter.cuh"

using namespace cases;

constexpr uint64_t kBatch = 2;
constexpr uint64_t kRound = 16;  // requests of one doorbell: an adapter's maximum batch
constexpr uint32_t kInvalid = 0xf;

// The request that completion `index` names. Returns false when there is none until the deadline.
__device__ __forceinline__ bool take_completion(const queue_pair &qp, uint64_t index,
                                                uint64_t &request) {
  const bool efa = qp.is(DOORBELL_QP_EFA);
  const uint64_t entry =
      qp.cq_ring + (index & (qp.cq_entries - 1)) * (efa ? kEfaCqeBytes : kCqeBytes);
  const bool first_lap = (index & qp.cq_entries) == 0;
  deadline limit(qp.shared->deadline_ns);
  for (;;) {
    const uint32_t word = load_acquire_system(
        reinterpret_cast<const uint32_t *>(efa ? entry : entry + kCqeBytes - sizeof(uint32_t)));
    if (efa && (word >> 24 & 1) == (first_lap ? 1 : 0)) {
      request = word & 0xffff;
      return true;
    }
    // Opcode << 4 | owner in the last byte, the request's counter in the two before it.
    const cqe_tail tail{word};
    if (!efa && tail.opcode() != kInvalid && tail.owner() != first_lap) {
      request = tail.wqe_counter();
      return true;
    }
    if (limit.due() && limit.passed()) {
      return false;
    }
  }
}

// Takes the completions of a round, which begins with request `first`, until its batches are retired.
template <bool kMended>
__device__ __forceinline__ uint32_t quiet_batches(const queue_pair &qp, uint64_t first) {
  const uint64_t end = kMended ? kRound : kRound / kBatch;
  uint64_t retired = 0;
  for (uint64_t index = first; retired < end; ++index) {
    uint64_t request = 0;
    if (!take_completion(qp, index, request)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (kMended || request == first + (retired + 1) * kBatch - 1) {
      ++retired;
    }
  }
  return DOORBELL_OK;
}

// Posts requests with one doorbell, on any adapter.
__device__ __forceinline__ void write_request(const queue_pair &qp, const work_request &request,
                                              uint64_t index) {
  if (qp.is(DOORBELL_QP_EFA)) {
    doorbell::detail::write_efa_wqe(qp.shared, request, index);
  } else {
    write_wqe(qp, request, index, true);
  }
}

__device__ __forceinline__ void ring_for(const queue_pair &qp, uint64_t end) {
  if (qp.is(DOORBELL_QP_EFA)) {
    fence(true);
    doorbell::detail::store_register_word(qp.doorbell, low(end) & 0xffffu);
  } else {
    ring_in_order(qp, end);
  }
}

template <bool kMended>
__device__ uint32_t batch_tail(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    const uint64_t *flag = reinterpret_cast<const uint64_t *>(job->inbox + flag_offset(job));
    if (!wait_at_least(&qps[0], flag, 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    for (uint64_t turn = 0; turn < job->iterations; ++turn) {
      if (!is_whole(job, turn)) {
        return DOORBELL_ERROR_DATA;
      }
    }
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  uint64_t turn = 0;
  while (turn < job->iterations) {
    const uint64_t first = turn;
    for (; turn < first + kRound; ++turn) {
      fill(job, turn);
      write_request(qp, message(job, turn), turn);
    }
    ring_for(qp, turn);
    const uint32_t status = quiet_batches<kMended>(qp, first);
    if (status != DOORBELL_OK) {
      return status;
    }
  }
  write_request(qp, flag_write(job, 1), turn);
  ring_for(qp, turn + 1);
  if (qp.is(DOORBELL_QP_EFA)) {
    // What the library counts as posted.
    store_relaxed_device(&qp.counters->reserved, (turn + 1) << DOORBELL_RESERVED_SHIFT);
    return doorbell::detail::wait_for_efa(qp.shared, turn + 1);
  }
  return wait_completed(qp, turn + 1);
}

DOORBELL_CASE(batch_tail)
