// What a wait costs after a rest, piece by piece: a thread posts an 8-byte put by the device library on an exclusive
// queue pair in GPU memory, rests, and waits. The HCA is a thread of another block, which answers at once.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -I../../kernels/include -I../../kernels/src -o waits waits.cu
//   ./waits >> waits.csv
//
// Columns: run, what is timed, nanoseconds of rest before it, cycles p5, p50, p95 of 2,000 rounds (`timer`: nanoseconds of
// %globaltimer). 24 cycles of each are the clock's.
#define DOORBELL_BACK_ENDS
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#include "protocol.cuh"

using namespace doorbell;

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t error = (call);                                                   \
    if (error != cudaSuccess) {                                                         \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error)); \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)

constexpr int kRounds = 2000, kWarmUp = 200;
constexpr uint32_t kBlocks = 1024;
constexpr uint64_t kPatience = 20'000'000'000;

enum what {
  kNothing,
  kQuiet,            // the library's wait
  kQuietTimer,       // the same by %globaltimer, as put_price does it
  kQuietWarmLine,    // a relaxed load of the CQE before it
  kQuietWarmAcquire, // an acquire load of the CQE before it
  kQuietWarmCode,    // a wait of another queue pair before it
  kQuietWarmBoth,    // both
  kAcquire,          // an acquire load of the CQE alone
  kRelaxed,          // a relaxed load of the CQE alone
  kOwnLine,          // an acquire load of a line that nobody writes
  kAcquireStores,    // an acquire load of the CQE and two relaxed stores
  kReduction,        // red.relaxed.gpu.max
  kReleaseReduction, // red.release.gpu.max
  kTwoAcquires,      // of two lines, one after the other
  kAcquireAndOld,    // an acquire load and a weak load of a line that was loaded before
  kCall,             // a function out of line with as many arguments as the library's wait
  kCallAcquire,      // the same with an acquire load of the CQE in it
  kCallAcquireStore, // and with a store to a counter behind it
  kAcquireBranches,  // an acquire load of the CQE, and what the wait asks of it, in line
  kPost,             // the post, before the rest
  kPostWarm,         // the post directly behind another queue pair's
  kMany
};
const char *kNames[] = {"nothing", "quiet", "quiet timer", "quiet, line warm", "quiet, line acquired", "quiet, code warm",
                        "quiet, both warm", "ld.acquire.sys CQE", "ld.relaxed.sys CQE", "ld.acquire.sys own line",
                        "ld.acquire.sys CQE, 2 stores", "red.relaxed", "red.release", "2 x ld.acquire.sys",
                        "ld.acquire.sys CQE, ld of an old line", "call", "call, ld.acquire.sys CQE",
                        "call, ld.acquire.sys CQE, store", "ld.acquire.sys CQE, tested", "post", "post, code warm"};

__device__ __forceinline__ uint64_t clock_now() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

__device__ __noinline__ waited call(const doorbell_qp *qp, doorbell_counters *counters, uint64_t cq_ring,
                                    uint32_t cq_entries, uint32_t load, uint32_t store, uint64_t completed, lone_post last,
                                    uint64_t index) {
  uint32_t word = static_cast<uint32_t>(completed);
  if (load != 0) word = load_acquire_system(reinterpret_cast<const uint32_t *>(cq_ring + 0x3c));
  if (word == 0x12345678) return {static_cast<uint32_t>(index), reinterpret_cast<uint64_t>(qp)};
  if (store != 0) store_relaxed_device(&counters->completed, last.end);
  return {word >> 28, last.entry + cq_entries + last.start};
}

__device__ void answer(const doorbell_qp &qp, const uint32_t *stop) {
  uint64_t *page = reinterpret_cast<uint64_t *>(qp.doorbell);
  uint64_t last = 0;
  const uint64_t began = global_time();
  while (*reinterpret_cast<const volatile uint32_t *>(stop) == 0 && global_time() - began < kPatience) {
    const uint64_t rung = load_acquire_system(page);
    if (rung == last) continue;
    last = rung;
    const uint32_t index = big_endian(static_cast<uint32_t>(rung)) >> 8 & 0xffffu;
    store_release_system(reinterpret_cast<uint32_t *>(qp.cq_ring + 0x3c), big_endian(((index - 1) & 0xffffu) << 16));
  }
}

