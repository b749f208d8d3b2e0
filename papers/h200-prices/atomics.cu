// What atomics of one thread cost by the line that they are on.
//
// Before each of 2,000 rounds the thread polls its clock for idle_cycles. It then executes the operations and waits for
// the last result. apart_bytes is the distance from one round's words to the next one's: 0 keeps all rounds on the
// same lines. Each kernel runs once before it is timed. Printed are cycles between two reads of the clock, which take 24
// themselves (`none`).
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o atomics atomics.cu
//   (./atomics 1; ./atomics 2) > atomics.csv
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t error = (call);                                                   \
    if (error != cudaSuccess) {                                                         \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error)); \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)

enum operations {
  NONE, ADD, TWO_ADDS, TWO_ADDS_ONE_WORD, LOAD, STORE_ADD, ACQUIRE, RELEASE, STORE_RELEASE, FENCE, STORE_FENCE, CAS, POST,
  RED_RELEASE, RELEASE_STORE
};

constexpr int kRounds = 2000;
constexpr size_t kApart = 32768;
constexpr size_t kElsewhere = 32, kRecord = 96, kBaton = 160;  // words from a round's first one

__device__ __forceinline__ uint64_t cycles() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}
__device__ __forceinline__ uint64_t add(uint64_t *to) {
  uint64_t old;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], 1;" : "=l"(old) : "l"(to) : "memory");
  return old;
}
__device__ __forceinline__ void store(uint64_t *to, uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ __forceinline__ uint64_t exchange_release(uint64_t *to, uint64_t value) {
  uint64_t old;
  asm volatile("atom.release.gpu.global.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(to), "l"(value) : "memory");
  return old;
}
__device__ __forceinline__ void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

template <int kWhat>
__device__ __forceinline__ uint64_t execute(uint64_t *word, uint64_t value) {
  uint64_t result = value;
  if (kWhat == ADD) result = add(word);
  if (kWhat == TWO_ADDS) { result = add(word); result += add(word + kElsewhere); }
  if (kWhat == TWO_ADDS_ONE_WORD) { result = add(word); result += add(word); }
  if (kWhat == LOAD) asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(result) : "l"(word) : "memory");
  if (kWhat == STORE_ADD) { store(word, value); result = add(word + kElsewhere); }
  if (kWhat == ACQUIRE) asm volatile("atom.acquire.gpu.global.exch.b64 %0, [%1], %2;" : "=l"(result) : "l"(word), "l"(value) : "memory");
  if (kWhat == RELEASE) result = exchange_release(word, value);
  if (kWhat == STORE_RELEASE) { store(word + kElsewhere, value); result = exchange_release(word, value); }
  if (kWhat == FENCE) fence();
  if (kWhat == STORE_FENCE) { store(word + kElsewhere, value); fence(); }
  if (kWhat == CAS) asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;" : "=l"(result) : "l"(word), "l"(value), "l"(value) : "memory");
  if (kWhat == POST) {
    const uint64_t index = add(word);
    store(word + kElsewhere, index);
    fence();
    store(word + kRecord, index);
    result = exchange_release(word + kBaton, index);
  }
  if (kWhat == RED_RELEASE) asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
  if (kWhat == RELEASE_STORE) asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
  return result;
}

template <int kWhat>
__global__ void time_operations(uint64_t *words, uint64_t *taken, uint32_t idle_cycles, uint64_t apart) {
  uint64_t value = 1;
  for (int round = 0; round < kRounds; round++) {
    const uint64_t until = cycles() + idle_cycles;
    while (cycles() < until) {
    }
    const uint64_t begin = cycles();
    const uint64_t result = execute<kWhat>(words + apart * round, value);
    // A branch on the result waits for it.
    asm volatile("{.reg .pred p; setp.eq.u64 p, %0, 0xdeadbeef; @p trap;}" ::"l"(result) : "memory");
    taken[round] = cycles() - begin;
    value = (result & 1) + 1;
  }
}

template <int kWhat>
void run(const char *number, const char *name, uint64_t *words, uint64_t *taken) {
  for (const size_t apart : {size_t{0}, kApart}) {
    for (const uint32_t idle : {200u, 4000u}) {
      for (int turn = 0; turn < 2; turn++) {
        time_operations<kWhat><<<1, 1>>>(words, taken, idle, apart / sizeof(uint64_t));
        CHECK(cudaDeviceSynchronize());
      }
      std::vector<uint64_t> of(kRounds);
      CHECK(cudaMemcpy(of.data(), taken, kRounds * sizeof(uint64_t), cudaMemcpyDeviceToHost));
      std::sort(of.begin(), of.end());
      printf("%s,\"%s\",%zu,%u,%lu,%lu,%lu\n", number, name, apart, idle, of[kRounds / 20], of[kRounds / 2],
             of[kRounds - kRounds / 20]);
    }
  }
}

int main(int count, char **arguments) {
  const char *number = count > 1 ? arguments[1] : "1";
  uint64_t *words, *taken;
  const size_t bytes = kRounds * kApart + (1 << 20);
  CHECK(cudaMalloc(&words, bytes));
  CHECK(cudaMemset(words, 0, bytes));
  CHECK(cudaMalloc(&taken, kRounds * sizeof(uint64_t)));
  if (*number == '1') printf("run,operations,apart_bytes,idle_cycles,p5_cycles,p50_cycles,p95_cycles\n");
  run<NONE>(number, "none", words, taken);
  run<ADD>(number, "atom.relaxed.add", words, taken);
  run<TWO_ADDS>(number, "atom.relaxed.add twice", words, taken);
  run<TWO_ADDS_ONE_WORD>(number, "atom.relaxed.add twice, one word", words, taken);
  run<LOAD>(number, "ld.relaxed", words, taken);
  run<STORE_ADD>(number, "st, atom.relaxed.add", words, taken);
  run<ACQUIRE>(number, "atom.acquire.exch", words, taken);
  run<RELEASE>(number, "atom.release.exch", words, taken);
  run<STORE_RELEASE>(number, "st, atom.release.exch", words, taken);
  run<FENCE>(number, "fence.acq_rel", words, taken);
  run<STORE_FENCE>(number, "st, fence.acq_rel", words, taken);
  run<CAS>(number, "atom.relaxed.cas", words, taken);
  run<POST>(number, "atom, st, fence, st, atom.release.exch", words, taken);
  run<RED_RELEASE>(number, "red.release.add", words, taken);
  run<RELEASE_STORE>(number, "st.release", words, taken);
}
