// moe: expert parallelism, dispatch of tokens to the experts of a router and combine of what they return.
//
// Dispatch sends each token to its experts; combine sends what they made of it back and sums it by weight.
//
// Launch     all ranks at once, any number of blocks that run together, each of any number of warps (role is
//            the rank, qp_count their number). Queue pair p leads to rank p, the own place is zero. A launch
//            is one phase; dispatch comes first, and combine when all ranks have ended it.
// Job        opcode: phase (0 dispatch, 1 combine) | payload << 8 | packing << 16; local: the arena; peers:
//            inbox is the arena, signals the flags of each rank; signals: the own flags; operand:
//            uint64_t[kParameters] in the order of enum parameter; samples: two words, before the first post
//            and when everything is here; status.
// Payload    0: bytes, sent and sent back as they are. 1: BF16, summed in single precision. 2: dispatched as
//            FP8 (E4M3, to nearest even) with a float scale for each 128 elements (the largest magnitude /
//            448), combined as payload 1.
// Node       consecutive ranks whose GPUs address each other's arenas and flags (NVLink): a warp copies a
//            message there by stores, and a thread stores the flag. Other ranks are reached by puts.
// Packing    0: a put for each token and expert. 1: what goes to one expert is copied together first, one put.
// Message    a header of 64 bytes, 16 words: token, source rank, then the experts of the token; the payload;
//            the scales. Expert e lives at rank e / experts a rank. Messages of source s to local expert l
//            lie in slots from (l * ranks + s) * capacity on, in any order; their number + 1 is the flag
//            s * experts a rank + l. Answers lie by token and place among its experts, in the arena of
//            the token's rank; flag ranks * experts a rank + r says that all answers of rank r are there.
// Order      a flag is a signal on the queue pair of the messages, after all of them: it arrives behind them;
//            it is acquired at system scope by one thread, and a barrier of the grid passes that on. What
//            is stored on the same node is released at system scope by the store of the flag, behind such a
//            barrier; each block's fence before it is of system scope.
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
  kOwn,           // uint32_t: how many messages are copied, then which
  kNode,          // ranks of a node
  kGrid,          // uint32_t: arrivals at barriers of the grid, and whether anything failed
  kParameters
};

// Of the grid; blocks take turns, so that few things are spread over all of them.
__device__ __forceinline__ uint32_t my_turn() { return threadIdx.x * gridDim.x + blockIdx.x; }
__device__ __forceinline__ uint32_t my_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ uint32_t threads() { return gridDim.x * blockDim.x; }
__device__ __forceinline__ uint32_t my_warp() { return my_thread() / 32; }
__device__ __forceinline__ uint32_t warps() { return threads() / 32; }

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

  // Whether stores reach a rank.
  __device__ __forceinline__ bool near(uint32_t to) const {
    return to / get(kNode) == rank / get(kNode);
  }

  // The arena of a near rank.
  __device__ __forceinline__ uint64_t arena(uint32_t to) const {
    return to == rank ? job.local : peers[to].inbox;
  }

  // The flags of a near rank.
  __device__ __forceinline__ uint64_t *flags_of(uint32_t to) const {
    return to == rank ? flags : reinterpret_cast<uint64_t *>(peers[to].signals);
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

// A warp copies.
__device__ __noinline__ void copy(const uint4 *from, uint4 *to, uint32_t bytes) {
#pragma unroll 4
  for (uint32_t i = threadIdx.x % 32; i < bytes / 16; i += 32) {
    to[i] = from[i];
  }
}

__device__ __forceinline__ void raise(uint64_t *flag, uint64_t value) {
  cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*flag).store(value,
                                                                    cuda::memory_order_release);
}

