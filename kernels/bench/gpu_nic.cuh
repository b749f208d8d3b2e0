// The HCA as a warp of the same GPU, for rings in GPU memory, which no CPU can read: 8-byte puts only.
// One block answers one queue pair; its lanes execute 32 WQEs at a time.
#ifndef DOORBELL_BENCH_GPU_NIC_CUH
#define DOORBELL_BENCH_GPU_NIC_CUH

#include <stdint.h>

#include <cuda/atomic>

namespace bench {

struct gpu_queue {
  uint8_t *ring;
  uint64_t *doorbell;
  uint32_t *record;  // or null: not checked
  uint8_t *cq;
  uint32_t blocks;
  uint32_t entries;
  uint32_t collapsed;
  uint32_t qpn;
  uint32_t fault;  // the line that refused, or 0
  uint32_t seen;   // what it refused
  uint64_t doorbells;
  uint64_t completions;
  uint32_t foreign;  // another library posts: flags have garbage
};

__device__ __forceinline__ uint32_t swap32(uint32_t value) { return __byte_perm(value, 0, 0x0123); }

__device__ __forceinline__ uint64_t swap64(uint32_t high, uint32_t low) {
  return static_cast<uint64_t>(swap32(high)) << 32 | swap32(low);
}

// Zero when lane's WQE is a good put of 8 bytes, which it then has executed; else a line number.
__device__ __forceinline__ uint32_t execute_put(const gpu_queue &queue, uint64_t index,
                                                uint64_t local, uint64_t remote, uint64_t area,
                                                uint64_t step, uint32_t *counts, bool &signaled,
                                                uint32_t &seen) {
  const uint4 *wqe = reinterpret_cast<const uint4 *>(queue.ring + (index & (queue.blocks - 1)) * 64);
  const uint4 control = __ldcv(wqe);
  const uint4 address = __ldcv(wqe + 1);
  const uint4 data = __ldcv(wqe + 2);
  seen = swap32(control.x);
  if (seen != ((static_cast<uint32_t>(index) & 0xffffu) << 8 | 0x08u)) return __LINE__;
  if (swap32(control.y) != (queue.qpn << 8 | 3u)) return __LINE__;
  if (queue.foreign == 0 && (control.z & ~0x08000000u) != 0) return __LINE__;
  if (address.z != 0x00445566u || data.y != 0x00112233u) return __LINE__;
  if (swap32(data.x) != 8) return __LINE__;
  const uint64_t to = swap64(address.x, address.y) - remote;
  const uint64_t from = swap64(data.z, data.w) - local;
  if (to > area - 8 || from > area - 8) return __LINE__;
  *reinterpret_cast<volatile uint64_t *>(remote + to) =
      *reinterpret_cast<const volatile uint64_t *>(local + from);
  atomicAdd(&counts[to / step], 1);
  signaled = (control.z & 0x08000000u) != 0;
  return 0;
}

__global__ void gpu_nic(gpu_queue *queues, uint64_t local, uint64_t remote, uint64_t area,
                        uint64_t step, uint32_t *counts, const uint32_t *stop, uint64_t patience) {
  gpu_queue queue = queues[blockIdx.x];
  const uint32_t lane = threadIdx.x;
  cuda::atomic_ref<uint64_t, cuda::thread_scope_system> doorbell(*queue.doorbell);
  uint64_t head = 0, completions = 0, last = 0, started, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(started));
  uint32_t fault = 0;
  for (uint32_t looks = 0; fault == 0; ++looks) {
    const uint64_t rung = doorbell.load(cuda::memory_order_acquire);
    const uint64_t agreed = __shfl_sync(0xffffffffu, rung, 0);
    if (agreed == last) {
      // A look at host memory takes as long as several at GPU memory, so that it is in the times of few puts.
      if ((looks & 4095u) == 0) {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        const bool ends = *reinterpret_cast<const volatile uint32_t *>(stop) != 0 ||
                          now - started > patience;
        if (__any_sync(0xffffffffu, ends)) break;
      }
      continue;
    }
    last = agreed;
    ++queue.doorbells;
    const uint32_t index = swap32(static_cast<uint32_t>(agreed)) >> 8 & 0xffffu;
    const uint32_t news = (index - static_cast<uint32_t>(head)) & 0xffffu;
    if (news > queue.blocks || swap32(static_cast<uint32_t>(agreed >> 32)) >> 8 != queue.qpn) {
      fault = __LINE__;
      break;
    }
    if (queue.record != nullptr) {
      const uint32_t record = swap32(*reinterpret_cast<volatile uint32_t *>(queue.record));
      if (((record - index) & 0xffffu) > queue.blocks) {
        fault = __LINE__;
        break;
      }
    }
    for (uint32_t done = 0; done < news && fault == 0; done += 32) {
      const uint32_t here = news - done < 32 ? news - done : 32;
      bool signaled = false;
      uint32_t refused = 0, seen = 0;
      if (lane < here) {
        refused = execute_put(queue, head + lane, local, remote, area, step, counts, signaled,
                              seen);
      }
      fault = __reduce_max_sync(0xffffffffu, refused);
      if (refused != 0) {
        queues[blockIdx.x].seen = seen;
      }
      const uint32_t mask = __ballot_sync(0xffffffffu, signaled);
      __syncwarp();
      // One fence for all CQEs: every lane's put is before each of them. Of a collapsed CQ the last one stays.
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
      const uint32_t before = __popc(mask & ((1u << lane) - 1));
      const bool last = before + 1 == __popc(mask);
      if (signaled && fault == 0 && (queue.collapsed == 0 || last)) {
        const uint64_t number = completions + before;
        const bool owner = queue.collapsed == 0 && (number & queue.entries) != 0;
        const uint64_t slot = queue.collapsed != 0 ? 0 : number & (queue.entries - 1);
        const uint32_t counter = static_cast<uint32_t>(head + lane) & 0xffffu;
        cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(
            *reinterpret_cast<uint32_t *>(queue.cq + slot * 64 + 0x3c))
            .store(swap32(counter << 16 | (owner ? 1u : 0u)), cuda::memory_order_relaxed);
      }
      completions += __popc(mask);
      head += here;
    }
  }
  if (lane == 0) {
    queues[blockIdx.x].fault = fault;
    queues[blockIdx.x].doorbells = queue.doorbells;
    queues[blockIdx.x].completions = fault != 0 ? head : completions;
  }
}

}  // namespace bench

#endif  // DOORBELL_BENCH_GPU_NIC_CUH
