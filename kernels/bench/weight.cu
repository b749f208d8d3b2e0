// weight: what carrying the library costs the throughput of a caller that does not post at present.
//
//   kernels/weight --keep DIR                     # the callers, compiled
//   nvcc -O3 -std=c++17 -arch=native -Iinclude -Ibench bench/weight.cu -lcuda -o weight.out   # in kernels/
//   ./weight.out DIR REPETITIONS
//
// Each caller runs on all multiprocessors with as many blocks as fit; rows of one kind take turns. Without
// the library is 100 %.
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "device_memory.cuh"
#include "doorbell/abi.h"

namespace {

using bench::check;

constexpr uint32_t kThreads = 128;
constexpr uint32_t kWaves = 4;

struct caller {
  uint32_t live;
  bool streaming;
  uint32_t carry;
  cudaKernel_t kernel;
  int blocks = 0, registers = 0;  // of a multiprocessor; of a thread
  std::vector<double> rates;      // values a nanosecond
};

const char *const kCarry[] = {"none", "inlined", "apart", "light", "bound", "poster"};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: weight DIR REPETITIONS\n");
    return 2;
  }
  const int repeat = std::max(1, atoi(argv[2]));
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  printf("# %s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
  std::vector<caller> callers;
  for (const auto &file : std::filesystem::directory_iterator(argv[1])) {
    unsigned live, streaming, carry;
    if (file.path().extension() != ".cubin" ||
        sscanf(file.path().filename().c_str(), "%u.%u.%u", &live, &streaming, &carry) != 3 || carry >= std::size(kCarry)) {
      continue;
    }
    cudaLibrary_t library;
    caller one{live, streaming != 0, carry, {}};
    check(cudaLibraryLoadFromFile(&library, file.path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          file.path().c_str());
    check(cudaLibraryGetKernel(&one.kernel, library, "weight"), file.path().c_str());
    const void *function = reinterpret_cast<const void *>(one.kernel);
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&one.blocks, function, kThreads, 0), "occupancy");
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, function), "attributes");
    one.registers = attributes.numRegs;
    callers.push_back(one);
  }
  if (callers.empty()) {
    fprintf(stderr, "weight: no cubin of kernels/weight --keep in %s\n", argv[1]);
    return 2;
  }
  std::sort(callers.begin(), callers.end(), [](const caller &a, const caller &b) {
    return std::tie(a.streaming, a.live, a.carry) < std::tie(b.streaming, b.live, b.carry);
  });
  // Every block's threads have the same work: the grid is as large for all callers of a kind.
  const uint32_t blocks = properties.multiProcessorCount * 16 * kWaves;
  const uint64_t threads = uint64_t{blocks} * kThreads;
  const uint64_t most = uint64_t{4} << 30;
  bench::memory data(most, true);
  data.fill(0);
  bench::memory job(sizeof(doorbell_job), true);
  doorbell_job never = {};
  never.iterations = ~uint64_t{0};
  job.put(0, &never, sizeof never);
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "event");
  check(cudaEventCreate(&to), "event");
  for (int round = 0; round <= repeat; ++round) {
    for (caller &one : callers) {
      const uint64_t each = threads * one.live * 4;
      uint64_t turns = one.streaming ? most / each - 1 : 200'000 / one.live;
      if (turns > 64 && one.streaming) {
        turns = 64;
      }
      uint64_t queues = 0, with = job.address(), at = data.address();
      void *arguments[] = {&queues, &with, &at, &turns};
      check(cudaEventRecord(from), "event");
      check(cudaLaunchKernel(reinterpret_cast<const void *>(one.kernel), blocks, kThreads, arguments, 0, nullptr),
            "launch");
      check(cudaEventRecord(to), "event");
      check(cudaEventSynchronize(to), "the kernel");
      float milliseconds;
      check(cudaEventElapsedTime(&milliseconds, from, to), "event");
      if (round > 0) {  // the first warms up
        one.rates.push_back(static_cast<double>(threads) * one.live * turns / milliseconds * 1e-6);
      }
    }
  }
  double none = 0;
  for (caller &one : callers) {
    std::sort(one.rates.begin(), one.rates.end());
    const double median = one.rates[one.rates.size() / 2];
    if (one.carry == 0) {
      none = median;
    }
    printf("%-10s %4u live  %-8s %3d registers  %2d blocks of %u a multiprocessor  %9.1f [%.1f-%.1f] values/ns  "
           "%6.1f %%  n %d\n",
           one.streaming ? "streaming" : "compute", one.live, kCarry[one.carry], one.registers, one.blocks,
           kThreads, median, one.rates.front(), one.rates.back(), none == 0 ? 0 : 100 * median / none, repeat);
  }
  return 0;
}
