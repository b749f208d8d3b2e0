// How many loads a thread has under way while it goes on, and what issuing one takes.
//
// Each round issues K loads that do not depend on each other, each of a line of its own, and then
// uses their values; the next round's addresses depend on this one's values. Printed are cycles of
// a round, from its begin until the last load was issued, and, for `fenced`, until a fence behind
// the loads returned; medians of 5 launches of 50 rounds, of one thread.
//
//   nvcc -O3 -arch=sm_90 -o loads_in_flight loads_in_flight.cu && ./loads_in_flight > loads_in_flight.csv
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

enum class how { relaxed, acquire, fenced };

constexpr int kRounds = 50;
constexpr int kWarmUp = 2;
constexpr int kLaunches = 5;
constexpr size_t kBytes = size_t{64} << 20;
constexpr uint64_t kApart = 256;
constexpr uint64_t kWarpsApart = 64 << 10;

struct cycles {
  uint64_t round, issue, fence;
};

__device__ __forceinline__ uint64_t now() {
  uint64_t cycle;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycle)::"memory");
  return cycle;
}

template <how kHow>
__device__ __forceinline__ uint32_t load(uint64_t address) {
  uint32_t value;
  if constexpr (kHow == how::acquire) {
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address));
  } else {
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address));
  }
  return value;
}

// `zero` is 0, which the compiler does not know.
template <how kHow, int K>
__global__ void rounds(uint64_t address, uint64_t zero, cycles *out) {
  address += (threadIdx.x & 31) * sizeof(uint32_t) + (threadIdx.x >> 5) * kWarpsApart;
  cycles sum = {};
  uint64_t start = 0;
  for (int round = 0; round < kRounds + kWarmUp; ++round) {
    if (round == kWarmUp) {
      sum = {};
      start = now();
    }
    uint32_t values[K];
    const uint64_t begin = now();
#pragma unroll
    for (int i = 0; i < K; ++i) {
      values[i] = load<kHow>(address + i * kApart);
    }
    sum.issue += now() - begin;
    if constexpr (kHow == how::fenced) {
      asm volatile("fence.acq_rel.sys;" ::: "memory");
      sum.fence += now() - begin;
    }
    uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < K; ++i) {
      any |= values[i];
    }
    address += any & zero;
  }
  sum.round = now() - start;
  if (threadIdx.x == 0) {
    *out = sum;
  }
  if (address == zero + 1) {
    out->round = 0;  // never so; but what was loaded is looked at
  }
}

static void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
  }
}

template <how kHow, int K>
void measure(const char *name, const char *where, void *memory, int warps, cycles *out) {
  uint64_t round[kLaunches], issue[kLaunches], fence[kLaunches];
  for (int i = 0; i < kLaunches; ++i) {
    const int threads = warps == 0 ? 1 : 32 * warps;
    rounds<kHow, K><<<1, threads>>>(reinterpret_cast<uint64_t>(memory), 0, out);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    round[i] = out->round / kRounds;
    issue[i] = out->issue / kRounds;
    fence[i] = out->fence / kRounds;
  }
  for (uint64_t *each : {round, issue, fence}) {
    std::sort(each, each + kLaunches);
  }
  constexpr int kMedian = kLaunches / 2;
  std::printf("%s,%s,%d,%d,%llu,%llu,%llu\n", name, where, warps == 0 ? 1 : 32 * warps, K,
              static_cast<unsigned long long>(round[kMedian]),
              static_cast<unsigned long long>(issue[kMedian]),
              static_cast<unsigned long long>(fence[kMedian]));
}

template <how kHow, int... K>
void ladder(const char *name, const char *where, void *memory, int warps, cycles *out) {
  (measure<kHow, K>(name, where, memory, warps, out), ...);
}

int main() {
  void *host, *device;
  cycles *out;
  check(cudaHostAlloc(reinterpret_cast<void **>(&out), sizeof(cycles), cudaHostAllocMapped));
  check(cudaHostAlloc(&host, kBytes, cudaHostAllocMapped));
  check(cudaMalloc(&device, kBytes));
  check(cudaMemset(device, 0, kBytes));
  std::fill_n(static_cast<char *>(host), kBytes, 0);
  std::printf("loads,memory,threads,K,round,issue,fence\n");
  for (void *memory : {device, host}) {
    const char *where = memory == host ? "host" : "device";
    ladder<how::relaxed, 1, 2, 4, 8, 16, 24, 32, 40, 48, 52, 54, 56, 57, 58, 60, 62, 64, 96, 128>(
        "relaxed", where, memory, 0, out);
    for (int warps : {1, 8}) {
      ladder<how::relaxed, 1, 16, 32, 48, 56, 57, 58, 64>("relaxed", where, memory, warps, out);
    }
    ladder<how::acquire, 1, 2, 4, 16>("acquire", where, memory, 0, out);
    ladder<how::fenced, 1, 4, 16, 48>("fenced", where, memory, 0, out);
  }
}
