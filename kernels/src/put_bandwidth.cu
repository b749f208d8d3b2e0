// put_bandwidth: messages one after the other, with a window of them in flight.
//
// Launch     any number of blocks of up to 512 threads. Each block is one poster: thread 0 posts, the others help to copy
//            when path is STAGE; in scope WARP, blocks of 32 threads, each lane posts a piece of each
//            message, and a doorbell is rung for all of them.
// Job        local, remote, bytes, stride, iterations (of each block), warmup, window, qp_count,
//            path, scope (WARP or anything else), stamps; staging, staging_bytes, staging_wire, chunk_bytes for STAGE. Block b uses
//            queue pair b % qp_count and the messages at local + b * stride and remote + b * stride.
// Path       PULL, INLINE, or STAGE through the block's slots of the staging area; a message longer
//            than a slot goes in chunks. Slots are credits: one is filled again when the put that
//            read it has completed.
// Order      that of the library: payload, staged or not, before the doorbell.
// Who else   other blocks may post to the same queue pair.
// Stamps     earliest start after a block's warm-up, latest end of a block's quiet.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void __launch_bounds__(512) put_bandwidth(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const queue_pair qp(&qps[blockIdx.x % (job.qp_count == 0 ? 1 : job.qp_count)]);
  const request_list list = protocol::request_of(job, DOORBELL_OP_PUT, blockIdx.x * job.stride);
  const bool leads = detail::leads_block();
  protocol::sender sender(job);

  uint32_t status = DOORBELL_OK;
  for (uint32_t measured = 0; measured < 2 && status == DOORBELL_OK; ++measured) {
    if (measured != 0 && leads) {
      protocol::stamp_start(job, global_time());
    }
    protocol::window window(job);
    const uint64_t count = measured != 0 ? job.iterations : job.warmup;
    for (uint64_t i = 0; i < count && status == DOORBELL_OK; ++i) {
      status = window.admit<by::block>(qp, sender.send(qp, job, list));
    }
    if (status == DOORBELL_OK) {
      status = quiet<by::block>(qp);
    }
  }
  if (leads) {
    protocol::stamp_end(job, global_time());
  }
  protocol::report(job, status);
}
