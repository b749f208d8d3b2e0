// post_once: one operation, then quiet. For demonstrations and for checking the path model.
//
// Launch     one block; thread 0 posts; more threads help to copy when path is STAGE.
// Job        local, remote, bytes, opcode, path (puts), operand, compare, stamps; staging,
//            staging_bytes, staging_wire, chunk_bytes for STAGE. Queue pair 0. A put signal adds to
//            the 8-byte word behind the message, remote + bytes rounded up to 8.
// Order      that of the library: payload before the doorbell; fetched data after quiet.
// Who else   nobody posts to the queue pair.
// Stamps     before the operation (staging included), after its completion was seen.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void post_once(const doorbell_qp *qps, const doorbell_job *jobs) {
  const queue_pair qp(&qps[0]);
  const doorbell_job job = jobs[0];
  protocol::sender sender(job);
  const bool leads = detail::leads_block();

  const uint64_t start = global_time();
  const posted sent = sender.send(qp, job, protocol::request_of(job, job.opcode, 0));
  uint32_t status = sent.status;
  if (status == DOORBELL_OK) {
    status = quiet<by::block>(qp);
  }
  if (leads) {
    protocol::stamp_start(job, start);
    protocol::stamp_end(job, global_time());
  }
  protocol::report(job, status);
}