template <int kWhat>
__global__ void waits(const doorbell_qp *qps, const doorbell_job *jobs, uint64_t rest, uint64_t *samples, uint64_t *dummy,
                      uint32_t *stop, uint32_t *status_out) {
  if (blockIdx.x != 0) {
    answer(qps[blockIdx.x - 1], stop);
    return;
  }
  const doorbell_job job = jobs[0];
  const queue_pair qp(&qps[0]);
  const queue_pair other(&qps[1]);
  const auto list = protocol::request_of(job, DOORBELL_OP_PUT, 0);
  const uint32_t *cqe = reinterpret_cast<const uint32_t *>(qps[0].cq_ring + 0x3c);
  uint32_t status = post<by::thread>(other, list).status;
  if (status == DOORBELL_OK) status = quiet<by::thread>(other);
  uint64_t old = 0;
  for (int round = 0; round < kRounds + kWarmUp && status == DOORBELL_OK; ++round) {
    if (kWhat == kPostWarm) {
      status = post<by::thread>(other, list).status;
      if (status == DOORBELL_OK) status = quiet<by::thread>(other);
    }
    const uint64_t before = clock_now();
    if (status == DOORBELL_OK) status = post<by::thread>(qp, list).status;
    const uint64_t posted = clock_now();
    old += *reinterpret_cast<volatile uint64_t *>(dummy + 64);
    protocol::rest(rest);
    if (kWhat == kQuietWarmLine || kWhat == kQuietWarmBoth) old += load_relaxed_system(cqe);
    if (kWhat == kQuietWarmAcquire || kWhat == kQuietWarmBoth) old += load_acquire_system(cqe);
    if (kWhat == kQuietWarmCode || kWhat == kQuietWarmBoth) status |= quiet<by::thread>(other);
    uint64_t start = kWhat == kQuietTimer ? global_time() : clock_now();
    if (kWhat >= kQuiet && kWhat <= kQuietWarmBoth) status |= quiet<by::thread>(qp);
    if (kWhat == kAcquire || kWhat == kAcquireStores || kWhat == kTwoAcquires || kWhat == kAcquireAndOld) {
      old += load_acquire_system(cqe) & 1;
      if (old == 0x123456789) dummy[200] = old;  // waits for it
    }
    if (kWhat == kRelaxed) {
      old += load_relaxed_system(cqe) & 1;
      if (old == 0x123456789) dummy[200] = old;
    }
    if (kWhat == kOwnLine || kWhat == kTwoAcquires) {
      old += load_acquire_system(dummy + 32) & 1;
      if (old == 0x123456789) dummy[200] = old;
    }
    if (kWhat == kAcquireAndOld) {
      uint64_t word;
      asm volatile("ld.global.b64 %0, [%1];" : "=l"(word) : "l"(dummy + 64) : "memory");
      old += word & 1;
      if (old == 0x123456789) dummy[200] = old;
    }
    if (kWhat == kAcquireStores) {
      store_relaxed_device(dummy + 96, static_cast<uint64_t>(round));
      store_relaxed_device(dummy + 97, static_cast<uint64_t>(round));
    }
    if (kWhat == kCall || kWhat == kCallAcquire || kWhat == kCallAcquireStore) {
      const waited got = call(qps, reinterpret_cast<doorbell_counters *>(dummy + 256), qp.cq_ring, static_cast<uint32_t>(old),
                              kWhat != kCall, kWhat == kCallAcquireStore, old, {old, old + 1, old + 2}, old + 3);
      old += got.entry & 1;
      if (old == 0x123456789 + got.status) dummy[200] = old;
    }
    if (kWhat == kAcquireBranches) {
      const cqe_tail tail = read_cqe_tail(qp.cq_ring);
      if (tail.opcode() != kCqeInvalid && has_passed(tail, old)) store_relaxed_device(dummy + 96, old);
    }
    if (kWhat == kReduction) raise_relaxed_device(dummy + 128, static_cast<uint64_t>(round));
    if (kWhat == kReleaseReduction) raise_release_device(dummy + 128, static_cast<uint64_t>(round));
    const uint64_t end = kWhat == kQuietTimer ? global_time() : clock_now();
    if (status == DOORBELL_OK) status = quiet<by::thread>(qp);
    if (round >= kWarmUp) {
      samples[round - kWarmUp] = kWhat == kPost || kWhat == kPostWarm ? posted - before : end - start;
    }
  }
  dummy[210] = old;
  *status_out = status;
  *reinterpret_cast<volatile uint32_t *>(stop) = 1;
}

