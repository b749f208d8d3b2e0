// What the order of a post costs the thread that posts, by instruction, scope, and where its stores go.
//
// A post is 48 bytes of WQE in three 16-byte stores, a record of 4 bytes and a doorbell of 8, with an order
// between them; the doorbell is a word of memory, so that the time is the GPU's alone. Before each post the thread
// polls a word in GPU memory for idle_cycles, as a poster polls its completion queue. Behind the posts come single
// operations, on memory of each kind. Printed are nanoseconds from before the first store until behind the last
// instruction, median, 5th and 99th percentile of 1,800 (200 more come first), of one thread.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o fences fences.cu
//   ./fences MACHINE [peer] [allocated|portable|registered] >> fences.csv
//
// `peer` enables access to a second GPU and takes its memory as one more place.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                   \
  do {                                                                                \
    const cudaError_t error = (call);                                                 \
    if (error != cudaSuccess) {                                                       \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error)); \
      exit(1);                                                                        \
    }                                                                                 \
  } while (0)

enum order {
  NONE, GPU, GPU_SC, TWO_GPU, TWO_GPU_SC, RELEASE_GPU, RELEASE_SYS, SYS, SYS_SC, TWO_SYS, TWO_SYS_SC,
  RELEASE_GPU_DOORBELL, RELEASE_SYS_DOORBELL, THREE_SYS_SC, CTA, ORDERS
};

const char *kOrders[] = {
    "none", "fence.acq_rel.gpu", "fence.sc.gpu", "2xfence.acq_rel.gpu", "2xfence.sc.gpu",
    "release.gpu rec+db", "release.sys rec+db", "fence.acq_rel.sys", "fence.sc.sys",
    "2xfence.acq_rel.sys", "2xfence.sc.sys", "release.gpu db", "release.sys db", "3xfence.sc.sys",
    "fence.acq_rel.cta"};

const char *kOperations[] = {
    "ld.relaxed.sys", "ld.acquire.sys", "ld.acquire.gpu", "ld.volatile", "atom.relaxed.gpu",
    "atom.acq_rel.gpu", "atom.acq_rel.sys", "fence.acq_rel.gpu", "fence.sc.gpu", "fence.acq_rel.sys",
    "fence.sc.sys", "st+fence.acq_rel.gpu", "st+fence.sc.gpu", "st+fence.acq_rel.sys",
    "st+fence.sc.sys", "st", "st+ld+fence.sc.sys", "ld.mmio", "st.release.gpu", "st.release.sys"};
constexpr int kMmioLoad = 17;
constexpr int kOperationCount = 20;

constexpr int kRounds = 2000;
constexpr int kWarmUp = 200;
constexpr int kBlocks = 256;
constexpr size_t kPlaceBytes = 1 << 20;
constexpr size_t kRecord = 64 << 10, kDoorbell = 128 << 10, kPolled = 256 << 10;
constexpr size_t kLoaded = 300000, kStored = 400000;

