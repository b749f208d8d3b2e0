// doorbell_template: every thread swaps a message with its like at the other rank, then all wait for all.
//
// Launch     both ranks at once, any grid whose blocks are resident together.
// Job        local, remote, inbox (a slot of bytes for each thread, one every stride), bytes (a
//            multiple of 8), iterations, warmup, samples, signals, status, qp_count.
//            Thread t posts to queue pair t % qp_count.
// Signals    word 0 counts the messages of the other rank, word 1 its looks; what thread t fetched,
//            which is its place in the order of arrival, lands in word 2 + t.
// Barrier    each thread adds 1 to the peer's word 0 behind its message (put_signal), and waits until
//            its own is threads x turns: then every message of the turn has arrived. Then each looks
//            at its neighbour's message, adds 1 to the peer's word 1, and waits for its own. One word
//            for both would not do: a thread that is fast would come twice for one that is slow.
// Order      a message before its signal: both lie in one queue pair. A thread's look before its
//            second arrival: the fence of the post. Words are acquired at system scope.
// Who else   all threads post; the HCAs write inboxes and signals.
// Samples    nanoseconds of thread 0 of role 0, one an iteration: from before its put to after the
//            second barrier.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

extern "C" __global__ void doorbell_template(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const doorbell_signals signals = *reinterpret_cast<const doorbell_signals *>(job.signals);
  const uint64_t me = thread_index();
  const uint64_t all = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  const queue_pair qp(&qps[me % job.qp_count]);
  const uint64_t last_word = job.bytes - 8;
  uint64_t *number = reinterpret_cast<uint64_t *>(job.local + me * job.stride + last_word);
  const uint64_t *neighbour =
      reinterpret_cast<const uint64_t *>(job.inbox + (me + 1) % all * job.stride + last_word);
  const uint64_t *arrived = reinterpret_cast<const uint64_t *>(signals.own);
  const uint64_t *looked = arrived + 1;
  const location fetched{signals.own + 8 * (2 + me), signals.own_key};
  const location message{signals.remote, signals.remote_key};
  const location look{signals.remote + 8, signals.remote_key};

  uint32_t status = job.bytes >= 8 && job.bytes % 8 == 0 && signals.count >= all + 2
                        ? DOORBELL_OK
                        : DOORBELL_ERROR_ARGUMENT;
  const uint64_t turns = status == DOORBELL_OK ? job.warmup + job.iterations : 0;
  for (uint64_t turn = 0; turn < turns && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    *number = turn + 1;
    posted sent = put_signal(qp, {job.remote + me * job.stride, job.remote_key},
                             {job.local + me * job.stride, job.local_key}, job.bytes, message,
                             fetched, 1);
    status = sent.status;
    if (status == DOORBELL_OK) {
      status = wait_for_word(qp, arrived, all * (turn + 1), true);
    }
    if (status == DOORBELL_OK && *neighbour != turn + 1) {
      status = DOORBELL_ERROR_DATA;
    }
    if (status == DOORBELL_OK) {
      sent = fetch_add(qp, look, fetched, 1);
      status = sent.status;
    }
    if (status == DOORBELL_OK) {
      status = wait_for_word(qp, looked, all * (turn + 1), true);
    }
    if (status == DOORBELL_OK) {
      status = wait(qp, sent.ticket);
    }
    if (me == 0 && job.role == 0 && turn >= job.warmup) {
      reinterpret_cast<uint64_t *>(job.samples)[turn - job.warmup] = global_time() - start;
    }
  }
  if (status == DOORBELL_OK) {
    status = quiet(qp);
  }
  reinterpret_cast<uint32_t *>(job.status)[me] = status;
}
