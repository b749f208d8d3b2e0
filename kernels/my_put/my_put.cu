// my_put: ping-pong of puts, half the round trip of each.
//
// Launch     both ranks at once (role 0 and role 1), one thread each.
// Job        local, remote, bytes (a multiple of 8), iterations, warmup, samples, inbox, status, role.
//            Queue pair 0.
// Payload    the last 8 bytes of a message are its number, from 1: how the peer sees that it is there.
// Order      number and payload before the doorbell: the fence of the post. The number in the inbox is
//            acquired at system scope; it is the last word that the HCA stores of a message.
// Who else   the HCA of the peer writes inbox; nobody else posts to the queue pair.
// Samples    nanoseconds of role 0, one an iteration: from before its put to the answer, halved.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

extern "C" __global__ void my_put(const doorbell_qp *qps, const doorbell_job *jobs) {
  const queue_pair qp(&qps[0]);
  const doorbell_job job = jobs[0];
  const uint64_t last_word = job.bytes - 8;
  uint64_t *number = reinterpret_cast<uint64_t *>(job.local + last_word);
  const uint64_t *inbox = reinterpret_cast<const uint64_t *>(job.inbox + last_word);
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);

  uint32_t status = job.bytes >= 8 && job.bytes % 8 == 0 ? DOORBELL_OK : DOORBELL_ERROR_ARGUMENT;
  const uint64_t turns = status == DOORBELL_OK ? job.warmup + job.iterations : 0;
  for (uint64_t turn = 0; turn < turns; ++turn) {
    if (job.role == 1) {
      status = wait_for_word(qp, inbox, turn + 1);
    }
    const uint64_t start = global_time();
    if (status == DOORBELL_OK) {
      *number = turn + 1;
      status = put(qp, {job.remote, job.remote_key}, {job.local, job.local_key}, job.bytes).status;
    }
    if (status == DOORBELL_OK && job.role == 0) {
      status = wait_for_word(qp, inbox, turn + 1);
      if (turn >= job.warmup) {
        samples[turn - job.warmup] = (global_time() - start) / 2;
      }
    }
    if (status != DOORBELL_OK) {
      break;
    }
  }
  if (status == DOORBELL_OK) {
    status = quiet(qp);
  }
  reinterpret_cast<uint32_t *>(job.status)[thread_index()] = status;
}
