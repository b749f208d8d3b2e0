// moe: expert parallelism, dispatch of tokens to the experts of a router and combine of what they return.
//
// Dispatch sends each token to its experts; combine sends what they made of it back and sums it by weight.
//
// Launch     all ranks at once, one block of any number of threads (role is the rank, qp_count their
//            number). Queue pair p leads to rank p, the own place is zero. A launch is one phase; dispatch
//            comes first, and combine when all ranks have ended it.
// Job        opcode: phase (0 dispatch, 1 combine) | payload << 8 | packing << 16; local: the arena; peers:
//            inbox is the arena, signals the flags of each rank; signals: the own flags; operand:
//            uint64_t[kParameters] in the order of enum parameter; samples: two words, before the first post
//            and when everything is here; status.
// Payload    0: bytes, sent and sent back as they are. 1: BF16, summed in single precision. 2: dispatched as
//            FP8 (E4M3, to nearest even) with a float scale for each 128 elements (the largest magnitude /
//            448), combined as payload 1.
// Packing    0: a put for each token and expert. 1: what goes to one expert is copied together first, one put.
// Message    a header of 64 bytes, 16 words: token, source rank, then the experts of the token; the payload;
//            the scales. Expert e lives at rank e / experts a rank. Messages of source s to local expert l
//            lie in slots from (l * ranks + s) * capacity on, in any order; their number + 1 is the flag
//            s * experts a rank + l. Answers lie by token and place among its experts, in the arena of
//            the token's rank; flag ranks * experts a rank + r says that all answers of rank r are there.
// Order      a flag is a signal on the queue pair of the messages, after all of them: it arrives behind them;
//            it is acquired at system scope by one thread, and a barrier of the block passes that on.
// Who else   the HCAs write arenas and flags; nobody else posts to the queue pairs. The host zeroes flags,
//            slots and counts before each dispatch.
#define DOORBELL_BACK_ENDS
#include "doorbell/collective.cuh"
#include "protocol.cuh"

using namespace doorbell;

namespace expert_parallel {

constexpr uint32_t kHeader = 64;
constexpr uint32_t kGroup = 128;

// Counts, sizes in bytes, and offsets in the arena.
enum parameter : uint32_t {
  kTokens,
  kChosen,        // experts of a token
  kLocal,         // experts of a rank
  kCapacity,      // messages of one source to one expert at most
  kHidden,        // elements of a token; bytes, of payload 0
  kMessage,       // bytes of a message: a multiple of 16
  kResult,        // bytes of an answer: a multiple of 16
  kRouting,       // int32_t[tokens][chosen]
  kWeights,       // float[tokens][chosen]
  kInput,         // tokens
  kMessages,      // a message of each token
  kPacked,        // messages by expert and slot, where they are packed
  kReceived,      // messages that arrive
  kResults,       // answers to them, of payload 2
  kCombined,      // answers that arrive
  kOutput,        // sums
  kSlots,         // uint32_t of each expert: messages so far
  kCounts,        // uint64_t of each expert: messages + 1
  kOwn,           // uint32_t: how many messages stay on this rank, then which
  kParameters
};

struct context {
  const doorbell_qp *qps;
  const doorbell_job &job;
  const uint64_t *of;
  const doorbell_peer *peers;
  uint64_t *flags;
  uint32_t rank;
  uint32_t ranks;

  template <class T>
  __device__ __forceinline__ T *at(parameter section, uint64_t offset = 0) const {
    return reinterpret_cast<T *>(job.local + of[section] + offset);
  }

  __device__ __forceinline__ uint32_t get(parameter name) const {
    return static_cast<uint32_t>(of[name]);
  }

