// doorbell_template: top-k dispatch: every rank sends each of its tokens to the experts that it chose.
//
// Launch     all ranks at once (role is the rank, qp_count their number, up to 32), one block of 32
//            threads: thread p sends to rank p and waits for it; those without a rank only take part in
//            the barriers.
// Job        bytes (of a token, a multiple of 4), iterations, warmup, samples, signals, status. Queue pair p
//            leads to rank p.
// Settings   token_count of a rank, fanout: experts that a token goes to, expert_count among all ranks: expert e
//            is at rank e % ranks.
// Buffers    states: the tokens; choices: experts of token 0, of token 1 ...; arrived: a region for each rank
//            with room for all of its tokens, filled from its start in the order of the choices; counts:
//            how many came from each rank.
// Signals    word p is the turn of rank p in its upper half and how many tokens it sent in its lower half;
//            word 32 + p is the last turn of ours that rank p has looked at.
// Order      tokens before the word that counts them, which is a signal on their queue pair. A look before what tells
//            of it: the fence of the post. Words are acquired at system scope.
// Samples    nanoseconds of rank 0, one a turn: until all its tokens have come. `slowest`: the same of every
//            rank. `received`: tokens that came to a rank.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

constexpr uint32_t kMostRanks = 32;

extern "C" __global__ void doorbell_template(const doorbell_qp *qps, const doorbell_job *jobs,
                                             uint32_t tokens, uint32_t topk, const location *hidden,
                                             const location *choices, const location *arrived,
                                             const location *counts, uint64_t *slowest,
                                             uint64_t *received) {
  const doorbell_job job = jobs[0];
  const doorbell_signals signals = *reinterpret_cast<const doorbell_signals *>(job.signals);
  const uint32_t rank = job.role;
  const uint32_t ranks = job.qp_count;
  const bool serves = threadIdx.x < ranks;
  const bool sends = serves && threadIdx.x != rank;
  const uint32_t to = sends ? threadIdx.x : (rank + 1) % ranks;
  const doorbell_peer peer = reinterpret_cast<const doorbell_peer *>(job.peers)[to];
  const queue_pair qp(&qps[to]);

  const uint32_t *chosen = reinterpret_cast<const uint32_t *>(choices[rank].address);
  const uint64_t region = static_cast<uint64_t>(tokens) * topk * job.bytes;
  const uint64_t *news = reinterpret_cast<const uint64_t *>(signals.own) + to;
  const uint64_t *looked = news + kMostRanks;
  const location word{peer.signals + 8 * rank, peer.signals_key};
  const location look{peer.signals + 8 * (kMostRanks + rank), peer.signals_key};
  __shared__ uint32_t total;

  uint32_t status = job.bytes % 4 == 0 && ranks <= kMostRanks && blockDim.x >= ranks &&
                            signals.count >= 2 * kMostRanks
                        ? DOORBELL_OK
                        : DOORBELL_ERROR_ARGUMENT;
  const uint64_t turns = status == DOORBELL_OK ? job.warmup + job.iterations : 0;
  for (uint64_t turn = 1; turn <= turns; ++turn) {
    const uint64_t start = global_time();
    if (threadIdx.x == 0) {
      total = 0;
    }
    __syncthreads();
    // Each thread looks for the tokens that go to its rank, and sends them as it finds them.
    uint64_t sent = 0;
    for (uint32_t pair = 0; serves && status == DOORBELL_OK && pair < tokens * topk; ++pair) {
      if (chosen[pair] % ranks != threadIdx.x) {
        continue;
      }
      const uint64_t token = hidden[rank].address + pair / topk * job.bytes;
      const uint64_t place = arrived[threadIdx.x].address + rank * region + sent * job.bytes;
      if (sends) {
        status = put(qp, {place, arrived[to].key}, {token, hidden[rank].key}, job.bytes).status;
      } else {
        for (uint64_t i = 0; i < job.bytes / 4; ++i) {
          reinterpret_cast<uint32_t *>(place)[i] = reinterpret_cast<const uint32_t *>(token)[i];
        }
      }
      ++sent;
    }
    uint64_t came = sent;
    if (sends && status == DOORBELL_OK) {
      status = signal(qp, {word, turn << 32 | sent, 0, {0, 0}}).status;
      if (status == DOORBELL_OK) {
        status = wait_for_word(qp, news, turn << 32, true);
      }
      came = load_acquire_system(news) & 0xffffffffu;
    }
    // Here is where the experts would work.
    if (serves) {
      reinterpret_cast<uint64_t *>(counts[rank].address)[threadIdx.x] = came;
      atomicAdd(&total, static_cast<uint32_t>(came));
    }
    if (__syncthreads_or(status != DOORBELL_OK)) {
      break;
    }
    if (threadIdx.x == 0 && turn > job.warmup) {
      const uint64_t sample = turn - job.warmup - 1;
      slowest[sample] = global_time() - start;
      received[sample] = total;
      reinterpret_cast<uint64_t *>(job.samples)[sample] = slowest[sample];
    }
    if (sends) {
      status = put_value(qp, look, turn).status;
      if (status == DOORBELL_OK) {
        status = wait_for_word(qp, looked, turn);
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

// Says whether every token came, in its order, and nothing else: block r looks at rank r, thread p at what
// came from rank p. The buffers are those of all ranks, one rank after the other.
extern "C" __global__ void doorbell_template_check(uint64_t size, uint32_t ranks, uint32_t tokens,
                                                   uint32_t topk, const uint32_t *hidden,
                                                   const uint32_t *choices, const uint32_t *arrived,
                                                   const uint64_t *counts, uint32_t *status,
                                                   uint64_t *found) {
  const uint32_t rank = blockIdx.x;
  const uint32_t from = threadIdx.x;
  const uint64_t words = size / 4;
  const uint64_t pairs = static_cast<uint64_t>(tokens) * topk;
  uint32_t result = DOORBELL_OK;
  if (from < ranks) {
    const uint64_t region = (rank * ranks + from) * pairs * words;
    uint64_t came = 0;
    for (uint64_t pair = 0; pair < pairs; ++pair) {
      if (choices[from * pairs + pair] % ranks != rank) {
        continue;
      }
      for (uint64_t i = 0; i < words; ++i) {
        const uint64_t wanted = hidden[(from * tokens + pair / topk) * words + i];
        const uint64_t at = came * words + i;
        if (arrived[region + at] != wanted && result == DOORBELL_OK) {
          result = DOORBELL_ERROR_DATA;
          found[0] = rank;
          found[1] = from * pairs * words + at;
          found[2] = wanted;
          found[3] = arrived[region + at];
        }
      }
      ++came;
    }
    if (counts[rank * ranks + from] != came) {
      result = DOORBELL_ERROR_DATA;
    }
    for (uint64_t at = came * words; at < pairs * words; ++at) {
      if (arrived[region + at] != 0) {
        result = DOORBELL_ERROR_DATA;
      }
    }
  }
  status[blockIdx.x * blockDim.x + threadIdx.x] = result;
}
