// Stand-ins for DeepEP's kernels among the ranks of a node and among nodes, for tests: names, parameters and what is left
// where are those of the library, the code and the queues are our own. One thread of a rank does everything. Compile with
//
//   ./doorbell kernel build FOLDER --api deepep --include FOLDER --include FOLDER/../nvshmem
//
// after a change of this or of kernels/include/doorbell/api.
#include <cuda_bf16.h>

#include "stand_in_deepep.cuh"

namespace {
#ifdef __CUDA_ARCH__
__device__ bool only() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Waits for all ranks of a node. Words count how often each rank has arrived.
__device__ void meet(int **signals, int me, int ranks) {
  __threadfence_system();
  for (int rank = 0; rank < ranks; ++rank) atomicAdd_system(&signals[rank][me], 1);
  for (int rank = 0; rank < ranks; ++rank) {
    volatile int *mine = signals[me];
    while (mine[rank] - mine[me] < 0) {
    }
  }
  __threadfence_system();
}

__device__ int first_of(int channel, int tokens, int channels) {
  const int each = (tokens + channels - 1) / channels;
  return min(each * channel, tokens);
}

__device__ int load(const int *word) {
  const int value = *const_cast<volatile const int *>(word);
  __threadfence_system();
  return value;
}

__device__ void publish(int *word, int value) {
  __threadfence_system();
  *const_cast<volatile int *>(word) = value;
}

// A queue of rows from one rank to another one, in the memory of the receiver: head and tail are words of `words`.
struct Queue {
  int *words;
  uint8_t *rows;
  int slots, row;

  __device__ Queue(void *buffer, int first_word, int words_in_all, int from, int slots, int row)
      : words(static_cast<int *>(buffer) + first_word + 2 * from),
        rows(static_cast<uint8_t *>(buffer) + ((first_word + words_in_all + 3) / 4 * 16) + from * slots * row),
        slots(slots),
        row(row) {}

  __device__ uint8_t *place() {
    const int tail = words[1];
    return tail - load(&words[0]) < slots ? rows + tail % slots * row : nullptr;
  }
  __device__ void sent() { publish(&words[1], words[1] + 1); }
  __device__ const uint8_t *next() {
    const int head = words[0];
    return load(&words[1]) > head ? rows + head % slots * row : nullptr;
  }
  __device__ void taken() { publish(&words[0], words[0] + 1); }
};
#endif
}  // namespace

namespace deep_ep::legacy {
namespace layout {

template <int kNumThreads, int kNumExpertsPerSM, int kNumRanksPerSM>
__global__ void get_dispatch_layout(const int64_t *topk, int *of_rank, int *of_node, int *of_expert, bool *goes,
                                    int tokens, int top, int ranks, int experts) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  for (int i = 0; i < ranks; ++i) of_rank[i] = 0;
  for (int i = 0; i < experts; ++i) of_expert[i] = 0;
  for (int i = 0; of_node != nullptr && i < ranks / 8; ++i) of_node[i] = 0;
  for (int i = 0; i < tokens * ranks; ++i) goes[i] = false;
  for (int i = 0; i < tokens * top; ++i) {
    ++of_expert[topk[i]];
    goes[i / top * ranks + topk[i] / (experts / ranks)] = true;
  }
  for (int token = 0; token < tokens; ++token) {
    for (int first = 0; first < ranks; first += 8) {
      bool any = false;
      for (int rank = first; rank < min(first + 8, ranks); ++rank) {
        of_rank[rank] += goes[token * ranks + rank];
        any |= goes[token * ranks + rank];
      }
      if (of_node != nullptr) of_node[first / 8] += any;
    }
  }
#endif
}
template __global__ void get_dispatch_layout<256, 4, 8>(const int64_t *, int *, int *, int *, bool *, int, int, int, int);

}  // namespace layout

