// put_minimal_rare: puts by the fewest accesses that an HCA requires, in ways that put_minimal does not have.
//
// put_minimal's code decides little as it goes, so that each way to post makes it longer. What is rarely measured is
// here: registers with kSharingLock or kSharingMarks; whatever the CPU rings for; times of visits to several queue
// pairs; round trips with the keys in memory or with registers.
//
// Launch     as put_minimal.
// Job        as put_minimal. An inbox and a table of keys, or registers, or the CPU that rings go together.
// Order      as put_minimal.
// Who else   as put_minimal.
// Samples    as put_minimal.
// Stamps     as put_minimal.
#include "minimal.cuh"

using namespace doorbell;
using namespace doorbell::minimal;

namespace {

__device__ __forceinline__ uint32_t put_by(const doorbell_qp *qps, const doorbell_job &job,
                                           const doorbell_job *source) {
  using plain = view_of_visitor<view_in_memory>;
  using kept = view_in_registers<false>;
  using rung = view_of_visitor<view_rung_by_cpu<view_in_memory>>;
  using kept_rung = view_rung_by_cpu<view_in_registers<false>>;
  const uint64_t *const table = table_of(job, source);
  const bool registers = in_registers(job);
  const bool cpu = rung_by_cpu(job);
  if (job.inbox != 0) {
    if (thread_index() != 0) {
      return DOORBELL_OK;
    }
    if (cpu) {
      return registers ? bounce<kept_rung>(qps[0], job, table) : bounce<rung>(qps[0], job, table);
    }
    return registers ? bounce<kept>(qps[0], job, table) : bounce<plain>(qps[0], job, table);
  }
  if (job.staging_bytes != 0) {
    if (blockIdx.x != 0) {
      return cpu ? background_of_job<rung>(qps, job) : background_of_job<plain>(qps, job);
    }
    if (threadIdx.x != 0) {
      return DOORBELL_OK;
    }
    if (!await_background(qps->deadline_ns, job, (gridDim.x - 1ull) * blockDim.x)) {
      return DOORBELL_ERROR_DEADLINE;
    }
  }
  if (cpu) {
    return registers ? share_of_job<kept_rung>(qps, job, table) : share_of_job<rung>(qps, job, table);
  }
  return registers ? share_of_job<kept>(qps, job, table) : share_of_job<plain>(qps, job, table);
}

}  // namespace

extern "C" __global__ void put_minimal_rare(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  protocol::report(job, put_by(qps, job, jobs));
}
