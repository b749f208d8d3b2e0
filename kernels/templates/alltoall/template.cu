// doorbell_template: every rank sends every other one a message of its own, turn after turn.
//
// Launch     all ranks at once (role is the rank, qp_count their number, up to 16), one block of 32
//            threads: thread p sends to rank p and waits for it; those without a peer only take part in
//            the barriers.
// Job        local (a message for each rank, one every stride), inbox and peers (one from each), bytes
//            (a multiple of 8), iterations, warmup, samples, signals, status. Queue pair p leads to rank p.
// Payload    the last 8 bytes of a message are its turn, from 1.
// Signals    word p counts the messages of rank p, word 16 + p is how many of ours rank p has looked at;
//            what an atomic fetches lands in word 32 + p and is not looked at. One word for each peer, so
//            that what is fetched is not chance, and a message that is missing says whose it is.
// Order      a message before its signal: both lie in one queue pair. A look before what tells of it:
//            the fence of the post. Words are acquired at system scope.
// Who else   the HCAs write inboxes and signals; nobody else posts to the queue pairs.
// Samples    nanoseconds of rank 0, one a turn: from before its puts until a message of each rank has
//            arrived and was looked at. That all others have looked is waited for outside of it.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

constexpr uint32_t kMostRanks = 16;

extern "C" __global__ void doorbell_template(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const doorbell_signals signals = *reinterpret_cast<const doorbell_signals *>(job.signals);
  const uint32_t rank = job.role;
  const uint32_t ranks = job.qp_count;
  const bool sends = threadIdx.x < ranks && threadIdx.x != rank;
  const uint32_t to = sends ? threadIdx.x : (rank + 1) % ranks;
  const doorbell_peer peer = reinterpret_cast<const doorbell_peer *>(job.peers)[to];
  const queue_pair qp(&qps[to]);

  const uint64_t last_word = job.bytes - 8;
  uint64_t *number = reinterpret_cast<uint64_t *>(job.local + to * job.stride + last_word);
  const uint64_t *turn_of_peer =
      reinterpret_cast<const uint64_t *>(job.inbox + to * job.stride + last_word);
  const uint64_t *arrived = reinterpret_cast<const uint64_t *>(signals.own) + to;
  const uint64_t *looked = arrived + kMostRanks;
  const location fetched{signals.own + 8 * (2 * kMostRanks + to), signals.own_key};
  const location message{peer.signals + 8 * rank, peer.signals_key};
  const location look{peer.signals + 8 * (kMostRanks + rank), peer.signals_key};

  uint32_t status = job.bytes >= 8 && job.bytes % 8 == 0 && ranks <= kMostRanks &&
                            blockDim.x >= ranks && signals.count >= 3 * kMostRanks
                        ? DOORBELL_OK
                        : DOORBELL_ERROR_ARGUMENT;
  const uint64_t turns = status == DOORBELL_OK ? job.warmup + job.iterations : 0;
  for (uint64_t turn = 1; turn <= turns; ++turn) {
    const uint64_t start = global_time();
    posted sent{DOORBELL_OK, 0};
    if (sends) {
      *number = turn;
      sent = put_signal(qp, {peer.inbox + rank * job.stride, peer.inbox_key},
                        {job.local + to * job.stride, job.local_key}, job.bytes, message, fetched, 1);
      status = sent.status;
      if (status == DOORBELL_OK) {
        status = wait_for_word(qp, arrived, turn);
      }
      // Here is where a receiver would use the message; this one looks whether it is that of the turn.
      if (status == DOORBELL_OK && *turn_of_peer != turn) {
        status = DOORBELL_ERROR_DATA;
      }
    }
    if (__syncthreads_or(status != DOORBELL_OK)) {
      break;
    }
    if (threadIdx.x == 0 && rank == 0 && turn > job.warmup) {
      reinterpret_cast<uint64_t *>(job.samples)[turn - job.warmup - 1] = global_time() - start;
    }
    if (sends) {
      status = put_value(qp, look, turn).status;
      if (status == DOORBELL_OK) {
        status = wait_for_word(qp, looked, turn);
      }
      if (status == DOORBELL_OK) {
        status = wait(qp, sent.ticket);
      }
    }
    if (__syncthreads_or(status != DOORBELL_OK)) {
      break;
    }
  }
  if (sends && status == DOORBELL_OK) {
    status = quiet(qp);
  }
  reinterpret_cast<uint32_t *>(job.status)[threadIdx.x] = status;
}
