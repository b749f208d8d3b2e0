// signal_order: messages, and a signal behind them that says they are all there, on any adapter.
//
// Launch     twice at once, role 0 and role 1, any grid; its first thread does it all. Role 0 sends, role 1 looks and answers.
// Job        local, remote, inbox (`window` slots of bytes, one every stride), bytes (a multiple of 8, from 16),
//            iterations and warmup (groups of `window` messages), samples, signals, status. Queue pair 0.
//            The next group begins when the one before is answered.
// Payload    the number of the group, from 1, is written into the first and the last word of each message;
//            role 1 finds it in both, or ends with DOORBELL_ERROR_DATA.
// Signals    word 0 of role 1: groups that are there; word 0 of role 0: groups that role 1 has looked at;
//            what an atomic or a READ fetches lands in word 1 of role 0.
// Order      the signal behind the messages: order.cuh, by the flags of the queue pair. A message that carries its
//            signal (ORDER_PACK) is there when its last word is. Role 1's looks before its answer: the
//            fence of the post.
// Who else   nobody else posts to the queue pair.
// Samples    nanoseconds of role 0, one a group: from before its first put to its answer.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

namespace {

__device__ __forceinline__ uint32_t send_group(const queue_pair &qp, const doorbell_job &job,
                                               const doorbell_signals &signals, uint64_t group,
                                               uint64_t count) {
  const bool packed = packs(qp, job.bytes);
  const notice news{{signals.remote, signals.remote_key}, group, 1, {signals.own + 8, signals.own_key}};
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = i * job.stride;
    uint64_t *words = reinterpret_cast<uint64_t *>(job.local + at);
    words[0] = group;
    words[job.bytes / 8 - 1] = group;
    const location remote{job.remote + at, job.remote_key};
    const location local{job.local + at, job.local_key};
    const uint32_t status = packed || i + 1 < count
                                ? put(qp, remote, local, job.bytes).status
                                : put_and_signal(qp, remote, local, job.bytes, news).status;
    if (status != DOORBELL_OK) {
      return status;
    }
  }
  return wait_for_word(qp, reinterpret_cast<const uint64_t *>(signals.own), group, true);
}

__device__ __forceinline__ uint32_t receive_group(const queue_pair &qp, const doorbell_job &job,
                                                  const doorbell_signals &signals, uint64_t group,
                                                  uint64_t count) {
  const bool packed = packs(qp, job.bytes);
  const uint64_t last = job.bytes / 8 - 1;
  uint32_t status = packed ? uint32_t{DOORBELL_OK}
                           : wait_for_word(qp, reinterpret_cast<const uint64_t *>(signals.own),
                                           group, true);
  for (uint64_t i = 0; i < count && status == DOORBELL_OK; ++i) {
    const uint64_t *words = reinterpret_cast<const uint64_t *>(job.inbox + i * job.stride);
    if (packed) {
      status = wait_for_word(qp, words + last, group);
    }
    if (status == DOORBELL_OK && (words[0] != group || words[last] != group)) {
      status = DOORBELL_ERROR_DATA;
    }
  }
  return status == DOORBELL_OK
             ? put_value(qp, {signals.remote, signals.remote_key}, group).status
             : status;
}

}  // namespace

extern "C" __global__ void signal_order(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  if (thread_index() != 0) {
    protocol::report(job, DOORBELL_OK);
    return;
  }
  const doorbell_signals signals = *reinterpret_cast<const doorbell_signals *>(job.signals);
  const queue_pair qp(&qps[0]);
  const uint64_t window = job.window == 0 ? 1 : job.window;
  const uint64_t total = job.warmup + job.iterations;
  uint32_t status = job.bytes >= 16 && job.bytes % 8 == 0 && signals.count >= 2
                        ? DOORBELL_OK
                        : DOORBELL_ERROR_ARGUMENT;
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    const uint64_t begin = global_time();
    if (job.role == 0) {
      status = send_group(qp, job, signals, turn + 1, window);
    } else {
      status = receive_group(qp, job, signals, turn + 1, window);
    }
    if (job.role == 0 && turn >= job.warmup && job.samples != 0) {
      reinterpret_cast<uint64_t *>(job.samples)[turn - job.warmup] = global_time() - begin;
    }
  }
  if (status == DOORBELL_OK) {
    status = quiet(qp);
  }
  protocol::report(job, status);
}