  // Where messages of a source to a local expert begin, in messages.
  __device__ __forceinline__ uint64_t region(uint32_t local, uint32_t source) const {
    return (static_cast<uint64_t>(local) * ranks + source) * of[kCapacity];
  }
};

__device__ __forceinline__ uint32_t next(uint32_t *counter) {
  return cuda::atomic_ref<uint32_t, cuda::thread_scope_device>(*counter).fetch_add(
      1u, cuda::memory_order_relaxed);
}

// One put to a rank, of `bytes` at `from` in the arena to `to` in its arena.
__device__ __noinline__ uint32_t send(const context &my, uint32_t to, uint64_t source,
                                      uint64_t target, uint64_t bytes) {
  const doorbell_peer &peer = my.peers[to];
  return put(queue_pair(&my.qps[to]), {peer.inbox + target, peer.inbox_key},
             {my.job.local + source, my.job.local_key}, bytes)
      .status;
}

__device__ __forceinline__ void copy(const uint4 *from, uint4 *to, uint32_t bytes) {
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x) {
    to[i] = from[i];
  }
}

// To the nearest E4M3, ties to even, saturating: bits of its magnitude for a magnitude of at most 448.
__device__ __forceinline__ uint32_t to_e4m3(float value) {
  const uint32_t bits = __float_as_uint(value);
  const uint32_t sign = bits >> 24 & 0x80u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x43e00000u) {  // 448
    return sign | 0x7eu;
  }
  if (magnitude < 0x3c800000u) {  // 2^-6: subnormal, in steps of 2^-9
    const float steps = __uint_as_float(magnitude) * 512.0f;
    return sign | static_cast<uint32_t>(__float2int_rn(steps));
  }
  const uint32_t rounded = magnitude + 0x7ffffu + (magnitude >> 20 & 1u);
  return sign | ((rounded >> 20) - (120u << 3));
}

__device__ __forceinline__ float from_e4m3(uint32_t byte) {
  const uint32_t magnitude = byte & 0x7fu;
  const float value = magnitude < 8u ? static_cast<float>(magnitude) * (1.0f / 512.0f)
                                     : __uint_as_float((magnitude + (120u << 3)) << 20);
  return (byte & 0x80u) != 0 ? -value : value;
}

__device__ __forceinline__ float element(uint32_t word, uint32_t half) {
  return __uint_as_float(half != 0 ? word & 0xffff0000u : word << 16);
}

// Casts a group of 128 BF16 elements to FP8 and returns the scale.
__device__ __noinline__ float quantise(const uint32_t *from, uint32_t *to) {
  float largest = 0;
#pragma unroll 1
  for (uint32_t i = 0; i < kGroup / 2; ++i) {
    largest = fmaxf(largest, fmaxf(fabsf(element(from[i], 0)), fabsf(element(from[i], 1))));
  }
  const float scale = largest == 0 ? 1.0f : __fdiv_rn(largest, 448.0f);
#pragma unroll 1
  for (uint32_t i = 0; i < kGroup / 4; ++i) {
    uint32_t packed = 0;
#pragma unroll
    for (uint32_t byte = 0; byte < 4; ++byte) {
      const float value = element(from[2 * i + byte / 2], byte & 1u);
      packed |= to_e4m3(__fdiv_rn(value, scale)) << (8 * byte);
    }
    to[i] = packed;
  }
  return scale;
}

__device__ __noinline__ void dequantise(const uint32_t *from, float scale, uint32_t *to) {
#pragma unroll 1
  for (uint32_t i = 0; i < kGroup / 4; ++i) {
    const uint32_t packed = from[i];
#pragma unroll
    for (uint32_t pair = 0; pair < 2; ++pair) {
      const float low = __fmul_rn(from_e4m3(packed >> (16 * pair) & 0xffu), scale);
      const float high = __fmul_rn(from_e4m3(packed >> (16 * pair + 8) & 0xffu), scale);
      to[2 * i + pair] = doorbell::collective::detail::from_float(low, true) |
                         doorbell::collective::detail::from_float(high, true) << 16;
    }
  }
}