namespace intranode {

template <int kNumRanks>
__global__ void notify_dispatch(const int *of_rank, int *counter, const int *of_expert, int *expert_counters, int experts,
                                int tokens, int channels, const bool *goes, int *channel_prefix, int *rank_prefix,
                                int cleared, int alignment, void **buffers, int **signals, int rank) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  const int local = experts / kNumRanks;
  meet(signals, rank, kNumRanks);
  for (int to = 0; to < kNumRanks; ++to) {
    int *there = static_cast<int *>(buffers[to]);
    there[rank * kNumRanks + to] = of_rank[to];
    for (int i = 0; i < local; ++i) there[kNumRanks * kNumRanks + rank * local + i] = of_expert[to * local + i];
    int sum = 0;
    for (int channel = 0; channel < channels; ++channel) {
      const int end = first_of(channel + 1, tokens, channels);
      for (int token = first_of(channel, tokens, channels); token < end; ++token) sum += goes[token * kNumRanks + to];
      channel_prefix[to * channels + channel] = sum;
    }
  }
  meet(signals, rank, kNumRanks);
  int *own = static_cast<int *>(buffers[rank]);
  for (int i = 1; i < kNumRanks; ++i) own[i * kNumRanks + rank] += own[(i - 1) * kNumRanks + rank];
  *counter = own[(kNumRanks - 1) * kNumRanks + rank];
  for (int i = 0; i < local; ++i) {
    int sum = 0;
    for (int from = 0; from < kNumRanks; ++from) sum += own[kNumRanks * kNumRanks + from * local + i];
    expert_counters[i] = (sum + alignment - 1) / alignment * alignment;
  }
  for (int i = 0; i < kNumRanks * kNumRanks; ++i) rank_prefix[i] = own[i];
  for (int i = 0; i < cleared; ++i) own[kNumRanks * kNumRanks + i] = 0;
  meet(signals, rank, kNumRanks);
#endif
}

template <int kNumRanks>
__global__ void cached_notify_dispatch(const int *rank_prefix, int cleared, void **buffers, int **signals, int rank) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  int *own = static_cast<int *>(buffers[rank]);
  meet(signals, rank, kNumRanks);
  for (int i = 0; i < kNumRanks * kNumRanks; ++i) own[i] = rank_prefix[i];
  for (int i = 0; i < cleared; ++i) own[kNumRanks * kNumRanks + i] = 0;
  meet(signals, rank, kNumRanks);
#endif
}

template <int kNumRanks, int kNumThreads, int kNumTMABytesPerWarp>
__global__ void dispatch(int4 *recv_x, float *, int *recv_src, int64_t *recv_topk, float *recv_weights,
                         int *recv_channels, int *send_head, const int4 *x, const float *, const int64_t *topk,
                         const float *weights, const bool *goes, const int *, int tokens, int, int hidden_int4, int top,
                         int experts, int, int, int, void **buffers, int rank, int, int slots) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  const int channels = gridDim.x / 2, local = experts / kNumRanks, bytes = hidden_int4 * 16;
  const int row = bytes + 16 + (top * 12 + 15) / 16 * 16, words = 4 * channels * kNumRanks;
  int sent[kNumRanks] = {}, received[kNumRanks] = {}, starts[kNumRanks], all = 0;
  for (int from = 0; from < kNumRanks; ++from) {
    const int *prefix = static_cast<const int *>(buffers[rank]);
    starts[from] = from == 0 ? 0 : prefix[(from - 1) * kNumRanks + rank];
    all = prefix[from * kNumRanks + rank];
  }
  for (int to = 0; to < kNumRanks; ++to) {
    for (int channel = 0; channel < channels; ++channel) {
      int place = 0;
      const int end = first_of(channel + 1, tokens, channels);
      for (int token = first_of(channel, tokens, channels); token < end; ++token) {
        send_head[token * kNumRanks + to] = goes[token * kNumRanks + to] ? place++ : -1;
      }
    }
  }
  for (int done = 0; done < all + tokens * kNumRanks;) {
    done = 0;
    for (int peer = 0; peer < kNumRanks; ++peer) {
      Queue out(buffers[peer], kNumRanks * kNumRanks, words, rank, slots, row);
      while (sent[peer] < tokens && !goes[sent[peer] * kNumRanks + peer]) ++sent[peer];
      uint8_t *at = sent[peer] < tokens ? out.place() : nullptr;
      if (at != nullptr) {
        const int token = sent[peer]++;
        memcpy(at, x + token * hidden_int4, bytes);
        *reinterpret_cast<int *>(at + bytes) = token;
        for (int k = 0; k < top; ++k) {
          const int64_t expert = topk[token * top + k] - peer * local;
          const bool mine = expert >= 0 && expert < local;
          reinterpret_cast<int64_t *>(at + bytes + 16)[k] = mine ? expert : -1;
          reinterpret_cast<float *>(at + bytes + 16 + top * 8)[k] = mine ? weights[token * top + k] : 0;
        }
        out.sent();
      }
      Queue in(buffers[rank], kNumRanks * kNumRanks, words, peer, slots, row);
      const uint8_t *got = in.next();
      if (got != nullptr) {
        const int to = starts[peer] + received[peer]++, token = *reinterpret_cast<const int *>(got + bytes);
        memcpy(recv_x + to * hidden_int4, got, bytes);
        recv_src[to] = token;
        for (int k = 0; k < top; ++k) {
          recv_topk[to * top + k] = reinterpret_cast<const int64_t *>(got + bytes + 16)[k];
          recv_weights[to * top + k] = reinterpret_cast<const float *>(got + bytes + 16 + top * 8)[k];
        }
        in.taken();
      }
      done += received[peer] + sent[peer];
    }
  }
  // Begins of channels follow from the numbers of the tokens: every rank has as many tokens.
  for (int from = 0; from < kNumRanks; ++from) {
    for (int channel = 0; channel < channels; ++channel) {
      int before = 0;
      for (int i = 0; i < received[from]; ++i) before += recv_src[starts[from] + i] < first_of(channel, tokens, channels);
      recv_channels[from * channels + channel] = before;
    }
  }
