// What a fence costs one thread: by itself, behind a store, and in front of a load of a line that the thread had just loaded.
#ifndef DOORBELL_BENCH_FENCES_CUH
#define DOORBELL_BENCH_FENCES_CUH

#include <stdint.h>
#include <stdio.h>

#include <algorithm>
#include <string>
#include <vector>

#include "device_memory.cuh"

namespace bench {

enum class fence { none, acquire, release, acq_rel };

constexpr uint32_t kFenceTurns = 1000;
constexpr uint64_t kFenceRest = 10'000;  // cycles between turns: stores of the turn before have arrived

__device__ __forceinline__ uint64_t fence_clock() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

template <fence kFence, bool kSystem>
__device__ __forceinline__ void fence_by_ptx() {
#if __CUDA_ARCH__ >= 900  // fence.acquire and fence.release
  if (kFence == fence::acquire) {
    if (kSystem) asm volatile("fence.acquire.sys;" ::: "memory");
    else asm volatile("fence.acquire.gpu;" ::: "memory");
  }
  if (kFence == fence::release) {
    if (kSystem) asm volatile("fence.release.sys;" ::: "memory");
    else asm volatile("fence.release.gpu;" ::: "memory");
  }
#endif
  if (kFence == fence::acq_rel) {
    if (kSystem) asm volatile("fence.acq_rel.sys;" ::: "memory");
    else asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
}

// ticks: cycles of each turn; times: cycles and nanoseconds of all.
template <fence kFence, bool kSystem>
__global__ void price_fence(uint64_t *stored, const uint64_t *loaded, uint64_t *ticks, uint64_t *times) {
  uint64_t begin, end, value = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
  const uint64_t first = fence_clock();
  for (uint32_t turn = 0; turn < kFenceTurns; ++turn) {
    const uint64_t rest = fence_clock();
    while (fence_clock() - rest < kFenceRest) {
    }
    if (loaded != nullptr) {
      asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(loaded) : "memory");
      if (value != 0) return;
    }
    const uint64_t start = fence_clock();
    if (stored != nullptr) {
      asm volatile("st.global.u64 [%0], %1;" ::"l"(stored), "l"(static_cast<uint64_t>(turn)) : "memory");
    }
    fence_by_ptx<kFence, kSystem>();
    if (loaded != nullptr) {
      asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(loaded) : "memory");
      if (value != 0) return;  // so that the load is waited for
    }
    ticks[turn] = fence_clock() - start;
  }
  times[0] = fence_clock() - first;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end)::"memory");
  times[1] = end - begin;
}

using fence_kernel = void (*)(uint64_t *, const uint64_t *, uint64_t *, uint64_t *);

struct fence_row {
  const char *name;
  fence_kernel kernel;
  std::vector<double> medians[4];  // of nothing stored, a store to GPU memory, one to host memory; of a load behind it
};

inline bool fences(int repeat) {
  fence_row rows[] = {
      {"none", price_fence<fence::none, false>, {}},
      {"acquire, GPU scope", price_fence<fence::acquire, false>, {}},
      {"acquire, system scope", price_fence<fence::acquire, true>, {}},
      {"release, GPU scope", price_fence<fence::release, false>, {}},
      {"release, system scope", price_fence<fence::release, true>, {}},
      {"acq_rel, GPU scope", price_fence<fence::acq_rel, false>, {}},
      {"acq_rel, system scope", price_fence<fence::acq_rel, true>, {}},
  };
  memory near(4096, true), far(4096, false), ticks(8 * kFenceTurns, true), times(16, true);
  near.fill(0);
  far.fill(0);
  uint64_t *const gpu = reinterpret_cast<uint64_t *>(near.address());
  uint64_t *const host = reinterpret_cast<uint64_t *>(far.address());
  uint64_t *const none = nullptr;
  uint64_t *const stored[] = {none, gpu, host, none};
  double gigahertz = 0;
  for (int run = 0; run < repeat; ++run) {
    for (fence_row &row : rows) {
      for (int what = 0; what < 4; ++what) {
        // What is loaded is not what is stored to.
        row.kernel<<<1, 1>>>(stored[what], what == 3 ? gpu + 64 : none,
                             reinterpret_cast<uint64_t *>(ticks.address()),
                             reinterpret_cast<uint64_t *>(times.address()));
        check(cudaGetLastError(), row.name);
        check(cudaDeviceSynchronize(), row.name);
        std::vector<uint64_t> all(kFenceTurns);
        ticks.get(all.data(), 8 * kFenceTurns);
        std::nth_element(all.begin(), all.begin() + kFenceTurns / 2, all.end());
        row.medians[what].push_back(static_cast<double>(all[kFenceTurns / 2]));
        uint64_t of[2];
        times.get(of, sizeof of);
        gigahertz = static_cast<double>(of[0]) / static_cast<double>(of[1]);
      }
    }
  }
  printf("# cycles of one thread, %.2f GHz; medians of %d runs of %u, least and most\n", gigahertz, repeat, kFenceTurns);
  printf("%-24s %18s %22s %22s %22s\n", "fence", "nothing stored", "store to GPU memory", "store to host memory",
         "load of a line behind");
  for (fence_row &row : rows) {
    printf("%-24s", row.name);
    for (std::vector<double> &of : row.medians) {
      std::sort(of.begin(), of.end());
      char text[64];
      snprintf(text, sizeof text, "%.0f [%.0f-%.0f]", of[of.size() / 2], of.front(), of.back());
      printf(" %21s", text);
    }
    printf("\n");
  }
  return true;
}

}  // namespace bench

#endif  // DOORBELL_BENCH_FENCES_CUH