// Writes the message of each token.
__device__ void make_messages(const context &my, uint32_t payload) {
  const uint32_t tokens = my.get(kTokens);
  const uint32_t message = my.get(kMessage);
  const uint32_t chosen = my.get(kChosen);
  const int32_t *routing = my.at<int32_t>(kRouting);
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < tokens * 16; i += blockDim.x) {
    const uint32_t token = i / 16;
    const uint32_t word = i % 16;
    const uint32_t value = word == 0             ? token
                           : word == 1           ? my.rank
                           : word - 2 < chosen   ? static_cast<uint32_t>(routing[token * chosen + word - 2])
                                                 : 0;
    my.at<uint32_t>(kMessages, static_cast<uint64_t>(token) * message)[word] = value;
  }
  const uint32_t hidden = my.get(kHidden);
  if (payload == 2) {
    const uint32_t groups = hidden / kGroup;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < tokens * groups; i += blockDim.x) {
      const uint32_t token = i / groups;
      const uint32_t group = i % groups;
      uint8_t *to = my.at<uint8_t>(kMessages, static_cast<uint64_t>(token) * message) + kHeader;
      const float scale =
          quantise(my.at<uint32_t>(kInput, 2ull * (static_cast<uint64_t>(token) * hidden + group * kGroup)),
                   reinterpret_cast<uint32_t *>(to + group * kGroup));
      reinterpret_cast<float *>(to + hidden)[group] = scale;
    }
  } else {
    const uint32_t units = (payload == 1 ? 2 * hidden : hidden) / 16;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < tokens * units; i += blockDim.x) {
      const uint32_t token = i / units;
      const uint32_t unit = i % units;
      my.at<uint4>(kMessages, static_cast<uint64_t>(token) * message + kHeader)[unit] =
          my.at<uint4>(kInput)[i];
    }
  }
}

__device__ __forceinline__ bool all_well(uint32_t status) {
  return !__syncthreads_or(status != DOORBELL_OK);
}

__device__ uint32_t dispatch(const context &my, uint32_t payload, bool packs) {
  const uint32_t message = my.get(kMessage);
  const uint32_t chosen = my.get(kChosen);
  const uint32_t local = my.get(kLocal);
  const uint32_t capacity = my.get(kCapacity);
  const uint32_t experts = local * my.ranks;
  const uint32_t all = my.get(kTokens) * chosen;
  const int32_t *routing = my.at<int32_t>(kRouting);
  uint32_t *slots = my.at<uint32_t>(kSlots);
  uint32_t *own = my.at<uint32_t>(kOwn);
  make_messages(my, payload);
  __syncthreads();
  uint32_t status = DOORBELL_OK;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) {
    const uint32_t expert = static_cast<uint32_t>(routing[i]);
    if (expert >= experts) {
      status = DOORBELL_ERROR_ARGUMENT;
      break;
    }
    const uint32_t slot = next(slots + expert);
    if (slot >= capacity) {
      status = DOORBELL_ERROR_ARGUMENT;
      break;
    }
    const uint32_t to = expert / local;
    if (to == my.rank || packs) {
      // Copied by the whole block below.
      const uint32_t place = next(own);
      own[1 + 2 * place] = i;
      own[2 + 2 * place] = slot;
    } else if (status == DOORBELL_OK) {
      status = send(my, to, my.of[kMessages] + static_cast<uint64_t>(i / chosen) * message,
                    my.of[kReceived] + (my.region(expert % local, my.rank) + slot) * message, message);
    }
  }
  if (!all_well(status)) {
    return status == DOORBELL_OK ? DOORBELL_ERROR_POISONED : status;
  }
  const uint32_t copies = own[0];
#pragma unroll 1
  for (uint32_t i = 0; i < copies; ++i) {
    const uint32_t choice = own[1 + 2 * i];
    const uint32_t slot = own[2 + 2 * i];
    const uint32_t expert = static_cast<uint32_t>(routing[choice]);
    const bool stays = expert / local == my.rank;
    const uint64_t target =
        stays ? my.of[kReceived] + (my.region(expert % local, my.rank) + slot) * message
              : my.of[kPacked] + (static_cast<uint64_t>(expert) * capacity + slot) * message;
    copy(my.at<uint4>(kMessages, static_cast<uint64_t>(choice / chosen) * message),
         reinterpret_cast<uint4 *>(my.job.local + target), message);
  }
  uint64_t *counts = my.at<uint64_t>(kCounts);
