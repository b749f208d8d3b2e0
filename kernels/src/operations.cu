// operations: lists of any operations, for comparing one way of posting with another.
//
// Launch     any grid. Each thread executes a list of its own (scope THREAD), its warp does so
//            together, lane by lane (WARP), or each block executes one list (BLOCK).
// Job        local: address of doorbell_operation[posters][iterations], where a poster is a thread
//            or, in scope BLOCK, a block; iterations, scope, qp_count. In scope WARP the queue pair is
//            that of the first lane's operation.
// Order      that of the library. An operation with DOORBELL_OPERATION_WAIT is done before its
//            poster's next one; in scope WARP when any lane asks for it.
// Who else   all threads of the grid post to the same queue pairs.
// Status     the first error. An operation that cannot be expressed is left out, and the list goes on;
//            any other error ends it. At the end all queue pairs are quiet.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

namespace {

template <by kScope>
__device__ __forceinline__ uint32_t execute(const doorbell_qp *qps, const doorbell_job &job,
                                            uint64_t poster) {
  const doorbell_operation *list =
      reinterpret_cast<const doorbell_operation *>(job.local) + poster * job.iterations;
  uint32_t first = DOORBELL_OK;
  for (uint64_t i = 0; i < job.iterations; ++i) {
    const doorbell_operation operation = list[i];
    uint32_t number = operation.queue_pair;
    bool waits = (operation.flags & DOORBELL_OPERATION_WAIT) != 0;
    if constexpr (kScope == by::warp) {
      const warp_group warp = warp_group::mine();
      number = __shfl_sync(warp.mask, number, 0);
      waits = __any_sync(warp.mask, waits) != 0;
    }
    const queue_pair qp(&qps[number]);
    const posted sent = post<kScope>(
        qp, protocol::request_of(operation.opcode, {operation.remote, operation.remote_key},
                                 {operation.local, operation.local_key}, operation.bytes,
                                 operation.operand, operation.compare, operation.signal,
                                 operation.fetched));
    uint32_t status = sent.status;
    if (first == DOORBELL_OK) {
      first = status;
    }
    if (waits && (kScope == by::warp || status == DOORBELL_OK)) {
      status = wait<kScope>(qp, sent.ticket);
      if (first == DOORBELL_OK) {
        first = status;
      }
    }
    bool ends = status != DOORBELL_OK && status != DOORBELL_ERROR_ARGUMENT;
    if constexpr (kScope == by::warp) {
      ends = __any_sync(warp_group::mine().mask, ends) != 0;  // lanes stay together
    }
    if (ends) {
      return first;
    }
  }
  for (uint32_t number = 0; number < job.qp_count; ++number) {
    const uint32_t status = quiet<kScope>(queue_pair(&qps[number]));
    if (first == DOORBELL_OK) {
      first = status;
    }
  }
  return first;
}

}  // namespace

extern "C" __global__ void operations(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  uint32_t status;
  if (job.scope == DOORBELL_SCOPE_BLOCK) {
    status = execute<by::block>(qps, job, blockIdx.x);
  } else if (job.scope == DOORBELL_SCOPE_WARP) {
    status = execute<by::warp>(qps, job, thread_index());
  } else {
    status = execute<by::thread>(qps, job, thread_index());
  }
  protocol::report(job, status);
}
