// Stand-ins for DeepEP's low-latency kernels, for tests: names, parameters and what is sent where are those of the
// library, the code is our own. One thread of a rank does everything. Compile with
//
//   ./doorbell kernel build FOLDER --api deepep --include FOLDER --include FOLDER/../nvshmem
//
// after a change of this or of kernels/include/doorbell/api.
#include <cuda_bf16.h>

namespace {
#ifdef __CUDA_ARCH__

__device__ nvshmemi_ibgda_device_qp_t *connection(int pe, int number) {
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  return &state.globalmem.rcs[pe * state.num_rc_per_pe + number];
}

// Posts a WQE of `words` dwords after its control segment.
__device__ void post(nvshmemi_ibgda_device_qp_t *qp, uint32_t opcode, const uint32_t *body, int words) {
  const uint64_t index = qp->mvars.tx_wq.resv_head++;
  uint32_t *wqe = reinterpret_cast<uint32_t *>(qp->tx_wq.wqe + index % qp->tx_wq.nwqes * 64);
  wqe[0] = stand_in_swap(uint32_t(index & 0xffff) << 8 | opcode);
  wqe[1] = stand_in_swap(qp->qpn << 8 | (1 + words / 4));
  wqe[2] = 0x08000000;
  wqe[3] = 0;
  for (int i = 0; i < words; ++i) wqe[4 + i] = body[i];
  __threadfence_system();
  *const_cast<volatile uint32_t *>(qp->tx_wq.dbrec) = stand_in_swap(uint32_t(index + 1) & 0xffff);
  __threadfence_system();
  *static_cast<volatile uint64_t *>(qp->tx_wq.bf) =
      uint64_t(stand_in_swap(qp->qpn << 8)) << 32 | stand_in_swap(uint32_t(index + 1) << 8);
}

// Where `mine` is in the heap of a PE, as address and key of a WQE.
__device__ void remote(uint32_t *body, const void *mine, int pe) {
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const uint64_t offset = static_cast<const uint8_t *>(mine) - static_cast<uint8_t *>(host.heap_base);
  const uint64_t address = reinterpret_cast<uint64_t>(host.peer_heap_base_remote[pe]) + offset;
  body[0] = stand_in_swap(uint32_t(address >> 32));
  body[1] = stand_in_swap(uint32_t(address));
  body[2] = nvshmemi_ibgda_device_state_d.constmem.rkeys[pe].key;
  body[3] = 0;
}

__device__ void data(uint32_t *body, const void *from, uint32_t bytes, uint32_t key) {
  body[0] = stand_in_swap(bytes);
  body[1] = key;
  body[2] = stand_in_swap(uint32_t(reinterpret_cast<uint64_t>(from) >> 32));
  body[3] = stand_in_swap(uint32_t(reinterpret_cast<uint64_t>(from)));
}

__device__ void send(void *to, const void *from, uint32_t bytes, int pe, int number) {
  if (pe == nvshmemi_device_state_d.mype) {
    memcpy(to, from, bytes);
    return;
  }
  uint32_t body[8];
  remote(body, to, pe);
  data(body + 4, from, bytes, nvshmemi_ibgda_device_state_d.constmem.lkeys[0].key);
  post(connection(pe, number), 0x08, body, 8);
}

__device__ void add(int *to, int value, int pe, int number) {
  if (pe == nvshmemi_device_state_d.mype) {
    __threadfence_system();
    *const_cast<volatile int *>(to) = value;
    return;
  }
  nvshmemi_ibgda_device_qp_t *qp = connection(pe, number);
  uint32_t body[12] = {};
  remote(body, to, pe);
  body[4] = stand_in_swap(uint32_t(value));
  data(body + 8, qp->ibuf.buf, 4, qp->ibuf.lkey);
  post(qp, 0x08000015, body, 12);
}

__device__ int await(const int *word) {
  int value;
  while ((value = *const_cast<volatile const int *>(word)) == 0) {
  }
  __threadfence_system();
  return value;
}
#endif
}  // namespace

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