#endif
}

template <int kNumRanks>
__global__ void cached_notify_combine(void **buffers, int *send_head, int channels, int tokens, int cleared,
                                      int **signals, int rank) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  meet(signals, rank, kNumRanks);
  for (int i = 0; i < cleared; ++i) static_cast<int *>(buffers[rank])[i] = 0;
  for (int to = 0; to < kNumRanks; ++to) {
    for (int channel = 0; channel < channels; ++channel) {
      int next = 1 << 25;
      for (int token = first_of(channel + 1, tokens, channels); token-- > first_of(channel, tokens, channels);) {
        int &head = send_head[token * kNumRanks + to];
        if (head < 0) head = -next - 1;
        else next = head;
      }
    }
  }
  meet(signals, rank, kNumRanks);
#endif
}

template <typename dtype_t, int kNumRanks, int kNumThreads, int kNumTMABytesPerWarp>
__global__ void combine(dtype_t *combined, float *combined_weights, const dtype_t *x, const float *weights,
                        const dtype_t *, const dtype_t *, const int *, const int *rank_prefix, const int *,
                        int *send_head, int, int tokens, int hidden, int top, void **buffers, int rank, int, int slots) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  const int row = hidden * 2 + (top * 4 + 15) / 16 * 16, words = 2 * int(gridDim.x / 2) * kNumRanks;
  int sent[kNumRanks];
  for (int to = 0; to < kNumRanks; ++to) sent[to] = to == 0 ? 0 : rank_prefix[(to - 1) * kNumRanks + rank];
  int token = 0;
  bool sending = true;
  while (token < tokens || sending) {
    sending = false;
    for (int to = 0; to < kNumRanks; ++to) {
      if (sent[to] == rank_prefix[to * kNumRanks + rank]) continue;
      sending = true;
      Queue out(buffers[to], 0, words, rank, slots, row);
      uint8_t *at = out.place();
      if (at == nullptr) continue;
      memcpy(at, x + sent[to] * hidden, hidden * 2);
      for (int k = 0; k < top; ++k) reinterpret_cast<float *>(at + hidden * 2)[k] = weights[sent[to] * top + k];
      ++sent[to];
      out.sent();
    }
    const uint8_t *rows[kNumRanks];
    bool ready = token < tokens;
    for (int from = 0; ready && from < kNumRanks; ++from) {
      rows[from] = nullptr;
      if (send_head[token * kNumRanks + from] < 0) continue;
      rows[from] = Queue(buffers[rank], 0, words, from, slots, row).next();
      ready = rows[from] != nullptr;
    }
    if (!ready) continue;
    for (int h = 0; h < hidden; ++h) {
      float sum = 0;
      for (int from = 0; from < kNumRanks; ++from) {
        if (rows[from] != nullptr) sum += float(reinterpret_cast<const dtype_t *>(rows[from])[h]);
      }
      combined[token * hidden + h] = dtype_t(sum);
    }
    for (int k = 0; k < top; ++k) {
      float sum = 0;
      for (int from = 0; from < kNumRanks; ++from) {
        if (rows[from] != nullptr) sum += reinterpret_cast<const float *>(rows[from] + hidden * 2)[k];
      }
      combined_weights[token * top + k] = sum;
    }
    for (int from = 0; from < kNumRanks; ++from) {
      if (rows[from] != nullptr) Queue(buffers[rank], 0, words, from, slots, row).taken();
    }
    ++token;
  }
