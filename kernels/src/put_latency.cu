// put_latency: ping-pong of puts between two GPUs, half the round trip of each.
//
// Launch     twice at once, role 0 and role 1, one block each of up to 512 threads. Thread 0 posts and polls; more threads
//            help to copy when path is STAGE; in scope WARP, with 32 threads, each lane posts a piece
//            of the message, and a doorbell is rung for all of them.
// Job        local, remote, bytes (a multiple of 8), iterations, warmup, samples, inbox, path, scope
//            (WARP or anything else), role;
//            staging, staging_bytes, staging_wire, chunk_bytes for STAGE. Queue pair 0.
// Payload    the kernel writes the iteration's number, from 1, into the last 8 bytes of local before
//            each put, and waits for it in the last 8 bytes of inbox. The host zeroes the inbox.
// Order      number and payload before the doorbell: the fence of the post. The number in the inbox is
//            acquired at system scope; it is the last word that the HCA stores of a message.
// Who else   the HCA of the peer writes inbox; nobody else posts to the queue pair.
// Samples    nanoseconds of role 0, one an iteration: from before its put to the answer, halved.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void __launch_bounds__(512) put_latency(const doorbell_qp *qps, const doorbell_job *jobs) {
  const queue_pair qp(&qps[0]);
  const doorbell_job job = jobs[0];
  const uint64_t total = job.warmup + job.iterations;
  const uint64_t last_word = job.bytes - 8;
  const uint64_t *inbox = reinterpret_cast<const uint64_t *>(job.inbox + last_word);
  uint64_t *tag = reinterpret_cast<uint64_t *>(job.local + last_word);
  const bool leads = detail::leads_block();
  protocol::sender sender(job);

  uint32_t status = job.bytes >= 8 && job.bytes % 8 == 0 ? DOORBELL_OK : DOORBELL_ERROR_ARGUMENT;
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    const uint64_t number = turn + 1;
    if (job.role == 1) {
      status = leads ? wait_for_word(qp, inbox, number) : DOORBELL_OK;
    }
    const uint64_t start = global_time();
    if (leads) {
      *tag = number;
    }
    status = protocol::agree(status);  // and the tag before others copy it
    if (status == DOORBELL_OK) {
      status = sender.send(qp, job, protocol::request_of(job, DOORBELL_OP_PUT, 0)).status;
    }
    if (job.role == 0 && status == DOORBELL_OK) {
      status = leads ? wait_for_word(qp, inbox, number) : DOORBELL_OK;
      if (leads && turn >= job.warmup && job.samples != 0) {
        reinterpret_cast<uint64_t *>(job.samples)[turn - job.warmup] = (global_time() - start) / 2;
      }
      status = protocol::agree(status);
    }
  }
  if (status == DOORBELL_OK) {
    status = quiet<by::block>(qp);
  }
  protocol::report(job, status);
}