// All threads of the grid meet; whether all of them are well.
__device__ __noinline__ bool all_well(const context &my, uint32_t status) {
  const bool failed = __syncthreads_or(status != DOORBELL_OK);
  if (gridDim.x == 1) {
    return !failed;
  }
  uint32_t *words = my.at<uint32_t>(kGrid);
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> arrivals(words[0]);
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> failures(words[1]);
  bool others = false;
  if (threadIdx.x == 0) {
    if (failed) {
      failures.store(1u, cuda::memory_order_relaxed);
    }
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    const uint32_t before = arrivals.fetch_add(1u, cuda::memory_order_acq_rel);
    const uint32_t all = before - before % gridDim.x + gridDim.x;
    deadline limit(my.qps[my.rank == 0 ? 1 : 0].deadline_ns);
    while (arrivals.load(cuda::memory_order_acquire) < all && !others) {
      others = limit.due() && limit.passed();
    }
    others |= failures.load(cuda::memory_order_relaxed) != 0;
  }
  return !__syncthreads_or(failed || others);
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

// 16 lanes, 8 elements each, cast a group of 128 BF16 elements to FP8. Returns its scale.
__device__ __forceinline__ float quantise(const uint4 *from, uint2 *to) {
  const uint4 mine = *from;
  const uint32_t words[4] = {mine.x, mine.y, mine.z, mine.w};
  float largest = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) {
    largest = fmaxf(largest, fmaxf(fabsf(element(words[i], 0)), fabsf(element(words[i], 1))));
  }
  const uint32_t group = 0xffffu << (threadIdx.x & 16u);
#pragma unroll
  for (uint32_t lane = 8; lane > 0; lane /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(group, largest, lane));
  }
  const float scale = largest == 0 ? 1.0f : __fdiv_rn(largest, 448.0f);
  uint32_t packed[2] = {0, 0};
#pragma unroll
  for (uint32_t byte = 0; byte < 8; ++byte) {
    const float value = element(words[byte / 2], byte & 1u);
    packed[byte / 4] |= to_e4m3(__fdiv_rn(value, scale)) << (8 * (byte & 3u));
  }
  *to = make_uint2(packed[0], packed[1]);
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
  for (uint32_t i = my_thread(); i < tokens * 16; i += threads()) {
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
    const uint32_t units = hidden / 8;
#pragma unroll 1
    for (uint32_t i = my_thread(); i < tokens * units; i += threads()) {
      const uint32_t token = i / units;
      const uint32_t unit = i % units;
      uint8_t *to = my.at<uint8_t>(kMessages, static_cast<uint64_t>(token) * message) + kHeader;
      const float scale =
          quantise(my.at<uint4>(kInput) + i, reinterpret_cast<uint2 *>(to) + unit);
      if (unit % 16 == 0) {
        reinterpret_cast<float *>(to + hidden)[unit / 16] = scale;
      }
    }
  } else {
    const uint32_t units = (payload == 1 ? 2 * hidden : hidden) / 16;
#pragma unroll 1
    for (uint32_t i = my_thread(); i < tokens * units; i += threads()) {
      const uint32_t token = i / units;
      const uint32_t unit = i % units;
      my.at<uint4>(kMessages, static_cast<uint64_t>(token) * message + kHeader)[unit] =
          my.at<uint4>(kInput)[i];
    }
  }
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
  uint32_t status = DOORBELL_OK;
  if (!all_well(my, status)) {
    return DOORBELL_ERROR_POISONED;
  }
#pragma unroll 1
  for (uint32_t i = my_turn(); i < all; i += threads()) {
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
    if (packs || my.near(to)) {
      // Copied by a warp below.
      const uint32_t place = next(own);
      own[1 + 2 * place] = i;
      own[2 + 2 * place] = slot;
    } else if (status == DOORBELL_OK) {
      status = send(my, to, my.of[kMessages] + static_cast<uint64_t>(i / chosen) * message,
                    my.of[kReceived] + (my.region(expert % local, my.rank) + slot) * message, message);
    }
  }
  if (!all_well(my, status)) {
    return status == DOORBELL_OK ? DOORBELL_ERROR_POISONED : status;
  }
  const uint32_t copies = own[0];
