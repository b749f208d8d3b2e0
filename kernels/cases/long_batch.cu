// long_batch: one doorbell for more work requests than the adapter takes at once.
//
// An adapter whose send queue lies in its own memory takes a maximum batch: a doorbell that stands for more puts the
// queue pair into error. Fixed by a doorbell for each batch.
#define DOORBELL_BACK_ENDS
#include "adapter.cuh"

using namespace cases;

constexpr uint64_t kMessages = 24;

template <bool kMended>
__device__ uint32_t long_batch(const doorbell_qp *qps, const doorbell_job *job) {
  const queue_pair qp(&qps[0]);
  const bool efa = qp.is(DOORBELL_QP_EFA);
  if (job->role == 1) {
    const uint64_t *last = reinterpret_cast<const uint64_t *>(job->inbox) + kMessages - 1;
    return wait_at_least(&qps[0], last, kMessages) ? uint32_t{DOORBELL_OK}
                                                   : uint32_t{DOORBELL_ERROR_DEADLINE};
  }
  const uint64_t batch = efa && kMended ? efa_of(qp.shared)->max_batch : kMessages;
  for (uint64_t number = 0; number < kMessages; ++number) {
    work_request request = transfer_request(
        kOpcodeWrite, source::in_operand, {job->remote + number * 8, job->remote_key}, {}, 8);
    request.operand = number + 1;
    if (efa) {
      doorbell::detail::write_efa_wqe(qp.shared, request, number);
    } else {
      write_wqe(qp, request, number, true);
    }
    if ((number + 1) % batch == 0 || number + 1 == kMessages) {
      if (efa) {
        fence(true);
        doorbell::detail::store_register_word(qp.doorbell, low(number + 1) & 0xffffu);
      } else {
        ring_in_order(qp, number + 1);
      }
    }
  }
  if (efa) {
    // What the library counts as posted.
    store_relaxed_device(&qp.counters->reserved, kMessages << DOORBELL_RESERVED_SHIFT);
    return doorbell::detail::wait_for_efa(qp.shared, kMessages);
  }
  return wait_completed(qp, kMessages);
}

DOORBELL_CASE(long_batch)
