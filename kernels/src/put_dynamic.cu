// put_dynamic: puts over dynamic connections by the fewest accesses that an HCA requires.
//
// put_minimal's twin for transport dc: each WQE has an address vector, so a queue pair is an initiator, which reaches
// one target after the other, and the HCA connects as it sends. A WQE has 96 bytes, more with further inline payload.
//
// Launch     as put_minimal.
// Job        as put_minimal; at most 924 bytes inline, as a WQE's length in 16 bytes has 6 bits. qp_count counts
//            initiators; one poster's visits are to targets, so that kSharingVisits is kSharingOwn.
//            peers    address vectors of 48 bytes, as WQEs hold them
//            path     how many. Poster p visits p, p plus the number of posters and so on: one a doorbell. Each
//                     doorbell loads its vector; of a single one, registers (bit 18 of operand) keep it
// Order      as put_minimal. The vectors are written before the launch.
// Who else   the HCA, and the posters that share the initiator.
// Samples    as put_minimal.
// Stamps     as put_minimal.
#include "minimal.cuh"

using namespace doorbell;
using namespace doorbell::minimal;

namespace {

__device__ __forceinline__ uint32_t put_by(const doorbell_qp *qps, const doorbell_job &job,
                                           const doorbell_job *source) {
  using plain = view_of_initiator<view_in_memory>;
  using kept = view_of_initiator<view_in_registers<false>>;
  using rung = view_of_initiator<view_rung_by_cpu<view_in_memory>>;
  using kept_rung = view_of_initiator<view_rung_by_cpu<view_in_registers<false>>>;
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

extern "C" __global__ void put_dynamic(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  protocol::report(job, put_by(qps, job, jobs));
}