#pragma unroll 1
  for (uint32_t expert = threadIdx.x; expert < experts; expert += blockDim.x) {
    counts[expert] = slots[expert] + 1ull;
  }
  __syncthreads();
#pragma unroll 1
  for (uint32_t to = threadIdx.x; to < my.ranks; to += blockDim.x) {
    if (to == my.rank) {
      for (uint32_t l = 0; l < local; ++l) {
        my.flags[my.rank * local + l] = counts[to * local + l];
      }
      continue;
    }
    for (uint32_t l = 0; packs && l < local && status == DOORBELL_OK; ++l) {
      const uint32_t expert = to * local + l;
      if (slots[expert] != 0) {
        status = send(my, to,
                      my.of[kPacked] + static_cast<uint64_t>(expert) * capacity * message,
                      my.of[kReceived] + my.region(l, my.rank) * message,
                      static_cast<uint64_t>(slots[expert]) * message);
      }
    }
    if (status == DOORBELL_OK) {
      const doorbell_peer &peer = my.peers[to];
      status = post(queue_pair(&my.qps[to]),
                    signal_list{{transfer_request(
                                     kOpcodeWrite, source::device,
                                     {peer.signals + 8ull * my.rank * local, peer.signals_key},
                                     {my.job.local + my.of[kCounts] + 8ull * to * local, my.job.local_key},
                                     8ull * local),
                                 {}, 1},
                                1})
                   .status;
    }
  }
#pragma unroll 1
  for (uint32_t from = threadIdx.x; from < my.ranks; from += blockDim.x) {
    for (uint32_t l = 0; from != my.rank && l < local && status == DOORBELL_OK; ++l) {
      status = wait_for_word(queue_pair(&my.qps[from]), my.flags + from * local + l, 1, true);
    }
  }
  return status;
}

// The place of an expert among those of a message's token.
__device__ __forceinline__ uint32_t place_of(const uint32_t *header, uint32_t expert) {
  uint32_t place = 0;
  while (place < 13 && header[2 + place] != expert) {
    ++place;
  }
  return place;
}

// Offset of the answer to a message where the token came from, and, in `answer`, where it lies here.
__device__ __forceinline__ uint64_t answer_of(const context &my, uint64_t slot, uint32_t expert,
                                              uint32_t payload, uint64_t &answer) {
  const uint64_t received = my.of[kReceived] + slot * my.of[kMessage];
  const uint32_t *header = reinterpret_cast<const uint32_t *>(my.job.local + received);
  answer = payload == 2 ? my.of[kResults] + slot * my.of[kResult] : received + kHeader;
  return my.of[kCombined] +
         (header[0] * my.of[kChosen] + place_of(header, expert)) * my.of[kResult];
}

__device__ uint32_t combine(const context &my, uint32_t payload) {
  const uint32_t local = my.get(kLocal);
  const uint32_t capacity = my.get(kCapacity);
  const uint32_t message = my.get(kMessage);
  const uint32_t result = my.get(kResult);
  const uint32_t hidden = my.get(kHidden);
  const uint32_t slots = local * my.ranks * capacity;
  if (payload == 2) {
    const uint32_t groups = hidden / kGroup;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < slots * groups; i += blockDim.x) {
      const uint32_t slot = i / groups;
      const uint32_t group = i % groups;
      const uint32_t region = slot / capacity;
      if (slot % capacity + 1 < my.flags[region % my.ranks * local + region / my.ranks]) {
        const uint8_t *from =
            my.at<uint8_t>(kReceived, static_cast<uint64_t>(slot) * message + kHeader);
        dequantise(reinterpret_cast<const uint32_t *>(from + group * kGroup),
                   reinterpret_cast<const float *>(from + hidden)[group],
                   my.at<uint32_t>(kResults, static_cast<uint64_t>(slot) * result) +
                       group * kGroup / 2);
      }
    }
    __syncthreads();
  }
  uint32_t status = DOORBELL_OK;