__device__ __forceinline__ void store16(char *to, uint64_t low, uint64_t high) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(low), "l"(high) : "memory");
}
__device__ __forceinline__ void store4(void *to, uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
__device__ __forceinline__ void store8(void *to, uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

// place: 0 before the record, 1 before the doorbell, 2 behind it.
template <int kOrder>
__device__ __forceinline__ void order_at(int place) {
  if ((kOrder == GPU && place == 1) || (kOrder == TWO_GPU && place < 2)) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  if ((kOrder == GPU_SC && place == 1) || (kOrder == TWO_GPU_SC && place < 2)) asm volatile("fence.sc.gpu;" ::: "memory");
  if ((kOrder == SYS && place == 1) || (kOrder == TWO_SYS && place < 2)) asm volatile("fence.acq_rel.sys;" ::: "memory");
  if ((kOrder == SYS_SC && place == 1) || (kOrder == TWO_SYS_SC && place < 2) || kOrder == THREE_SYS_SC) asm volatile("fence.sc.sys;" ::: "memory");
  if (kOrder == CTA && place == 1) asm volatile("fence.acq_rel.cta;" ::: "memory");
}

struct setup {
  char *ring;
  uint32_t *record;
  uint64_t *doorbell;
  uint64_t *polled;
  uint64_t *cycles;
  int idle_cycles;
  int batch;
};

template <int kOrder>
__global__ void post(setup s) {
  uint64_t seen = 0;
  uint32_t index = 0;
  for (int round = 0; round < kRounds; round++) {
    const long long idle = clock64();
    while (clock64() - idle < s.idle_cycles) {
      uint64_t value;
      asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(s.polled) : "memory");
      seen += value;
    }
    const uint64_t start = clock64();
    asm volatile("" ::: "memory");
    for (int i = 0; i < s.batch; i++, index++) {
      char *wqe = s.ring + (index & (kBlocks - 1)) * 64;
      store16(wqe, __byte_perm(index, 0, 0x0123) | 1ull << 32, index * 2654435761ull + seen);
      store16(wqe + 16, reinterpret_cast<uint64_t>(wqe), index);
      store16(wqe + 32, index + seen, 2);
    }
    order_at<kOrder>(0);
    const uint32_t record = __byte_perm(index & 0xffff, 0, 0x0123);
    if (kOrder == RELEASE_GPU) {
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(s.record), "r"(record) : "memory");
    } else if (kOrder == RELEASE_SYS) {
      asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(s.record), "r"(record) : "memory");
    } else {
      store4(s.record, record);
    }
    order_at<kOrder>(1);
    const uint64_t doorbell = static_cast<uint64_t>(record) << 8 | index;
    if (kOrder == RELEASE_GPU || kOrder == RELEASE_GPU_DOORBELL) {
      asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(s.doorbell), "l"(doorbell) : "memory");
    } else if (kOrder == RELEASE_SYS || kOrder == RELEASE_SYS_DOORBELL) {
      asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(s.doorbell), "l"(doorbell) : "memory");
    } else {
      store8(s.doorbell, doorbell);
    }
    order_at<kOrder>(2);
    asm volatile("" ::: "memory");
    s.cycles[round] = clock64() - start;
  }
  s.cycles[kRounds] = seen;
}

template <int kWhat>
__global__ void operate(uint64_t *loaded, uint64_t *stored, uint64_t *cycles) {
  uint64_t sum = 0;
  for (int round = 0; round < kRounds; round++) {
    const long long idle = clock64();
    while (clock64() - idle < 5000) {
    }
    uint64_t value = 0;
    const uint64_t start = clock64();
    asm volatile("" ::: "memory");
    if (kWhat >= 11 && kWhat <= 16) store8(stored, round);
    if (kWhat == 0 || kWhat == 16) asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 1) asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 2) asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 3) asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 4) asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], 1;" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 5) asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], 1;" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 6) asm volatile("atom.acq_rel.sys.global.add.u64 %0, [%1], 1;" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 7 || kWhat == 11) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (kWhat == 8 || kWhat == 12) asm volatile("fence.sc.gpu;" ::: "memory");
    if (kWhat == 9 || kWhat == 13) asm volatile("fence.acq_rel.sys;" ::: "memory");
    if (kWhat == 10 || kWhat == 14 || kWhat == 16) asm volatile("fence.sc.sys;" ::: "memory");
    if (kWhat == kMmioLoad) asm volatile("ld.relaxed.mmio.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(loaded) : "memory");
    if (kWhat == 18) asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(stored), "l"(static_cast<uint64_t>(round)) : "memory");
    if (kWhat == 19) asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(stored), "l"(static_cast<uint64_t>(round)) : "memory");
    sum += value;
    asm volatile("" ::: "memory");
    cycles[round] = clock64() - start + (value == 0x7654321);  // the value is used before the clock is read
  }
  cycles[kRounds] = sum;
}

struct place {
  const char *name;
  char *at;
};

const char *machine;
double cycles_a_nanosecond;
uint64_t *cycles;
char *device;

