// put_quiet: how long a put takes until it is done, one at a time, along any path.
//
// Launch     one block; thread 0 posts and polls; more threads help to copy when path is STAGE.
// Job        local, remote, bytes, iterations, warmup, samples, path; staging, staging_bytes,
//            staging_wire, staging_key, chunk_bytes for STAGE. Queue pair 0.
// Order      that of the library: payload, staged or not, before the doorbell.
// Who else   nobody posts to the queue pair.
// Samples    nanoseconds, one an iteration: from before the put, staging included, until its completion
//            was seen.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void put_quiet(const doorbell_qp *qps, const doorbell_job *jobs) {
  const queue_pair qp(&qps[0]);
  const doorbell_job job = jobs[0];
  const request_list list = protocol::request_of(job, DOORBELL_OP_PUT, 0);
  const bool leads = detail::leads_block();
  protocol::sender sender(job);

  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < job.warmup + job.iterations && status == DOORBELL_OK; ++turn) {
    __syncthreads();
    const uint64_t start = global_time();
    status = sender.send(qp, job, list).status;
    if (status == DOORBELL_OK) {
      status = quiet<by::block>(qp);
    }
    if (leads && turn >= job.warmup) {
      reinterpret_cast<uint64_t *>(job.samples)[turn - job.warmup] = global_time() - start;
    }
  }
  protocol::report(job, status);
}
