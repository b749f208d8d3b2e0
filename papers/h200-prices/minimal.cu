// What put_minimal costs a GPU alone: the kernel as it is, on a queue pair that no HCA reads. The doorbell is a word
// of memory, and the completion ring holds valid CQEs from the beginning, so that no time but the GPU's passes.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -I../../kernels/include -I../../kernels/src -o minimal minimal.cu
//   ./minimal MACHINE >> minimal.csv
//
// Columns: machine, memory of rings and doorbell, order, sharing, scope, WQEs of a doorbell, which have a CQE (and, behind
// colons, `each`: each CQE is looked at; `registers`: the state of the queue pair lies there; `keys`: keys are loaded from
// memory), bytes inline (0: by pointer), what, nanoseconds. `post` and `look` are means of 2,000 samples of one thread by %globaltimer;
// `put` is the time of 2,000 doorbells over their WQEs, median of 7 launches; `timer` is one read of %globaltimer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#include "put_minimal.cu"

#define CHECK(call)                                                                   \
  do {                                                                                \
    const cudaError_t error = (call);                                                 \
    if (error != cudaSuccess) {                                                       \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error)); \
      exit(1);                                                                        \
    }                                                                                 \
  } while (0)

constexpr int kDoorbells = 2000, kWarmUp = 200, kLaunches = 7;
constexpr uint32_t kRing = 1024, kCompletions = 1u << 18;
const char *kOrders[] = {"none",           "fence",  "fence-sc",  "fenced-record", "release",
                         "release-system", "system", "no-record", "twice"};
const char *kSharings[] = {"own", "lock", "turns", "marks"};
enum { EACH = 1 << 17, REGISTERS = 1 << 18, KEYS = 1 << 30 };

// CQEs of WQEs of one block: entry n is that of WQE (n + 1) * apart - 1.
__global__ void complete(char *ring, uint32_t apart) {
  const uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t index = (n + 1) * apart - 1;
  *reinterpret_cast<uint32_t *>(ring + n * 64ull + 0x3c) = (index & 0xff) << 8 | (index >> 8 & 0xff);
}

__global__ void timers(uint64_t *out) {
  const uint64_t start = global_time();
  uint64_t sum = 0;
  for (int i = 0; i < 10000; i++) sum += global_time();
  out[0] = global_time() - start;
  const uint64_t again = global_time();
  for (int i = 0; i < 10000; i++) {
    uint64_t now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    sum += now;
  }
  out[1] = global_time() - again;
  out[2] = sum;
}

struct world {
  char *memory, *completions, *counters, *payload, *keys;
  doorbell_qp *qp;
  doorbell_job *job;
  uint64_t *samples, *stamps, *status;
};

char *allocate(bool host, size_t bytes) {
  void *at;
  if (host) {
    CHECK(cudaHostAlloc(&at, bytes, cudaHostAllocMapped));
    memset(at, 0, bytes);
  } else {
    CHECK(cudaMalloc(&at, bytes));
    CHECK(cudaMemset(at, 0, bytes));
  }
  return static_cast<char *>(at);
}

