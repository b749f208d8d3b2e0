// two_gpus: one GPU as the HCA of another. See README.md.
//
//   pull  GPU 0 runs put_bandwidth or put_price: it writes WQEs to a ring in its own memory and stores
//         the doorbell into GPU 1's. A persistent kernel there polls, reads WQEs and payload from GPU
//         0's memory, and writes the CQE into it.
//   push  GPU 0 runs push_ring: it stores payload and header into a ring in GPU 1's memory, and the
//         doorbell. The kernel there takes the payload out of the ring and writes credits into GPU 0's
//         memory.
//
// Either way a message has arrived when it lies in its place in GPU 1's memory; all of it is compared
// there after each run.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cuda/atomic>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "doorbell/abi.h"
#include "doorbell/push_abi.h"

namespace {

constexpr uint64_t kDeadline = 4'000'000'000ull;  // nanoseconds: of every wait in a kernel
constexpr uint32_t kNicThreads = 512;
constexpr uint32_t kRound = 32;  // messages that the HCA takes at a time
constexpr uint32_t kDepth = 256;
constexpr uint32_t kEntries = 16;
constexpr uint32_t kMaxRings = 16;
constexpr uint64_t kMostBytes = 256 << 20;  // of all messages of a run

void check(cudaError_t result, const char *what) {
  if (result != cudaSuccess) {
    fprintf(stderr, "two_gpus: %s: %s\n", what, cudaGetErrorString(result));
    _exit(1);
  }
}

struct nic_ring {
  uint64_t ring;      // pull: WQEs in GPU 0; push: headers in GPU 1
  uint64_t payload;   // push: slots in GPU 1
  uint64_t doorbell;  // in GPU 1
  uint64_t answer;    // pull: the CQE; push: the credit; in GPU 0
  uint64_t local, remote, area;
  uint32_t entries, slot_bytes, qpn;
  uint32_t fault;     // the line that refused, or 0
  uint64_t messages;
};

__device__ __forceinline__ uint32_t swap32(uint32_t value) { return __byte_perm(value, 0, 0x0123); }

__device__ __forceinline__ uint64_t swap64(uint32_t high, uint32_t low) {
  return static_cast<uint64_t>(swap32(high)) << 32 | swap32(low);
}

__device__ __forceinline__ uint64_t nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

struct message {
  uint64_t from, to;
  uint32_t bytes, fault, signaled;
};

__device__ message read_wqe(const nic_ring &ring, uint64_t index) {
  const uint4 *wqe =
      reinterpret_cast<const uint4 *>(ring.ring + (index & (ring.entries - 1)) * 64);
  const uint4 control = __ldcv(wqe), address = __ldcv(wqe + 1), data = __ldcv(wqe + 2);
  message out{swap64(data.z, data.w), swap64(address.x, address.y), swap32(data.x), 0,
              control.z != 0};
  if (swap32(control.x) != ((static_cast<uint32_t>(index) & 0xffffu) << 8 | 0x08u)) {
    out.fault = __LINE__;
  } else if (swap32(control.y) != (ring.qpn << 8 | 3u)) {
    out.fault = __LINE__;
  }
  return out;
}

__device__ message read_header(const nic_ring &ring, uint64_t index) {
  const uint4 *words = reinterpret_cast<const uint4 *>(
      ring.ring + (index & (ring.entries - 1)) * sizeof(doorbell_push_header));
  const uint4 first = __ldcv(words), second = __ldcv(words + 1), third = __ldcv(words + 2);
  const uint32_t sum = first.x + first.y + first.z + first.w + second.x + second.y + second.z +
                       second.w + third.x + third.y + third.z + 1;
  message out{ring.payload + (index & (ring.entries - 1)) * ring.slot_bytes,
              static_cast<uint64_t>(second.y) << 32 | second.x, second.z, 0, 1};
  if (first.x != static_cast<uint32_t>(index) || third.w != sum) {
    out.fault = __LINE__;
  } else if ((third.y & DOORBELL_PUSH_STAGED) == 0) {
    out.fault = __LINE__;
  }
  return out;
}

// One block answers one ring. All messages of a round have the same size.
template <bool kPull>
__global__ void __launch_bounds__(kNicThreads)
    nic(nic_ring *rings, const uint32_t *stop, uint64_t patience) {
  __shared__ message messages[kRound];
  __shared__ uint64_t rung;
  __shared__ uint32_t fault, ends;
  const nic_ring ring = rings[blockIdx.x];
  uint64_t head = 0;
  const uint64_t started = nanoseconds();
  for (uint32_t looks = 0;; ++looks) {
    if (threadIdx.x == 0) {
      const uint64_t value = cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(
                                 *reinterpret_cast<uint64_t *>(ring.doorbell))
                                 .load(cuda::memory_order_acquire);
      if (kPull) {
        const uint32_t index = swap32(static_cast<uint32_t>(value)) >> 8 & 0xffffu;
        rung = value == 0 ? head : head + ((index - static_cast<uint32_t>(head)) & 0xffffu);
      } else {
        rung = value;
      }
      fault = rung - head > ring.entries ? __LINE__ : 0;
      ends = 0;
      if (rung == head && (looks & 255u) == 0) {
        ends = *reinterpret_cast<const volatile uint32_t *>(stop) != 0 ||
               nanoseconds() - started > patience;
      }
    }
    __syncthreads();
    const uint64_t news = rung - head;
    if (ends != 0 || fault != 0) {
      break;
    }
    for (uint64_t done = 0; done < news; done += kRound) {
      const uint32_t here = static_cast<uint32_t>(news - done < kRound ? news - done : kRound);
      if (threadIdx.x < here) {
        const message mine = kPull ? read_wqe(ring, head + threadIdx.x)
                                   : read_header(ring, head + threadIdx.x);
        messages[threadIdx.x] = mine;
        if (mine.fault != 0 || mine.to - ring.remote > ring.area - mine.bytes ||
            (kPull && mine.from - ring.local > ring.area - mine.bytes)) {
          fault = mine.fault != 0 ? mine.fault : __LINE__;
        }
      }
      __syncthreads();
      if (fault != 0) {
        break;
      }
      const uint32_t units = messages[0].bytes / 16;
      const uint64_t all = static_cast<uint64_t>(units) * here;
      constexpr uint32_t kAhead = 4;
      for (uint64_t at = threadIdx.x; at < all; at += kAhead * kNicThreads) {
        uint4 values[kAhead];
        uint4 *targets[kAhead];
#pragma unroll
        for (uint32_t i = 0; i < kAhead; ++i) {
          const uint64_t unit = at + i * kNicThreads;
          if (unit < all) {
            const message &of = messages[unit / units];
            const uint64_t offset = unit % units * 16;
            values[i] = __ldcv(reinterpret_cast<const uint4 *>(of.from + offset));
            targets[i] = reinterpret_cast<uint4 *>(of.to + offset);
          }
        }
#pragma unroll
        for (uint32_t i = 0; i < kAhead; ++i) {
          if (at + i * kNicThreads < all) {
            *targets[i] = values[i];
          }
        }
      }
      __syncthreads();  // every thread's part before the answer
      head += here;
      if (threadIdx.x == 0) {
        cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
        if (kPull) {
          for (uint32_t i = here; i > 0; --i) {
            if (messages[i - 1].signaled != 0) {
              const uint32_t counter = static_cast<uint32_t>(head - here + i - 1) & 0xffffu;
              cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(
                  *reinterpret_cast<uint32_t *>(ring.answer + 0x3c))
                  .store(swap32(counter << 16), cuda::memory_order_release);
              break;
            }
          }
        } else {
          auto *credit = reinterpret_cast<doorbell_push_credit *>(ring.answer);
          cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(credit->released)
              .store(head, cuda::memory_order_release);
          cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(credit->acknowledged)
              .store(head, cuda::memory_order_release);
        }
      }
      __syncthreads();  // before messages are written again
    }
    if (fault != 0) {
      break;
    }
    __syncthreads();  // before rung is written again
  }
  if (threadIdx.x == 0) {
    rings[blockIdx.x].fault = fault;
    rings[blockIdx.x].messages = head;
  }
}

uint64_t allocate(int device, uint64_t bytes) {
  void *pointer;
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaMalloc(&pointer, bytes), "cudaMalloc");
  check(cudaMemset(pointer, 0, bytes), "cudaMemset");
  return reinterpret_cast<uint64_t>(pointer);
}

