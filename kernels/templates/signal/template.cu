// doorbell_template: a stream of messages by put-with-signal through a ring of slots, with credits by atomics.
//
// Launch     both ranks at once (role 0 sends, role 1 receives), one thread each.
// Job        local, remote, inbox (each of window slots of bytes, one every stride), bytes, iterations,
//            window, signals, stamps, status, role. Queue pair 0.
// Signals    word 0 of the receiver counts messages that have arrived, word 0 of the sender those that
//            were taken: credits. What an atomic fetches lands in word 1 and is not looked at.
// Credits    for each half of the window at once; message n goes into slot n % window once message
//            n - window is taken, so nothing is overwritten that was not read.
// Order      a message before its signal: both lie in one queue pair. Signals and credits are acquired
//            at system scope.
// Who else   the HCAs write the inboxes and signals; nobody else posts to the queue pairs.
// Stamps     of the sender: before the first message, after the credit for the last one.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

constexpr uint32_t kMostSlots = 64;

// Sends all messages; returns a status.
inline __device__ uint32_t send(const queue_pair &qp, const doorbell_job &job,
                                const doorbell_signals &signals) {
  __shared__ uint64_t tickets[kMostSlots];
  const uint64_t *taken = reinterpret_cast<const uint64_t *>(signals.own);
  uint64_t slot = 0;
  for (uint64_t n = 1; n <= job.iterations; ++n) {
    if (n > job.window) {
      // The slot is free at the receiver, and its payload here may be written again.
      uint32_t status = wait_for_word(qp, taken, n - job.window, true);
      if (status == DOORBELL_OK) {
        status = wait(qp, tickets[slot]);
      }
      if (status != DOORBELL_OK) {
        return status;
      }
    }
    const uint64_t at = slot * job.stride;
    *reinterpret_cast<uint64_t *>(job.local + at) = n;
    const posted sent = put_signal(qp, {job.remote + at, job.remote_key},
                                   {job.local + at, job.local_key}, job.bytes,
                                   {signals.remote, signals.remote_key},
                                   {signals.own + 8, signals.own_key}, 1);
    if (sent.status != DOORBELL_OK) {
      return sent.status;
    }
    tickets[slot] = sent.ticket;
    slot = slot + 1 == job.window ? 0 : slot + 1;
  }
  return wait_for_word(qp, taken, job.iterations);
}

// Takes all messages, handing out credits; returns a status.
inline __device__ uint32_t receive(const queue_pair &qp, const doorbell_job &job,
                                   const doorbell_signals &signals) {
  const uint64_t *arrived = reinterpret_cast<const uint64_t *>(signals.own);
  const uint64_t batch = job.window > 1 ? job.window / 2 : 1;
  uint64_t slot = 0;
  uint64_t owed = 0;
  for (uint64_t n = 1; n <= job.iterations; ++n) {
    uint32_t status = wait_for_word(qp, arrived, n, true);
    if (status == DOORBELL_OK &&
        *reinterpret_cast<const uint64_t *>(job.inbox + slot * job.stride) != n) {
      status = DOORBELL_ERROR_DATA;
    }
    ++owed;
    if (status == DOORBELL_OK && (owed == batch || n == job.iterations)) {
      status = fetch_add(qp, {signals.remote, signals.remote_key},
                         {signals.own + 8, signals.own_key}, owed)
                   .status;
      owed = 0;
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
  const doorbell_signals signals = *reinterpret_cast<const doorbell_signals *>(job.signals);
  const uint64_t start = global_time();
  uint32_t status = DOORBELL_ERROR_ARGUMENT;
  if (job.window >= 1 && job.window <= kMostSlots && job.bytes >= 8 && signals.count >= 2) {
    status = job.role == 0 ? send(qp, job, signals) : receive(qp, job, signals);
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