void launch(world &w, int threads, doorbell_job job, uint64_t *samples, uint64_t *stamps) {
  CHECK(cudaMemset(w.counters, 0, sizeof(doorbell_counters) + kRing * 8));
  CHECK(cudaMemset(w.stamps, 0, 16));
  CHECK(cudaMemcpy(w.job, &job, sizeof job, cudaMemcpyHostToDevice));
  put_minimal<<<1, threads>>>(w.qp, w.job);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(samples, w.samples, 3 * kDoorbells * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(stamps, w.stamps, 16, cudaMemcpyDeviceToHost));
  uint32_t status[32];
  CHECK(cudaMemcpy(status, w.status, threads * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < threads; i++) {
    if (status[i] != 0) {
      fprintf(stderr, "thread %d ended with status %u\n", i, status[i]);
      exit(1);
    }
  }
}

int main(int count, char **arguments) {
  const char *machine = count > 1 ? arguments[1] : "H200";
  uint64_t *out;
  CHECK(cudaMalloc(&out, 64));
  uint64_t times[3];
  for (int i = 0; i < 2; i++) {
    timers<<<1, 1>>>(out);
    CHECK(cudaMemcpy(times, out, 24, cudaMemcpyDeviceToHost));
  }
  printf("%s,,,,,,,,timer globaltimer,%.2f\n", machine, times[0] / 10000.0);
  printf("%s,,,,,,,,timer clock64,%.2f\n", machine, times[1] / 10000.0);
  for (int host = 0; host < 2; host++) {
    world w;
    w.memory = allocate(host, kRing * 64 + 8192);
    w.completions = allocate(host, static_cast<size_t>(kCompletions) * 64);
    w.counters = allocate(false, sizeof(doorbell_counters) + kRing * 8);
    w.payload = allocate(host, 4096);
    w.keys = allocate(false, 8);
    w.samples = reinterpret_cast<uint64_t *>(allocate(false, 3 * kDoorbells * 8));
    w.stamps = reinterpret_cast<uint64_t *>(allocate(false, 16));
    w.status = reinterpret_cast<uint64_t *>(allocate(false, 4096));
    w.qp = reinterpret_cast<doorbell_qp *>(allocate(false, sizeof(doorbell_qp)));
    w.job = reinterpret_cast<doorbell_job *>(allocate(false, sizeof(doorbell_job)));
    doorbell_qp qp{};
    qp.sq_ring = reinterpret_cast<uint64_t>(w.memory);
    qp.sq_record = qp.sq_ring + kRing * 64 + 4;
    qp.doorbell = qp.sq_ring + kRing * 64 + 4096;
    qp.cq_ring = reinterpret_cast<uint64_t>(w.completions);
    qp.counters = reinterpret_cast<uint64_t>(w.counters);
    qp.deadline_ns = 1000000000;
    qp.sq_blocks = kRing;
    qp.cq_entries = kCompletions;
    qp.qpn = 0x123;
    CHECK(cudaMemcpy(w.qp, &qp, sizeof qp, cudaMemcpyHostToDevice));
    const auto measure = [&](int order, int sharing, bool warp, int batch, bool last, int bytes, bool timed, int more = 0) {
      doorbell_job job{};
      job.local = reinterpret_cast<uint64_t>(w.payload);
      job.remote = 0x7000000000;
      job.bytes = bytes == 0 ? 8 : bytes;
      job.opcode = bytes == 0 ? DOORBELL_OP_PUT : DOORBELL_OP_PUT_INLINE;
      job.iterations = kDoorbells;
      job.warmup = kWarmUp;
      job.qp_count = 1;
      job.scope = warp ? DOORBELL_SCOPE_WARP : DOORBELL_SCOPE_THREAD;
      job.operand = order | sharing << 8 | (last ? 1 << 16 : 0) | (more & (EACH | REGISTERS));
      job.staging = (more & KEYS) != 0 ? reinterpret_cast<uint64_t>(w.keys) : 0;
      job.compare = warp ? 32 : batch;
      job.window = timed ? 1 : 16;
      job.status = reinterpret_cast<uint64_t>(w.status);
      job.samples = timed ? reinterpret_cast<uint64_t>(w.samples) : 0;
      job.stamps = reinterpret_cast<uint64_t>(w.stamps);
      complete<<<kCompletions / 256, 256>>>(w.completions, last ? job.compare : 1);
      std::vector<uint64_t> samples(3 * kDoorbells);
      std::vector<double> puts;
      uint64_t stamps[2];
      const int launches = timed ? 2 : kLaunches;
      for (int i = 0; i < launches; i++) {
        launch(w, warp ? 32 : 1, job, samples.data(), stamps);
        puts.push_back(static_cast<double>(stamps[1] - stamps[0]) / kDoorbells / job.compare);
      }
      char setup[200];
      snprintf(setup, sizeof setup, "%s,%s,%s,%s,%s,%llu,%s%s%s%s,%d", machine, host ? "host" : "gpu", kOrders[order],
               kSharings[sharing], warp ? "warp" : "thread", static_cast<unsigned long long>(job.compare),
               last ? "last" : "all",
               (more & EACH) != 0 ? ":each" : "", (more & REGISTERS) != 0 ? ":registers" : "",
               (more & KEYS) != 0 ? ":keys" : "", bytes);
      if (timed) {
        const char *names[] = {"post", "done", "look"};
        for (int what = 0; what < 3; what++) {
          double sum = 0;
          for (int i = 0; i < kDoorbells; i++) sum += samples[what * kDoorbells + i];
          printf("%s,%s,%.1f\n", setup, names[what], sum / kDoorbells);
        }
      } else {
        std::sort(puts.begin(), puts.end());
        printf("%s,put,%.2f\n", setup, puts[puts.size() / 2]);
      }
    };
    for (int order = 0; order < 9; order++) {
      measure(order, 0, false, 1, false, 8, true);
      measure(order, 0, false, 1, false, 8, false);
    }
    for (int bytes : {0, 24, 40, 56, 72}) measure(1, 0, false, 1, false, bytes, true);
    for (int bytes : {0, 24, 40, 56, 72}) measure(0, 0, false, 1, false, bytes, true);
    for (int batch : {2, 4, 8, 16, 32}) {
      for (int last = 0; last < 2; last++) {
        measure(1, 0, false, batch, last, 8, false);
        measure(0, 0, false, batch, last, 8, false);
      }
    }
    for (int sharing = 0; sharing < 4; sharing++) {
      measure(1, sharing, false, 1, false, 8, true);
      measure(1, sharing, false, 1, false, 8, false);
      for (int last = 0; last < 2; last++) measure(1, sharing, true, 32, last, 8, false);
    }
    for (int order : {0, 1, 6, 7}) {
      measure(order, 0, false, 1, false, 8, true, REGISTERS);
      measure(order, 0, false, 1, false, 0, true, REGISTERS);
    }
    for (int batch : {1, 2, 4, 8, 16, 32}) {
      measure(1, 0, false, batch, false, 8, false, EACH);
      measure(1, 0, false, batch, false, 8, false, EACH | REGISTERS);
    }
    measure(1, 0, true, 32, false, 8, false, EACH);
    measure(1, 2, true, 32, false, 8, false, EACH);
    for (int order : {0, 1, 8}) measure(order, 0, false, 1, false, 0, true, KEYS);
    for (int order : {1, 8}) measure(order, 3, false, 1, false, 0, true, KEYS);
    fflush(stdout);
  }
  return 0;
}