#pragma unroll 1
  for (uint32_t i = my_warp(); i < copies; i += warps()) {
    const uint32_t choice = own[1 + 2 * i];
    const uint32_t slot = own[2 + 2 * i];
    const uint32_t expert = static_cast<uint32_t>(routing[choice]);
    const uint32_t to = expert / local;
    const uint64_t target =
        my.near(to) ? my.arena(to) + my.of[kReceived] +
                          (my.region(expert % local, my.rank) + slot) * message
                    : my.job.local + my.of[kPacked] +
                          (static_cast<uint64_t>(expert) * capacity + slot) * message;
    copy(my.at<uint4>(kMessages, static_cast<uint64_t>(choice / chosen) * message),
         reinterpret_cast<uint4 *>(target), message);
  }
  uint64_t *counts = my.at<uint64_t>(kCounts);
#pragma unroll 1
  for (uint32_t expert = my_thread(); expert < experts; expert += threads()) {
    counts[expert] = slots[expert] + 1ull;
  }
  if (!all_well(my, status)) {
    return DOORBELL_ERROR_POISONED;
  }
#pragma unroll 1
  for (uint32_t expert = my_turn(); expert < experts; expert += threads()) {
    const uint32_t to = expert / local;
    if (my.near(to)) {
      raise(my.flags_of(to) + my.rank * local + expert % local, counts[expert]);
    }
  }