#endif
}

#define STAND_IN_RANKS(ranks)                                                                                            \
  template __global__ void notify_dispatch<ranks>(const int *, int *, const int *, int *, int, int, int, const bool *,   \
                                                  int *, int *, int, int, void **, int **, int);                        \
  template __global__ void cached_notify_dispatch<ranks>(const int *, int, void **, int **, int);                       \
  template __global__ void dispatch<ranks, 768, 8192>(int4 *, float *, int *, int64_t *, float *, int *, int *,         \
                                                      const int4 *, const float *, const int64_t *, const float *,      \
                                                      const bool *, const int *, int, int, int, int, int, int, int,     \
                                                      int, void **, int, int, int);                                     \
  template __global__ void cached_notify_combine<ranks>(void **, int *, int, int, int, int **, int);                    \
  template __global__ void combine<__nv_bfloat16, ranks, 768, 4096>(                                                    \
      __nv_bfloat16 *, float *, const __nv_bfloat16 *, const float *, const __nv_bfloat16 *, const __nv_bfloat16 *,     \
      const int *, const int *, const int *, int *, int, int, int, int, void **, int, int, int);
STAND_IN_RANKS(2)
STAND_IN_RANKS(4)

}  // namespace intranode

namespace internode {

#ifdef __CUDA_ARCH__
// Waits for the rank with the same number in the other node: a word of the heap that the two add to by RDMA.
__device__ void meet_node(int *word, int rank) {
  add(word, 1, rank ^ 8, 0);
  await(word);
  atomicSub_system(word, 1);
}
#endif

template <bool kLowLatencyMode, int kNumRDMARanks>
__global__ void notify_dispatch(const int *of_rank, int *counter, int ranks, const int *of_node, int *node_counter,
                                const int *of_expert, int *expert_counters, int experts, const bool *goes, int tokens,
                                int, int channels, int alignment, const int rdma_clean, const int rdma_words,
                                const int nvl_clean, const int nvl_words, int *node_channels, int *node_prefix,
                                int *rank_channels, int *rank_prefix, void *rdma, void **buffers, int **signals, int rank,
                                const int team) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  const int node = rank / 8, peer = rank % 8, local = experts / ranks, of_message = 8 + 8 * local + 1;
  int *word = static_cast<int *>(rdma), *sending = word + 1, *arriving = sending + 2 * of_message;
  for (int to = 0; to < 2; ++to) {
    int *message = sending + to * of_message;
    for (int i = 0; i < 8; ++i) message[i] = of_rank[to * 8 + i];
    for (int i = 0; i < 8 * local; ++i) message[8 + i] = of_expert[to * 8 * local + i];
    message[8 + 8 * local] = of_node[to];
    if (to == node) memcpy(arriving + node * of_message, message, of_message * 4);
    else send(arriving + node * of_message, message, of_message * 4, to * 8 + peer, 0);
  }
  meet_node(word, rank);
  // For each rank of the node: what its neighbour here was told of it by both nodes.
  for (int to = 0; to < 8; ++to) {
    int *there = static_cast<int *>(buffers[to]) + peer * (2 + local);
    for (int from = 0; from < 2; ++from) there[from] = arriving[from * of_message + to];
    for (int i = 0; i < local; ++i) {
      there[2 + i] = arriving[8 + to * local + i] + arriving[of_message + 8 + to * local + i];
    }
  }
  meet(signals, peer, 8);
  const int *own = static_cast<int *>(buffers[peer]);
  int sum = 0;
  for (int from = 0; from < 2; ++from) {
    sum += arriving[from * of_message + 8 + 8 * local];
    node_prefix[from] = sum;
  }
  *node_counter = sum;
  sum = 0;
  for (int from = 0; from < ranks; ++from) {
    sum += own[from % 8 * (2 + local) + from / 8];
    rank_prefix[from] = sum;
  }
  *counter = sum;
  for (int i = 0; i < local; ++i) {
    sum = 0;
    for (int from = 0; from < 8; ++from) sum += own[from * (2 + local) + 2 + i];
    expert_counters[i] = (sum + alignment - 1) / alignment * alignment;
  }
  for (int channel = 0; channel < channels; ++channel) {
    const int end = first_of(channel + 1, tokens, channels);
    for (int to = 0; to < 2; ++to) {
      int of_channel = 0;
      for (int token = 0; token < end; ++token) {
        bool any = false;
        for (int i = 0; i < 8; ++i) any |= goes[token * ranks + to * 8 + i];
        of_channel += any;
      }
      node_channels[to * channels + channel] = of_channel;
    }
    for (int to = 0; to < ranks; ++to) {
      int of_channel = 0;
      for (int token = 0; token < end; ++token) of_channel += goes[token * ranks + to];
      rank_channels[to * channels + channel] = of_channel;
    }
  }
  for (int i = 0; i < rdma_words; ++i) static_cast<int *>(rdma)[rdma_clean + i] = 0;
  for (int i = 0; i < nvl_words; ++i) static_cast<int *>(buffers[peer])[nvl_clean + i] = 0;
  meet(signals, peer, 8);
  if (team < 0) __trap();
#endif
}

