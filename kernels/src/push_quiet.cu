// push_quiet: how long a message through a ring in on-chip memory takes until it is acknowledged, one at
// a time.
//
// Launch     one block; thread 0 reserves, commits and rings, all threads copy.
// Job        staging: one doorbell_push_ring. local, remote, bytes, iterations, warmup, samples.
//            No queue pair.
// Order      that of push.cuh.
// Who else   the push engine of the HCA; nobody else pushes to the ring.
// Samples    nanoseconds, one an iteration: from before the message, copying included, until its
//            acknowledgement was seen.
#include "doorbell/push.cuh"
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void push_quiet(const doorbell_qp *, const doorbell_job *jobs) {
  __shared__ uint64_t index;
  const doorbell_job job = jobs[0];
  const doorbell_push_ring *shared = reinterpret_cast<const doorbell_push_ring *>(job.staging);
  doorbell::push_ring ring(shared);
  const push_message message{job.local, job.remote, static_cast<uint32_t>(job.bytes), 0};
  const bool leads = detail::leads_block();

  uint32_t status = shared->slots != 0 && job.bytes <= shared->slot_bytes ? DOORBELL_OK
                                                                         : DOORBELL_ERROR_ARGUMENT;
  for (uint64_t turn = 0; turn < job.warmup + job.iterations && status == DOORBELL_OK; ++turn) {
    __syncthreads();
    const uint64_t start = global_time();
    if (leads) {
      status = ring.wait_for_room(true);
      index = ring.reserve();
    }
    status = protocol::agree(status);
    if (status != DOORBELL_OK) {
      break;
    }
    // All that was sent before is acknowledged: every slot is free.
    stage<by::block>(doorbell::push_ring::slot(*shared, index), job.local, job.bytes);
    __syncthreads();  // what all have copied, before the first thread's fence
    if (leads) {
      ring.commit(index, message, DOORBELL_PUSH_STAGED, 0);
      ring.ring(true);
      status = ring.quiet();
      if (turn >= job.warmup) {
        reinterpret_cast<uint64_t *>(job.samples)[turn - job.warmup] = global_time() - start;
      }
    }
    status = protocol::agree(status);
  }
  protocol::report(job, status);
}