#pragma unroll 1
  for (uint32_t to = my_turn(); to < my.ranks; to += threads()) {
    if (my.near(to)) {
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
  for (uint32_t i = my_turn(); i < experts && status == DOORBELL_OK; i += threads()) {
    const uint32_t from = i / local;
    if (from != my.rank) {
      status = wait_for_word(queue_pair(&my.qps[from]), my.flags + i, 1, true);
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

// Whether the message of a slot is there.
__device__ __forceinline__ bool taken(const context &my, uint32_t region, uint32_t slot) {
  return slot + 1 < my.flags[region % my.ranks * my.get(kLocal) + region / my.ranks];
}

__device__ uint32_t combine(const context &my, uint32_t payload) {
  const uint32_t local = my.get(kLocal);
  const uint32_t capacity = my.get(kCapacity);
  const uint32_t message = my.get(kMessage);
  const uint32_t result = my.get(kResult);
  const uint32_t hidden = my.get(kHidden);
  const uint32_t slots = local * my.ranks * capacity;
  uint32_t status = DOORBELL_OK;
  if (payload == 2) {
    const uint32_t groups = hidden / kGroup;
#pragma unroll 1
    for (uint32_t i = my_thread(); i < slots * groups; i += threads()) {
      const uint32_t slot = i / groups;
      const uint32_t group = i % groups;
      if (taken(my, slot / capacity, slot % capacity)) {
        const uint8_t *from =
            my.at<uint8_t>(kReceived, static_cast<uint64_t>(slot) * message + kHeader);
        dequantise(reinterpret_cast<const uint32_t *>(from + group * kGroup),
                   reinterpret_cast<const float *>(from + hidden)[group],
                   my.at<uint32_t>(kResults, static_cast<uint64_t>(slot) * result) +
                       group * kGroup / 2);
      }
    }
    if (!all_well(my, status)) {
      return DOORBELL_ERROR_POISONED;
    }
  }
#pragma unroll 1
  for (uint32_t slot = my_turn(); slot < slots && status == DOORBELL_OK; slot += threads()) {
    const uint32_t region = slot / capacity;
    const uint32_t source = region % my.ranks;
    const uint32_t expert = my.rank * local + region / my.ranks;
    if (!my.near(source) && taken(my, region, slot % capacity)) {
      uint64_t answer = 0;
      const uint64_t target = answer_of(my, slot, expert, payload, answer);
      status = send(my, source, answer, target, result);
    }
  }
  const uint32_t node = my.get(kNode);
  const uint32_t first = my.rank / node * node;
  const uint32_t last = first + node < my.ranks ? first + node : my.ranks;
  const uint32_t close = (last - first) * capacity;
#pragma unroll 1
  for (uint32_t i = my_warp(); i < local * close; i += warps()) {
    const uint32_t l = i / close;
    const uint32_t source = first + i % close / capacity;
    const uint32_t place = i % capacity;
    if (taken(my, l * my.ranks + source, place)) {
      uint64_t answer = 0;
      const uint64_t target = answer_of(my, my.region(l, source) + place, my.rank * local + l,
                                        payload, answer);
      copy(reinterpret_cast<const uint4 *>(my.job.local + answer),
           reinterpret_cast<uint4 *>(my.arena(source) + target), result);
    }
  }
  if (!all_well(my, status)) {
    return status == DOORBELL_OK ? DOORBELL_ERROR_POISONED : status;
  }
  const uint64_t done = static_cast<uint64_t>(my.ranks) * local;
#pragma unroll 1
  for (uint32_t to = my_turn(); to < my.ranks && status == DOORBELL_OK; to += threads()) {
    if (my.near(to)) {
      raise(my.flags_of(to) + done + my.rank, 1);
    } else {
      const doorbell_peer &peer = my.peers[to];
      status = signal(queue_pair(&my.qps[to]),
                      {{peer.signals + 8 * (done + my.rank), peer.signals_key}, 1, 0, {0, 0}})
                   .status;
    }
  }
#pragma unroll 1
  for (uint32_t from = my_turn(); from < my.ranks && status == DOORBELL_OK; from += threads()) {
    if (from != my.rank) {
      status = wait_for_word(queue_pair(&my.qps[from]), my.flags + done + from, 1, true);
    }
  }
  if (!all_well(my, status) || payload == 0) {
    return status;
  }
  const uint32_t chosen = my.get(kChosen);
  const uint32_t units = hidden / 8;
  const float *weights = my.at<float>(kWeights);
  const uint32_t all = my.get(kTokens) * units;
#pragma unroll 1
  for (uint32_t i = my_thread(); i < all; i += threads()) {
    const uint32_t token = i / units;
    const uint32_t unit = i % units;
    float sums[8] = {};
#pragma unroll 4
    for (uint32_t k = 0; k < chosen; ++k) {
      const uint64_t choice = static_cast<uint64_t>(token) * chosen + k;
      const uint4 answer = my.at<uint4>(kCombined, choice * result)[unit];
      const uint32_t words[4] = {answer.x, answer.y, answer.z, answer.w};
      const float weight = weights[choice];
#pragma unroll
      for (uint32_t word = 0; word < 8; ++word) {
        sums[word] = __fmaf_rn(weight, element(words[word / 2], word & 1u), sums[word]);
      }
    }
    uint32_t packed[4];
#pragma unroll
    for (uint32_t word = 0; word < 4; ++word) {
      packed[word] = doorbell::collective::detail::from_float(sums[2 * word], true) |
                     doorbell::collective::detail::from_float(sums[2 * word + 1], true) << 16;
    }
    my.at<uint4>(kOutput)[i] = make_uint4(packed[0], packed[1], packed[2], packed[3]);
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
  if (my_thread() == 0) {
    samples[0] = global_time();
  }
  uint32_t status = (job.opcode & 0xffu) == 0 ? dispatch(my, payload, (job.opcode >> 16) != 0)
                                              : combine(my, payload);
  const bool failed = !all_well(my, status);
  if (my_thread() == 0) {
    samples[1] = global_time();
  }
  for (uint32_t peer = my_turn(); peer < job.qp_count && !failed; peer += threads()) {
    if (peer != job.role && status == DOORBELL_OK) {
      status = quiet(queue_pair(&qps[peer]));
    }
  }
  protocol::report(job, status);
}