#pragma unroll 1
  for (uint32_t slot = threadIdx.x; slot < slots && status == DOORBELL_OK; slot += blockDim.x) {
    const uint32_t region = slot / capacity;
    const uint32_t source = region % my.ranks;
    const uint32_t expert = my.rank * local + region / my.ranks;
    if (source != my.rank &&
        slot % capacity + 1 < my.flags[source * local + region / my.ranks]) {
      uint64_t answer = 0;
      const uint64_t target = answer_of(my, slot, expert, payload, answer);
      status = send(my, source, answer, target, result);
    }
  }
  if (!all_well(status)) {
    return status == DOORBELL_OK ? DOORBELL_ERROR_POISONED : status;
  }
#pragma unroll 1
  for (uint32_t l = 0; l < local; ++l) {
    const uint64_t from = my.region(l, my.rank);
#pragma unroll 1
    for (uint64_t i = 0; i + 1 < my.flags[my.rank * local + l]; ++i) {
      uint64_t answer = 0;
      const uint64_t target = answer_of(my, from + i, my.rank * local + l, payload, answer);
      copy(reinterpret_cast<const uint4 *>(my.job.local + answer),
           reinterpret_cast<uint4 *>(my.job.local + target), result);
    }
  }
  const uint64_t done = static_cast<uint64_t>(my.ranks) * local;
#pragma unroll 1
  for (uint32_t to = threadIdx.x; to < my.ranks && status == DOORBELL_OK; to += blockDim.x) {
    if (to != my.rank) {
      const doorbell_peer &peer = my.peers[to];
      status = signal(queue_pair(&my.qps[to]),
                      {{peer.signals + 8 * (done + my.rank), peer.signals_key}, 1, 0, {0, 0}})
                   .status;
    }
  }
#pragma unroll 1
  for (uint32_t from = threadIdx.x; from < my.ranks && status == DOORBELL_OK; from += blockDim.x) {
    if (from != my.rank) {
      status = wait_for_word(queue_pair(&my.qps[from]), my.flags + done + from, 1, true);
    }
  }
  if (!all_well(status) || payload == 0) {
    return status;
  }
  const uint32_t chosen = my.get(kChosen);
  const uint32_t words = hidden / 2;
  const float *weights = my.at<float>(kWeights);
  const uint32_t all = my.get(kTokens) * words;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) {
    const uint32_t token = i / words;
    const uint32_t word = i % words;
    float low = 0;
    float high = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < chosen; ++k) {
      const uint64_t choice = static_cast<uint64_t>(token) * chosen + k;
      const uint32_t pair = my.at<uint32_t>(kCombined, choice * result)[word];
      low = __fmaf_rn(weights[choice], element(pair, 0), low);
      high = __fmaf_rn(weights[choice], element(pair, 1), high);
    }
    my.at<uint32_t>(kOutput)[i] = doorbell::collective::detail::from_float(low, true) |
                                  doorbell::collective::detail::from_float(high, true) << 16;
  }
  return DOORBELL_OK;
}

}  // namespace expert_parallel

using namespace expert_parallel;

extern "C" __global__ void moe(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job &job = jobs[0];
  const context my{qps,
                   job,
                   reinterpret_cast<const uint64_t *>(job.operand),
                   reinterpret_cast<const doorbell_peer *>(job.peers),
                   reinterpret_cast<uint64_t *>(
                       reinterpret_cast<const doorbell_signals *>(job.signals)->own),
                   job.role,
                   job.qp_count};
  const uint32_t payload = job.opcode >> 8 & 0xffu;
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  if (threadIdx.x == 0) {
    samples[0] = global_time();
  }
  uint32_t status = (job.opcode & 0xffu) == 0 ? dispatch(my, payload, (job.opcode >> 16) != 0)
                                              : combine(my, payload);
  const bool failed = __syncthreads_or(status != DOORBELL_OK);
  if (threadIdx.x == 0) {
    samples[1] = global_time();
  }
  for (uint32_t peer = threadIdx.x; peer < job.qp_count && !failed; peer += blockDim.x) {
    if (peer != job.role && status == DOORBELL_OK) {
      status = quiet(queue_pair(&qps[peer]));
    }
  }
  protocol::report(job, status);
}
