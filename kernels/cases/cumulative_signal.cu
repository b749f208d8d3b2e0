// cumulative_signal: chunks on two queue pairs, and one word that counts the signals of all of them.
//
// Each chunk is followed by an atomic that adds 1. The word says how many chunks have arrived, and the
// receiver takes it for which: a later chunk that overtakes an earlier one lets it read too soon. Fixed
// by a word for each queue pair, within which chunks keep their order. The number of chunks is even.
#include "case.cuh"

using namespace cases;

constexpr uint64_t kPairs = 2;

// The second of two chunks is short, and overtakes the first one with ease.
__device__ __forceinline__ uint64_t bytes_of(const doorbell_job *job, uint64_t chunk) {
  return chunk % kPairs == 0 ? job->bytes : 16;
}

// The signal of a chunk: an atomic on the word of its queue pair, or on that of all.
template <bool kMended>
__device__ __forceinline__ uint64_t word_of(uint64_t chunk) {
  return kMended ? 8 * (chunk % kPairs) : 0;
}

template <bool kMended>
__device__ uint32_t cumulative_signal(const doorbell_qp *qps, const doorbell_job *job) {
  const uint64_t flags = job->iterations * job->stride;
  if (job->role == 1) {
    for (uint64_t chunk = 0; chunk < job->iterations; ++chunk) {
      const uint64_t *word =
          reinterpret_cast<const uint64_t *>(job->inbox + flags + word_of<kMended>(chunk));
      if (!wait_at_least(&qps[0], word, kMended ? chunk / kPairs + 1 : chunk + 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      const uint64_t *data = reinterpret_cast<const uint64_t *>(job->inbox + chunk * job->stride);
      if (data[bytes_of(job, chunk) / 8 - 1] != chunk + 1) {
        return DOORBELL_ERROR_DATA;
      }
    }
    return DOORBELL_OK;
  }
  const queue_pair pairs[kPairs] = {queue_pair(&qps[0]), queue_pair(&qps[1])};
  for (uint64_t chunk = 0; chunk < job->iterations; ++chunk) {
    const queue_pair &qp = pairs[chunk % kPairs];
    const uint64_t index = 2 * (chunk / kPairs);
    const uint64_t at = chunk * job->stride;
    const uint64_t bytes = bytes_of(job, chunk);
    reinterpret_cast<uint64_t *>(job->local + at)[bytes / 8 - 1] = chunk + 1;
    write_wqe(qp,
              transfer_request(kOpcodeWrite, source::device, {job->remote + at, job->remote_key},
                               {job->local + at, job->local_key}, bytes),
              index, true);
    write_wqe(qp,
              atomic_request(kOpcodeFetchAdd,
                             {job->remote + flags + word_of<kMended>(chunk), job->remote_key},
                             {job->local + flags + 8 * (chunk % kPairs), job->local_key}, 1, 0),
              index + 1, true);
    // Nothing says which queue pair is rung first: here the second one.
    for (uint64_t pair = kPairs; chunk % kPairs == kPairs - 1 && pair > 0; --pair) {
      ring_in_order(pairs[pair - 1], index + 2);
    }
  }
  uint32_t status = DOORBELL_OK;
  for (uint64_t pair = 0; pair < kPairs && status == DOORBELL_OK; ++pair) {
    status = wait_completed(pairs[pair], 2 * (job->iterations / kPairs));
  }
  return status;
}

DOORBELL_CASE(cumulative_signal)
