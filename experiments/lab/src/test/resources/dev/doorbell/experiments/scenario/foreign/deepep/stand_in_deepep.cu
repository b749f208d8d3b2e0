// Stand-ins for DeepEP's low-latency kernels, for tests: names, parameters and what is sent where are those of the
// library, the code is our own. One thread of a rank does everything. Compile with
//
//   ./doorbell kernel build FOLDER --api deepep --include FOLDER --include FOLDER/../nvshmem
//
// after a change of this or of kernels/include/doorbell/api.
#include <cuda_bf16.h>

#include "stand_in_deepep.cuh"

namespace deep_ep::legacy::internode_ll {

template <bool kUseFP8, bool kUseUE8M0, int kHidden>
__global__ void dispatch(void *packed_x, void *, int *src_info, int64_t *ranges, int *received, int *, int *, int64_t *,
                         void *arriving, int *counts, void *sending, const void *x, const int64_t *topk, int *, int *,
                         int *next_clean, int clean, int tokens, int most, int top, int experts, int rank, int ranks,
                         int, int, bool, int) {
#ifdef __CUDA_ARCH__
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  constexpr int row = kHidden * 2, message = 16 + row;
  const int local = experts / ranks;
  for (int i = 0; i < clean; ++i) next_clean[i] = 0;
  for (int expert = 0; expert < experts; ++expert) {
    const int pe = expert / local, number = expert % local;
    int sent = 0;
    for (int i = 0; i < tokens * top; ++i) {
      if (topk[i] != expert) continue;
      uint8_t *from = static_cast<uint8_t *>(sending) + i / top * message;
      *reinterpret_cast<int *>(from) = i / top;
      memcpy(from + 16, static_cast<const uint8_t *>(x) + i / top * row, row);
      send(static_cast<uint8_t *>(arriving) + ((number * ranks + rank) * most + sent++) * message, from, message, pe,
           number);
    }
    add(&counts[number * ranks + rank], -sent - 1, pe, number);
  }
  for (int expert = 0; expert < local; ++expert) {
    int begin = 0;
    for (int from = 0; from < ranks; ++from) {
      const int count = -await(&counts[expert * ranks + from]) - 1;
      ranges[expert * ranks + from] = int64_t(begin) << 32 | uint32_t(count);
      for (int i = 0; i < count; ++i, ++begin) {
        const uint8_t *at = static_cast<uint8_t *>(arriving) + ((expert * ranks + from) * most + i) * message;
        src_info[expert * ranks * most + begin] = *reinterpret_cast<const int *>(at);
        memcpy(static_cast<uint8_t *>(packed_x) + (expert * ranks * most + begin) * row, at + 16, row);
      }
    }
    received[expert] = begin;
  }
#endif
}

template <bool kUseLogFMT, int kHidden, int kNumMaxTopk, int kNumMaxUnrolls>
__global__ void combine(void *combined, void *arriving, int *flags, void *sending, const void *x, const int64_t *topk,
                        const float *weights, const int *src_info, const int64_t *ranges, int *, int64_t *,
                        int *next_clean, int clean, int *, int tokens, int, int top, int most, int experts, int rank,
                        int ranks, int, int, int, bool) {
#ifdef __CUDA_ARCH__
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  constexpr int row = kHidden * 2, message = row + kHidden / 128 * 4;
  const int local = experts / ranks;
  for (int i = 0; i < clean; ++i) next_clean[i] = 0;
  for (int expert = 0; expert < local; ++expert) {
    const int global = rank * local + expert;
    for (int pe = 0; pe < ranks; ++pe) {
      const int64_t range = ranges[expert * ranks + pe];
      for (int i = int(range >> 32), end = i + int(range); i < end; ++i) {
        uint8_t *from = static_cast<uint8_t *>(sending) + (expert * ranks * most + i) * message;
        memcpy(from, static_cast<const uint8_t *>(x) + (expert * ranks * most + i) * row, row);
        send(static_cast<uint8_t *>(arriving) + (global * most + src_info[expert * ranks * most + i]) * message, from,
             row, pe, expert);
      }
      add(&flags[global], 1, pe, expert);
    }
  }
  for (int expert = 0; expert < experts; ++expert) await(&flags[expert]);
  for (int token = 0; token < tokens; ++token) {
    for (int h = 0; h < kHidden; ++h) {
      float sum = 0;
      for (int k = 0; k < top; ++k) {
        const uint8_t *at = static_cast<uint8_t *>(arriving) + (topk[token * top + k] * most + token) * message;
        sum += __bfloat162float(reinterpret_cast<const __nv_bfloat16 *>(at)[h]) * weights[token * top + k];
      }
      static_cast<__nv_bfloat16 *>(combined)[token * kHidden + h] = __float2bfloat16(sum);
    }
  }
#endif
}

template __global__ void dispatch<false, false, 256>(void *, void *, int *, int64_t *, int *, int *, int *, int64_t *,
                                                     void *, int *, void *, const void *, const int64_t *, int *, int *,
                                                     int *, int, int, int, int, int, int, int, int, int, bool, int);
template __global__ void combine<false, 256, 11, 4>(void *, void *, int *, void *, const void *, const int64_t *,
                                                    const float *, const int *, const int64_t *, int *, int64_t *,
                                                    int *, int, int *, int, int, int, int, int, int, int, int, int, int,
                                                    bool);

}  // namespace deep_ep::legacy::internode_ll