struct world {
  char *rings;
  doorbell_qp *qps;
  doorbell_job *job;
  uint64_t *samples, *dummy;
  uint32_t *stop, *status;
  char *counters;
};

template <int kWhat>
void run(world &w, int run_number, uint64_t rest) {
  if constexpr (kWhat < kMany) {
    CHECK(cudaMemset(w.counters, 0, 2 * 8192));
    CHECK(cudaMemset(w.rings, 0, 2 << 20));
    for (int i = 0; i < 2; i++) CHECK(cudaMemset(w.rings + (i << 20) + (1 << 18), 0xf0, 64));
    CHECK(cudaMemset(w.stop, 0, 8));
    waits<kWhat><<<3, 1>>>(w.qps, w.job, rest, w.samples, w.dummy, w.stop, w.status);
    CHECK(cudaDeviceSynchronize());
    std::vector<uint64_t> s(kRounds);
    uint32_t status;
    CHECK(cudaMemcpy(s.data(), w.samples, kRounds * 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&status, w.status, 4, cudaMemcpyDeviceToHost));
    if (status != 0) {
      fprintf(stderr, "%s ended with status %u\n", kNames[kWhat], status);
      exit(1);
    }
    std::sort(s.begin(), s.end());
    printf("%d,\"%s\",%llu,%llu,%llu,%llu\n", run_number, kNames[kWhat], static_cast<unsigned long long>(rest),
           static_cast<unsigned long long>(s[kRounds / 20]), static_cast<unsigned long long>(s[kRounds / 2]),
           static_cast<unsigned long long>(s[kRounds * 19 / 20]));
    run<kWhat + 1>(w, run_number, rest);
  }
}

int main() {
  world w{};
  CHECK(cudaMalloc(&w.rings, 2 << 20));
  CHECK(cudaMalloc(&w.counters, 2 * 8192));
  CHECK(cudaMalloc(&w.qps, 2 * sizeof(doorbell_qp)));
  CHECK(cudaMalloc(&w.job, sizeof(doorbell_job)));
  CHECK(cudaMalloc(&w.samples, kRounds * 8));
  CHECK(cudaMalloc(&w.dummy, 8192));
  CHECK(cudaMalloc(&w.stop, 64));
  CHECK(cudaMalloc(&w.status, 64));
  CHECK(cudaMemset(w.dummy, 0, 8192));
  doorbell_qp qps[2]{};
  for (int i = 0; i < 2; i++) {
    const uint64_t base = reinterpret_cast<uint64_t>(w.rings) + (static_cast<uint64_t>(i) << 20);
    qps[i].sq_ring = base;
    qps[i].cq_ring = base + (1 << 18);
    qps[i].sq_record = base + (1 << 18) + 4096;
    qps[i].doorbell = base + (1 << 18) + 8192;
    qps[i].counters = reinterpret_cast<uint64_t>(w.counters) + i * 8192;
    qps[i].error = base + (1 << 18) + 12288;
    qps[i].deadline_ns = 1'000'000'000;
    qps[i].sq_blocks = kBlocks;
    qps[i].cq_entries = kBlocks;
    qps[i].qpn = 0x100 + i;
    qps[i].flags = DOORBELL_QP_CQ_COLLAPSED | DOORBELL_QP_EXCLUSIVE;
  }
  CHECK(cudaMemcpy(w.qps, qps, sizeof qps, cudaMemcpyHostToDevice));
  doorbell_job job{};
  job.local = qps[0].sq_ring + (1 << 19);
  job.remote = 0x7000000000;
  job.bytes = 8;
  job.local_key = 0x112233;
  job.remote_key = 0x445566;
  CHECK(cudaMemcpy(w.job, &job, sizeof job, cudaMemcpyHostToDevice));
  printf("run,what,rest_ns,p5,p50,p95\n");
  for (int i = 1; i <= 2; i++) {
    for (uint64_t rest : {1'500ull, 15'000ull}) run<kNothing>(w, i, rest);
  }
}