void *at(uint64_t address) { return reinterpret_cast<void *>(address); }

cudaKernel_t load(const std::string &directory, const char *name) {
  std::ifstream file(directory + "/" + name + ".ptx");
  std::stringstream ptx;
  ptx << file.rdbuf();
  cudaLibrary_t library;
  cudaKernel_t kernel;
  check(cudaLibraryLoadData(&library, ptx.str().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        name);
  check(cudaLibraryGetKernel(&kernel, library, name), name);
  return kernel;
}

struct outcome {
  double nanoseconds = 0;  // from the first post to the last quiet
  std::vector<uint64_t> samples;
};

class rig {
 public:
  explicit rig(const std::string &ptx) {
    int there = 0, back = 0;
    check(cudaDeviceCanAccessPeer(&there, 0, 1), "cudaDeviceCanAccessPeer");
    check(cudaDeviceCanAccessPeer(&back, 1, 0), "cudaDeviceCanAccessPeer");
    if (there == 0 || back == 0) {
      fprintf(stderr, "two_gpus: the GPUs cannot reach each other's memory\n");
      _exit(1);
    }
    for (int device = 0; device < 2; ++device) {
      check(cudaSetDevice(device), "cudaSetDevice");
      check(cudaDeviceEnablePeerAccess(1 - device, 0), "cudaDeviceEnablePeerAccess");
      check(cudaStreamCreateWithFlags(&streams_[device], cudaStreamNonBlocking), "cudaStream");
      cudaDeviceProp properties;
      check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
      printf("# GPU %d: %s\n", device, properties.name);
    }
    check(cudaSetDevice(0), "cudaSetDevice");
    bandwidth_ = load(ptx, "put_bandwidth");
    price_ = load(ptx, "put_price");
    push_ = load(ptx, "push_ring");
    local_ = allocate(0, kMostBytes);
    remote_ = allocate(1, kMostBytes);
    wqes_ = allocate(0, kMaxRings * kDepth * 64);
    cqes_ = allocate(0, kMaxRings * 128);
    records_ = allocate(0, kMaxRings * 128);
    counters_ = allocate(0, kMaxRings * kCounters);
    views_ = allocate(0, 1 << 16);
    job_ = allocate(0, sizeof(doorbell_job));
    status_ = allocate(0, 1 << 20);
    samples_ = allocate(0, 1 << 20);
    stamps_ = allocate(0, 16);
    doorbells_ = allocate(1, kMaxRings * 128);
    headers_ = allocate(1, kMaxRings * kEntries * sizeof(doorbell_push_header));
    slots_ = allocate(1, uint64_t{kMaxRings} * kEntries << 20);
    push_records_ = allocate(1, kMaxRings * 128);
    nics_ = allocate(1, kMaxRings * sizeof(nic_ring));
    check(cudaHostAlloc(&errors_, kMaxRings * sizeof(doorbell_error), cudaHostAllocPortable),
          "cudaHostAlloc");
    check(cudaHostAlloc(&stop_, 64, cudaHostAllocPortable), "cudaHostAlloc");
  }

  // `messages` of each ring. `timed`: one at a time, each of them timed (pull alone).
  outcome run(bool pull, bool timed, uint32_t rings, uint32_t bytes, uint64_t messages,
              uint32_t window, uint64_t seed) {
    const uint64_t distinct = pull ? rings : rings * messages;
    std::vector<uint64_t> payload(distinct * bytes / 8), arrived(payload.size());
    std::mt19937_64 random(seed);
    std::generate(payload.begin(), payload.end(), random);
    const uint64_t area = payload.size() * 8;
    if (area > kMostBytes) {
      fail("messages", "too many for the memory");
    }
    copy(local_, payload.data(), area);
    check(cudaMemset(at(remote_), 0, area), "cudaMemset");
    clear(doorbells_, kMaxRings * 128);
    clear(headers_, kMaxRings * kEntries * sizeof(doorbell_push_header));
    clear(counters_, kMaxRings * kCounters);
    clear(stamps_, 16);
    check(cudaMemset(at(cqes_), 0xff, kMaxRings * 128), "cudaMemset");
    check(cudaMemset(at(status_), 0xee, 1 << 20), "cudaMemset");
    memset(errors_, 0, kMaxRings * sizeof(doorbell_error));

    const uint64_t warmup = pull ? messages / 4 : 0;
    doorbell_job job = {};
    job.local = local_;
    job.remote = remote_;
    job.bytes = bytes;
    job.stride = bytes;
    job.iterations = messages;
    job.warmup = warmup;
    job.status = status_;
    job.stamps = stamps_;
    job.samples = timed ? samples_ : 0;
    job.window = window;
    job.qp_count = rings;
    job.staging = pull ? 0 : views_;
    copy(job_, &job, sizeof job);
    std::vector<nic_ring> answers(rings);
    pull ? describe_pull(rings, area, answers) : describe_push(rings, bytes, window, area, answers);
    copy(nics_, answers.data(), rings * sizeof(nic_ring));
    *stop_ = 0;
    for (int device = 0; device < 2; ++device) {
      check(cudaSetDevice(device), "cudaSetDevice");
      check(cudaDeviceSynchronize(), "preparing");
    }
    const uint64_t patience = 15'000'000'000ull;
    auto *nics = static_cast<nic_ring *>(at(nics_));
    if (pull) {
      nic<true><<<rings, kNicThreads, 0, streams_[1]>>>(nics, stop_, patience);
    } else {
      nic<false><<<rings, kNicThreads, 0, streams_[1]>>>(nics, stop_, patience);
    }
    check(cudaGetLastError(), "launching the HCA");
    check(cudaSetDevice(0), "cudaSetDevice");
    uint64_t views = views_, address = job_;
    void *arguments[] = {&views, &address};
    const cudaKernel_t kernel = !pull ? push_ : timed ? price_ : bandwidth_;
    const uint32_t threads = pull ? 1 : bytes >= 8192 ? 512 : std::max(32u, bytes / 16);
    check(cudaLaunchKernel(reinterpret_cast<const void *>(kernel), rings, threads, arguments, 0,
                           streams_[0]),
          "launch");
    const auto start = std::chrono::steady_clock::now();
    while (cudaStreamQuery(streams_[0]) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) {
        fail("the kernel", "did not end");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    check(cudaStreamSynchronize(streams_[0]), "the kernel");
    *stop_ = 1;
    check(cudaStreamSynchronize(streams_[1]), "the HCA");

    check(cudaMemcpy(answers.data(), at(nics_), rings * sizeof(nic_ring), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (uint32_t i = 0; i < rings; ++i) {
      if (answers[i].fault != 0) {
        fail("the HCA refused, line", std::to_string(answers[i].fault).c_str());
      }
      if (answers[i].messages != messages + warmup) {
        fail("messages of a ring", std::to_string(answers[i].messages).c_str());
      }
    }
    std::vector<uint32_t> status(rings * threads);
    check(cudaMemcpy(status.data(), at(status_), status.size() * 4, cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (uint32_t word : status) {
      if (word != DOORBELL_OK) {
        fail("a thread ended with", std::to_string(word).c_str());
      }
    }
    check(cudaMemcpy(arrived.data(), at(remote_), area, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (arrived != payload) {
      fail("payload", "differs");
    }
    outcome out;
    uint64_t stamps[2];
    check(cudaMemcpy(stamps, at(stamps_), sizeof stamps, cudaMemcpyDeviceToHost), "cudaMemcpy");
    out.nanoseconds = static_cast<double>(stamps[1] - stamps[0]);
    if (timed) {
      out.samples.resize(messages);
      check(cudaMemcpy(out.samples.data(), at(samples_ + 8 * messages), 8 * messages,
                       cudaMemcpyDeviceToHost),
            "cudaMemcpy");
    }
    return out;
  }

 private:
  static constexpr uint64_t kCounters = sizeof(doorbell_counters) + 8 * kDepth;

  [[noreturn]] static void fail(const char *what, const char *how) {
    fprintf(stderr, "two_gpus: %s %s\n", what, how);
    _exit(1);
  }

  static void copy(uint64_t to, const void *from, uint64_t bytes) {
    check(cudaMemcpy(at(to), from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  }

  static void clear(uint64_t address, uint64_t bytes) {
    check(cudaMemset(at(address), 0, bytes), "cudaMemset");
  }

  void describe_pull(uint32_t rings, uint64_t area, std::vector<nic_ring> &answers) {
    std::vector<doorbell_qp> views(rings);
    for (uint32_t i = 0; i < rings; ++i) {
      doorbell_qp &view = views[i];
      view = {};
      view.sq_ring = wqes_ + uint64_t{i} * kDepth * 64;
      view.sq_record = records_ + i * 128 + 4;
      view.doorbell = doorbells_ + i * 128;
      view.cq_ring = cqes_ + i * 128;
      view.cq_record = records_ + i * 128 + 64;
      view.counters = counters_ + i * kCounters;
      view.error = reinterpret_cast<uint64_t>(errors_ + i);
      view.deadline_ns = kDeadline;
      view.sq_blocks = kDepth;
      view.cq_entries = 1;
      view.qpn = 0x100 + i;
      // The HCA reads WQEs from another GPU's memory: what it has to see leaves this GPU.
      view.flags = DOORBELL_QP_CQ_COLLAPSED | DOORBELL_QP_EXCLUSIVE | DOORBELL_QP_SCOPE_SYSTEM;
      view.batch = 1;
      view.number = i;
      answers[i] = {view.sq_ring, 0, view.doorbell, view.cq_ring, local_, remote_, area,
                    kDepth,       0, view.qpn,      0,            0};
    }
    copy(views_, views.data(), views.size() * sizeof(doorbell_qp));
  }

  void describe_push(uint32_t rings, uint32_t bytes, uint32_t window, uint64_t area,
                     std::vector<nic_ring> &answers) {
    std::vector<doorbell_push_ring> views(rings);
    for (uint32_t i = 0; i < rings; ++i) {
      doorbell_push_ring &view = views[i];
      view = {};
      view.headers = headers_ + i * kEntries * sizeof(doorbell_push_header);
      view.payload = slots_ + (uint64_t{i} * kEntries << 20);
      view.record = push_records_ + i * 128;
      view.doorbell = doorbells_ + i * 128;
      view.credit = cqes_ + i * 128;
      view.counters = counters_ + i * kCounters;
      view.deadline_ns = kDeadline;
      view.entries = window;
      view.slots = window;
      view.slot_bytes = bytes;
      view.batch = 1;
      view.destinations = 1;
      answers[i] = {view.headers, view.payload, view.doorbell, view.credit, local_, remote_, area,
                    view.entries, view.slot_bytes, 0,          0,           0};
    }
    clear(cqes_, kMaxRings * 128);
    copy(views_, views.data(), views.size() * sizeof(doorbell_push_ring));
  }

  cudaStream_t streams_[2];
  cudaKernel_t bandwidth_, price_, push_;
  uint64_t local_, remote_, wqes_, cqes_, records_, counters_, views_, job_, status_, samples_,
      stamps_, doorbells_, headers_, slots_, push_records_, nics_;
  doorbell_error *errors_;
  uint32_t *stop_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

uint64_t messages_of(uint32_t rings, uint32_t bytes) {
  return std::min<uint64_t>(4000, kMostBytes / (static_cast<uint64_t>(rings) * bytes));
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: two_gpus PTX_DIRECTORY RUNS CSV\n");
    return 2;
  }
  const int runs = atoi(arguments[2]);
  FILE *csv = fopen(arguments[3], "w");
  if (csv == nullptr || runs < 1) {
    fprintf(stderr, "two_gpus: cannot write %s, or no runs\n", arguments[3]);
    return 2;
  }
  rig bench(arguments[1]);
  fprintf(csv, "metric,way,rings,bytes,window,run,value,unit\n");
  uint64_t seed = 1;
  for (uint32_t bytes : {16u, 256u, 4096u, 65536u, 1048576u}) {
    for (uint32_t rings : {1u, 4u, 16u}) {
      for (bool pull : {true, false}) {
        std::vector<double> values;
        const uint64_t messages = messages_of(rings, bytes);
        for (int run = -1; run < runs; ++run) {
          const outcome out = bench.run(pull, false, rings, bytes, messages, kEntries, seed++);
          const double value = static_cast<double>(rings) * messages * bytes / out.nanoseconds;
          if (run >= 0) {
            values.push_back(value);
            fprintf(csv, "goodput,%s,%u,%u,%u,%d,%.6g,GB/s\n", pull ? "pull" : "push", rings,
                    bytes, kEntries, run, value);
          }
        }
        printf("goodput %s %2u rings %7u B  %9.4f GB/s  [%.4f, %.4f]\n", pull ? "pull" : "push",
               rings, bytes, median(values), *std::min_element(values.begin(), values.end()),
               *std::max_element(values.begin(), values.end()));
      }
    }
  }
  // One message at a time, the whole way there and back: put and quiet; a ring of one slot.
  for (uint32_t bytes : {16u, 256u, 4096u, 65536u, 1048576u}) {
    const uint64_t messages = std::min<uint64_t>(2000, messages_of(1, bytes));
    for (bool pull : {true, false}) {
      std::vector<double> values;
      for (int run = -1; run < runs; ++run) {
        const outcome out = bench.run(pull, pull, 1, bytes, messages, 1, seed++);
        double value = out.nanoseconds / messages;
        if (pull) {
          std::vector<uint64_t> sorted = out.samples;
          std::sort(sorted.begin(), sorted.end());
          value = static_cast<double>(sorted[sorted.size() / 2]);
          if (run >= 0) {
            fprintf(csv, "latency.p99,pull,1,%u,1,%d,%llu,ns\n", bytes, run,
                    static_cast<unsigned long long>(sorted[sorted.size() * 99 / 100]));
          }
        }
        if (run >= 0) {
          values.push_back(value);
          fprintf(csv, "latency,%s,1,%u,1,%d,%.6g,ns\n", pull ? "pull" : "push", bytes, run, value);
        }
      }
      printf("latency %s %7u B  %9.0f ns  [%.0f, %.0f]\n", pull ? "pull" : "push", bytes,
             median(values), *std::min_element(values.begin(), values.end()),
             *std::max_element(values.begin(), values.end()));
    }
  }
  fclose(csv);
  return 0;
}