template <bool kLowLatencyMode, int kNumTMABytesPerWarp>
__global__ void cached_notify(const int rdma_clean, const int rdma_words, const int nvl_clean, const int nvl_words,
                              int *sent_heads, int tokens, int channels, const int *arriving_channels,
                              const int *arriving_prefix, int *arriving_heads, void *rdma, void **buffers, int **signals,
                              int rank, int ranks, bool is_dispatch, const int team) {
#ifdef __CUDA_ARCH__
  if (!only()) return;
  for (int i = 0; i < rdma_words; ++i) static_cast<int *>(rdma)[rdma_clean + i] = 0;
  for (int i = 0; i < nvl_words; ++i) static_cast<int *>(buffers[rank % 8])[nvl_clean + i] = 0;
  for (int channel = 0; !is_dispatch && channel < channels; ++channel) {
    for (int to = 0; to < ranks / 8; ++to) {
      int next = 1 << 25;
      for (int token = first_of(channel + 1, tokens, channels); token-- > first_of(channel, tokens, channels);) {
        int &head = sent_heads[token * (ranks / 8) + to];
        if (head < 0) head = -next - 1;
        else next = head;
      }
      const int shift = to == 0 ? 0 : arriving_prefix[to - 1];
      const int begin = shift + (channel == 0 ? 0 : arriving_channels[to * channels + channel - 1]);
      for (int peer = 0; peer < 8; ++peer) {
        next = 1 << 25;
        for (int row = shift + arriving_channels[to * channels + channel]; row-- > begin;) {
          int &head = arriving_heads[row * 8 + peer];
          if (head < 0) head = -next - 1;
          else next = head;
        }
      }
    }
  }
  meet_node(static_cast<int *>(rdma), rank);
  meet(signals, rank % 8, 8);
  if (team < 0) __trap();
#endif
}

template __global__ void notify_dispatch<true, 2>(const int *, int *, int, const int *, int *, const int *, int *, int,
                                                  const bool *, int, int, int, int, const int, const int, const int,
                                                  const int, int *, int *, int *, int *, void *, void **, int **, int,
                                                  const int);
template __global__ void cached_notify<true, 8192>(const int, const int, const int, const int, int *, int, int,
                                                   const int *, const int *, int *, void *, void **, int **, int, int,
                                                   bool, const int);

}  // namespace internode
}  // namespace deep_ep::legacy
