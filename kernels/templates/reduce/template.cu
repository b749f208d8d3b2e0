// doorbell_template: a ring all-reduce: every rank ends with the sum of all ranks' vectors.
//
// Launch     all ranks at once (role is the rank, qp_count their number), one block; thread 0 posts and
//            waits, all threads add.
// Job        bytes (of a chunk, a multiple of 4 * pieces), iterations, warmup, samples, signals, status.
//            Queue pair p leads to rank p.
// Settings   pieces: a chunk travels in as many messages, so that adding overlaps with sending.
// Buffers    input and output are vectors of a chunk for each rank; arriving has a chunk for each step but
//            the last of the reduction.
// Algorithm  step s sends chunk rank - s to the next rank. In the first ranks - 1 steps it is a partial sum,
//            which the next rank adds to its own; from then on it is complete, and lands where it belongs.
// Signals    word 0 counts messages of the rank before; what an atomic fetches lands in word 1.
// Order      a message before its signal: both lie in one queue pair. What a thread of the block has added
//            before the put: the barrier, and the fence of the post. Nobody writes to `arriving` or
//            `output` too early: what ends a turn at a rank depends on all that the next rank has read.
// Samples    nanoseconds of rank 0, one a turn. `bandwidth`: bytes of the vector over them. `waiting`:
//            nanoseconds in which the block waited for messages.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

extern "C" __global__ void doorbell_template(const doorbell_qp *qps, const doorbell_job *jobs,
                                             uint32_t pieces, const location *input,
                                             const location *output, const location *arriving,
                                             double *bandwidth, uint64_t *waiting) {
  const doorbell_job job = jobs[0];
  const doorbell_signals signals = *reinterpret_cast<const doorbell_signals *>(job.signals);
  const uint32_t rank = job.role;
  const uint32_t ranks = job.qp_count;
  const uint32_t next = (rank + 1) % ranks;
  const uint32_t before = (rank + ranks - 1) % ranks;
  const doorbell_peer peer = reinterpret_cast<const doorbell_peer *>(job.peers)[next];
  const queue_pair qp(&qps[next]);
  const queue_pair from(&qps[before]);

  const uint64_t *arrived = reinterpret_cast<const uint64_t *>(signals.own);
  const location message{peer.signals, peer.signals_key};
  const location fetched{signals.own + 8, signals.own_key};
  const uint64_t piece = job.bytes / pieces;
  const uint32_t count = static_cast<uint32_t>(piece / sizeof(float));
  const uint32_t steps = 2 * (ranks - 1);
  const float *own = reinterpret_cast<const float *>(input[rank].address);
  float *sum = reinterpret_cast<float *>(output[rank].address);

  // Sends piece q of the chunk of a step.
  const auto send = [&](uint32_t step, uint32_t q) {
    const uint32_t chunk = (rank + 2 * ranks - step) % ranks;
    const uint64_t at = chunk * job.bytes + q * piece;
    const location to = step < ranks - 1
                            ? location{arriving[next].address + step * job.bytes + q * piece,
                                       arriving[next].key}
                            : location{output[next].address + at, output[next].key};
    return put_signal(qp, to, {output[rank].address + at, output[rank].key}, piece, message, fetched, 1)
        .status;
  };

  uint32_t status =
      job.bytes % (pieces * sizeof(float)) == 0 && signals.count >= 2 ? DOORBELL_OK : DOORBELL_ERROR_ARGUMENT;
  uint64_t messages = 0;
  const uint64_t turns = status == DOORBELL_OK ? job.warmup + job.iterations : 0;
  for (uint64_t turn = 0; turn < turns; ++turn) {
    const uint64_t start = global_time();
    uint64_t waited = 0;
    for (uint32_t i = threadIdx.x; i < ranks * pieces * count; i += blockDim.x) {
      sum[i] = own[i];
    }
    __syncthreads();
    for (uint32_t q = 0; threadIdx.x == 0 && status == DOORBELL_OK && q < pieces; ++q) {
      status = send(0, q);
    }
    for (uint32_t step = 0; step < steps; ++step) {
      for (uint32_t q = 0; q < pieces; ++q) {
        ++messages;
        if (threadIdx.x == 0 && status == DOORBELL_OK) {
          const uint64_t look = global_time();
          status = wait_for_word(from, arrived, messages, true);
          waited += global_time() - look;
        }
        if (__syncthreads_or(status != DOORBELL_OK)) {
          break;
        }
        if (step < ranks - 1) {
          const uint32_t chunk = (rank + 2 * ranks - 1 - step) % ranks;
          const float *part = reinterpret_cast<const float *>(arriving[rank].address +
                                                              step * job.bytes + q * piece);
          float *total = sum + (chunk * pieces + q) * count;
          for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            total[i] += part[i];
          }
        }
        __syncthreads();
        if (threadIdx.x == 0 && step + 1 < steps) {
          status = send(step + 1, q);
        }
      }
    }
    // The HCA has read what was sent: the next turn may write to it.
    if (threadIdx.x == 0 && status == DOORBELL_OK) {
      status = quiet(qp);
    }
    if (__syncthreads_or(status != DOORBELL_OK)) {
      break;
    }
    if (threadIdx.x == 0 && turn >= job.warmup) {
      const uint64_t nanos = global_time() - start;
      const uint64_t sample = turn - job.warmup;
      reinterpret_cast<uint64_t *>(job.samples)[sample] = nanos;
      bandwidth[sample] =
          static_cast<double>(ranks * job.bytes) / static_cast<double>(nanos == 0 ? 1 : nanos);
      waiting[sample] = waited;
    }
  }
  reinterpret_cast<uint32_t *>(job.status)[threadIdx.x] = status;
}
