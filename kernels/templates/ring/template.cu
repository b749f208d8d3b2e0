// doorbell_template: a stream of messages through a ring of slots at the receiver, with credits.
//
// Launch     both ranks at once (role 0 sends, role 1 receives), one thread each.
// Job        local, remote, inbox (each of window slots of bytes, one every stride), bytes (a multiple
//            of 8), iterations, window, stamps, status, role. Queue pair 0.
// Payload    the last 8 bytes of a message are its number, from 1.
// Credits    the receiver puts how many messages it has taken into the first 8 bytes of the sender's
//            inbox; message n goes into slot n % window once n - window messages are taken. So nothing
//            is overwritten that was not read, and at most window messages are in flight.
// Order      number and payload before the doorbell, and the slot's number before the credit: the
//            fences of the posts. Numbers and credits are acquired at system scope.
// Who else   the HCAs write the inboxes; nobody else posts to the queue pairs.
// Stamps     of the sender: before the first message, after the credit for the last one.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

constexpr uint32_t kMostSlots = 64;

// Sends all messages; returns a status.
inline __device__ uint32_t send(const queue_pair &qp, const doorbell_job &job) {
  __shared__ uint64_t tickets[kMostSlots];
  const uint64_t *credits = reinterpret_cast<const uint64_t *>(job.inbox);
  uint64_t slot = 0;
  for (uint64_t n = 1; n <= job.iterations; ++n) {
    if (n > job.window) {
      // The slot is free at the receiver, and its payload here may be written again.
      uint32_t status = wait_for_word(qp, credits, n - job.window, true);
      if (status == DOORBELL_OK) {
        status = wait(qp, tickets[slot]);
      }
      if (status != DOORBELL_OK) {
        return status;
      }
    }
    const uint64_t at = slot * job.stride;
    *reinterpret_cast<uint64_t *>(job.local + at + job.bytes - 8) = n;
    const posted sent = put(qp, {job.remote + at, job.remote_key},
                            {job.local + at, job.local_key}, job.bytes);
    if (sent.status != DOORBELL_OK) {
      return sent.status;
    }
    tickets[slot] = sent.ticket;
    slot = slot + 1 == job.window ? 0 : slot + 1;
  }
  return wait_for_word(qp, credits, job.iterations);
}

// Takes all messages, handing out a credit for each; returns a status.
inline __device__ uint32_t receive(const queue_pair &qp, const doorbell_job &job) {
  uint64_t slot = 0;
  for (uint64_t n = 1; n <= job.iterations; ++n) {
    const uint64_t *arrived =
        reinterpret_cast<const uint64_t *>(job.inbox + slot * job.stride + job.bytes - 8);
    uint32_t status = wait_for_word(qp, arrived, n);
    if (status == DOORBELL_OK) {
      // Here is where a receiver would use the message; this one looks whether it is still there.
      status = *arrived == n ? put_value(qp, {job.remote, job.remote_key}, n).status
                             : DOORBELL_ERROR_DATA;
    }
    if (status != DOORBELL_OK) {
      return status;
    }
    slot = slot + 1 == job.window ? 0 : slot + 1;
  }
  return DOORBELL_OK;
}

extern "C" __global__ void doorbell_template(const doorbell_qp *qps, const doorbell_job *jobs) {
  const queue_pair qp(&qps[0]);
  const doorbell_job job = jobs[0];
  const uint64_t start = global_time();
  uint32_t status = DOORBELL_ERROR_ARGUMENT;
  if (job.window >= 1 && job.window <= kMostSlots && job.bytes >= 8 && job.bytes % 8 == 0) {
    status = job.role == 0 ? send(qp, job) : receive(qp, job);
  }
  if (job.role == 0) {
    reinterpret_cast<uint64_t *>(job.stamps)[0] = start;
    reinterpret_cast<uint64_t *>(job.stamps)[1] = global_time();
  }
  if (status == DOORBELL_OK) {
    status = quiet(qp);
  }
  reinterpret_cast<uint32_t *>(job.status)[thread_index()] = status;
}