void print(const place &ring, const place &doorbell, int idle, int batch, const char *what) {
  CHECK(cudaDeviceSynchronize());
  std::vector<uint64_t> all(kRounds);
  CHECK(cudaMemcpy(all.data(), cycles, kRounds * sizeof(uint64_t), cudaMemcpyDeviceToHost));
  std::vector<uint64_t> timed(all.begin() + kWarmUp, all.end());
  std::sort(timed.begin(), timed.end());
  auto at = [&](double share) { return timed[static_cast<size_t>(share * timed.size())] / cycles_a_nanosecond; };
  printf("\"%s\",%s,%s,%s,%d,%d,%s,%.1f,%.1f,%.1f\n", machine, ring.name, ring.name, doorbell.name, idle, batch,
         what, at(0.5), at(0.05), at(0.99));
  fflush(stdout);
}

template <int kOrder = 0>
void posts(const place &ring, const place &doorbell, int idle, int batch) {
  if constexpr (kOrder < ORDERS) {
    post<kOrder><<<1, 1>>>({ring.at, reinterpret_cast<uint32_t *>(ring.at + kRecord),
                            reinterpret_cast<uint64_t *>(doorbell.at + kDoorbell),
                            reinterpret_cast<uint64_t *>(device + kPolled), cycles, idle, batch});
    print(ring, doorbell, idle, batch, kOrders[kOrder]);
    posts<kOrder + 1>(ring, doorbell, idle, batch);
  }
}

template <int kWhat = 0>
void operations(const place &on) {
  if constexpr (kWhat < kOperationCount) {
    if (kWhat != kMmioLoad || strcmp(on.name, "host") == 0) {
      operate<kWhat><<<1, 1>>>(reinterpret_cast<uint64_t *>(on.at + kLoaded), reinterpret_cast<uint64_t *>(on.at + kStored), cycles);
      print({"", nullptr}, on, 5000, 1, kOperations[kWhat]);
    }
    operations<kWhat + 1>(on);
  }
}

char *host_memory(const std::string &kind) {
  char *memory;
  if (kind == "registered") {
    memory = static_cast<char *>(aligned_alloc(2 << 20, 2 << 20));
    memset(memory, 0, kPlaceBytes);
    CHECK(cudaHostRegister(memory, kPlaceBytes, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(reinterpret_cast<void **>(&memory), memory, 0));
    return memory;
  }
  CHECK(cudaHostAlloc(reinterpret_cast<void **>(&memory), kPlaceBytes,
                      kind == "portable" ? cudaHostAllocMapped | cudaHostAllocPortable : cudaHostAllocMapped));
  memset(memory, 0, kPlaceBytes);
  return memory;
}

int main(int count, char **words) {
  bool peer = false;
  std::string kind = "allocated";
  machine = count > 1 ? words[1] : "";
  for (int i = 2; i < count; i++) {
    if (strcmp(words[i], "peer") == 0) peer = true;
    else kind = words[i];
  }
  CHECK(cudaSetDevice(0));
  int kilohertz;
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  cycles_a_nanosecond = kilohertz / 1e6;
  CHECK(cudaMalloc(&cycles, (kRounds + 1) * sizeof(uint64_t)));
  CHECK(cudaMalloc(&device, kPlaceBytes));
  CHECK(cudaMemset(device, 0, kPlaceBytes));
  std::vector<place> places = {{"dev", device}, {"host", host_memory(kind)}};
  if (peer) {
    char *other;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&other, kPlaceBytes));
    CHECK(cudaMemset(other, 0, kPlaceBytes));
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    places.push_back({"peer", other});
  }
  for (size_t ring = 0; ring < 2; ring++) {
    for (const place &doorbell : places) {
      posts(places[ring], doorbell, 0, 1);
      posts(places[ring], doorbell, 10000, 1);
      posts(places[ring], doorbell, 10000, 16);
    }
  }
  for (const place &on : places) operations(on);
}
