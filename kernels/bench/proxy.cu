// proxy: what it costs to hand a put to a CPU thread, how fast one posts, and whom bulk messages make
// wait. The committed proxy_minimal.ptx on a GPU, workers of proxy_worker.h, an HCA of nic.h. See README.md.
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "device_memory.cuh"
#include "doorbell/command_queue.cuh"
#include "nic.h"
#include "proxy_worker.h"

namespace bench {

constexpr uint64_t kDeadline = 4'000'000'000ull;  // nanoseconds: of every wait in a kernel
constexpr int kPatience = 20;                     // seconds: of the host
constexpr uint32_t kMaxRings = 129, kMaxEntries = 1024, kMaxQueues = 16, kDepth = 1024;
constexpr uint64_t kArea = 64 << 20;
constexpr uint32_t kMaxSamples = 1 << 13;

// The ways to hand over, as proxy_minimal counts them in job.operand.
struct way {
  const char *name;
  uint64_t operand;
  entry_layout layout;
};
constexpr way kBaseline{"baseline 16 B", 0, entry_layout::kShort};
constexpr way kTuned{"tuned 16 B", 1, entry_layout::kShort};
constexpr way kFull{"full 64 B", 2, entry_layout::kFull};
constexpr way kFifo{"fifo 16 B", 3, entry_layout::kShort};
constexpr way kWide{"wide 128 B", 4, entry_layout::kWide};

struct shape {
  way how = kTuned;
  bool timed = false;      // one thread, one put at a time; else a rate
  uint32_t producers = 1;  // of a rate, each in a block of its own
  uint32_t rings = 1, queues = 1, workers = 1;
  uint32_t entries = 1024;
  uint32_t batch = 1;
  bool adaptive = false;
  bool executes = true;     // else the HCA only completes
  uint32_t background = 0;  // blocks of one thread beside a timed one
  bool shared = false;      // they use its ring
  uint32_t bytes = 8, bulk = 8;
  uint32_t in_flight = kDepth;  // WQEs of a queue pair
  uint64_t iterations = 2000, warmup = 200;
};

struct result {
  double rate = 0;                     // million puts a second
  std::vector<uint64_t> enqueue, done;  // nanoseconds, sorted
  double chain = 0;                    // puts of a doorbell
  std::string fault;
};

void pin(uint32_t cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu % std::thread::hardware_concurrency(), &cpus);
  pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
}

class rig {
 public:
  explicit rig(const std::string &ptx_directory) {
    const std::string name = ptx_directory + "/proxy_minimal.ptx";
    std::ifstream file(name);
    if (!file) {
      fprintf(stderr, "proxy: no %s; name the folder of the committed PTX\n", name.c_str());
      _exit(2);
    }
    std::stringstream ptx;
    ptx << file.rdbuf();
    cudaLibrary_t library;
    check(cudaLibraryLoadData(&library, ptx.str().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          name.c_str());
    check(cudaLibraryGetKernel(&kernel_, library, "proxy_minimal"), "proxy_minimal");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }

  result run(const shape &s) {
    const uint64_t stride = std::max<uint64_t>(64, s.timed ? std::max(s.bytes, s.bulk) : s.bytes);
    const uint64_t messages = s.timed ? 1 + s.background : s.producers;
    const uint64_t area = messages * stride;
    if (area > kArea || s.rings > kMaxRings || s.queues > kMaxQueues || s.iterations > kMaxSamples * 8 ||
        (stride & (stride - 1)) != 0) {
      return {0, {}, {}, 0, "shape too large"};
    }
    for (memory *one : {&entries_, &producers_, &words_, &background_, &samples_}) {
      one->fill(0);
    }
    counters_.fill(0);
    cqs_.fill(0xff);
    for (uint64_t i = 0; i < area; ++i) {
      local_.host()[i] = static_cast<uint8_t>(i * 131 + i / 251 + 1);
    }
    memset(remote_.host(), 0, area);

    std::vector<send_queue> queues(s.queues);
    std::vector<nic_queue> executing(s.queues);
    std::vector<completing_nic::queue> completing(s.queues);
    std::vector<proxy_worker> workers(s.workers, proxy_worker(s.batch, s.adaptive, s.in_flight));
    nic checks({local_.host(), area}, {remote_.host(), area}, stride, messages, 1);
    completing_nic completes;
    for (uint32_t q = 0; q < s.queues; ++q) {
      uint8_t *words = words_.host() + q * 1024;
      queues[q] = {};
      queues[q].ring = wqes_.host() + uint64_t{q} * kDepth * 64;
      queues[q].doorbell = reinterpret_cast<uint64_t *>(words);
      queues[q].record = reinterpret_cast<uint32_t *>(words + 256);
      queues[q].cqe = cqs_.host() + q * 256;
      queues[q].blocks = kDepth;
      queues[q].qpn = 0x100 + q;
      executing[q] = {};
      executing[q].ring = queues[q].ring;
      executing[q].doorbell = queues[q].doorbell;
      executing[q].record = queues[q].record;
      executing[q].record_first = true;
      executing[q].cq = cqs_.host() + q * 256;
      executing[q].blocks = kDepth;
      executing[q].entries = 1;
      executing[q].collapsed = true;
      executing[q].qpn = queues[q].qpn;
      completing[q] = {queues[q].doorbell, cqs_.host() + q * 256};
      checks.add(&executing[q]);
      completes.add(&completing[q]);
    }
    std::vector<command_ring> rings(s.rings);
    std::vector<doorbell_qp> views(s.rings);
    std::vector<doorbell_command_queue> descriptors(s.rings);
    for (uint32_t r = 0; r < s.rings; ++r) {
      const bool apart = s.background > 0 && !s.shared && s.queues > 1;
      const uint32_t q = apart && r > 0 ? 1 + (r - 1) % (s.queues - 1) : r % s.queues;
      describe(s, r, q, rings[r], views[r], descriptors[r]);
      workers[q % s.workers].add(&rings[r], &queues[q]);
    }
    descriptors_.put(0, descriptors.data(), descriptors.size() * sizeof(doorbell_command_queue));
    views_.put(0, views.data(), views.size() * sizeof(doorbell_qp));
    doorbell_job job = {};
    job.local = local_.address();
    job.remote = remote_.address();
    job.local_key = kLocalKey;
    job.remote_key = kRemoteKey;
    job.bytes = s.bytes;
    job.chunk_bytes = s.bulk;
    job.stride = stride;
    job.iterations = s.iterations;
    job.warmup = s.warmup;
    job.opcode = DOORBELL_OP_PUT;
    job.operand = s.how.operand;
    job.compare = s.shared ? 1 : 0;
    job.qp_count = s.background > 0 && s.shared ? 1 : s.rings;
    job.samples = s.timed ? samples_.address() : 0;
    job.staging = background_.address();
    job.status = status_.address();
    job.stamps = stamps_.address();
    job_.put(0, &job, sizeof job);
    status_.fill(0xee);
    stamps_.fill(0);
    check(cudaDeviceSynchronize(), "preparing");

    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      pin(2);
      if (s.executes) {
        checks.run(stop);
      } else {
        completes.run(stop);
      }
    });
    for (uint32_t i = 0; i < s.workers; ++i) {
      threads.emplace_back([&, i] {
        pin(4 + 2 * i);
        workers[i].run(stop);
      });
    }
    const uint32_t blocks = s.timed ? 1 + s.background : s.producers;
    uint64_t at = views_.address(), with = job_.address();
    void *arguments[] = {&at, &with};
    check(cudaLaunchKernel(reinterpret_cast<const void *>(kernel_), blocks, 1, arguments, 0, stream_),
          "launch");
    const bool in_time = ended();
    stop = true;
    for (std::thread &thread : threads) {
      thread.join();
    }
    result out;
    for (const proxy_worker &worker : workers) {
      if (!worker.fault.empty()) {
        out.fault = worker.fault;
      }
    }
    if (s.executes && !checks.fault.empty()) {
      out.fault = checks.fault;
    }
    if (!in_time) {
      printf("FAULT the kernel does not end: %s\n", out.fault.c_str());
      fflush(stdout);
      _exit(1);
    }
    if (!out.fault.empty()) {
      return out;
    }
    std::vector<uint32_t> status(blocks);
    status_.get(status.data(), blocks * 4);
    for (uint32_t i = 0; i < blocks; ++i) {
      if (status[i] != DOORBELL_OK) {
        out.fault = "thread " + std::to_string(i) + " ended with " + std::to_string(status[i]);
        return out;
      }
    }
    const uint64_t each = s.iterations + s.warmup;
    uint64_t finished = 0, doorbells = 0;
    for (const command_ring &ring : rings) {
      finished += ring.done;
      if (ring.done != ring.next) {
        out.fault = "commands were taken and not finished";
      }
    }
    for (const send_queue &queue : queues) {
      doorbells += queue.doorbells;
    }
    if (s.background == 0 && finished != each * messages) {
      out.fault = std::to_string(finished) + " puts were finished";
    }
    if (s.executes) {
      for (uint64_t i = 0; i < messages; ++i) {
        const uint64_t count = checks.counts()[i];
        const uint32_t bytes = i == 0 || !s.timed ? s.bytes : s.bulk;
        if ((i == 0 || !s.timed) && count != each) {
          out.fault = "message " + std::to_string(i) + " was put " + std::to_string(count) + " times";
        }
        if (count != 0 && memcmp(remote_.host() + i * stride, local_.host() + i * stride, bytes) != 0) {
          out.fault = "message " + std::to_string(i) + " has other bytes than it should";
        }
      }
    }
    out.chain = doorbells == 0 ? 0 : static_cast<double>(finished) / static_cast<double>(doorbells);
    if (s.timed) {
      out.enqueue.resize(s.iterations);
      out.done.resize(s.iterations);
      samples_.get(out.enqueue.data(), 0, s.iterations * 8);
      samples_.get(out.done.data(), s.iterations * 8, s.iterations * 8);
      std::sort(out.enqueue.begin(), out.enqueue.end());
      std::sort(out.done.begin(), out.done.end());
    } else {
      uint64_t stamps[2];
      stamps_.get(stamps, sizeof stamps);
      out.rate = static_cast<double>(s.iterations * messages) * 1e3 /
                 static_cast<double>(stamps[1] - stamps[0]);
    }
    return out;
  }

 private:
  void describe(const shape &s, uint32_t r, uint32_t q, command_ring &ring, doorbell_qp &view,
                doorbell_command_queue &descriptor) {
    const uint64_t at = uint64_t{r} * kMaxEntries * 128;
    const uint64_t counters = uint64_t{r} * 512;
    descriptor = {};
    descriptor.ring = entries_.address() + at;
    descriptor.head = producers_.address() + r * sizeof(doorbell_command_producer);
    descriptor.consumed = counters_.address() + counters;
    descriptor.finished = counters_.address() + counters + 256;
    descriptor.entries = s.entries;
    descriptor.number = r;
    view = {};
    view.commands = descriptors_.address() + r * sizeof(doorbell_command_queue);
    view.error = errors_.address();
    view.deadline_ns = kDeadline;
    view.number = q;
    ring = {};
    ring.entries = reinterpret_cast<const uint64_t *>(entries_.host() + at);
    ring.consumed = reinterpret_cast<uint64_t *>(counters_.host() + counters);
    ring.finished = reinterpret_cast<uint64_t *>(counters_.host() + counters + 256);
    ring.mask = s.entries - 1;
    ring.layout = s.how.layout;
    ring.local = local_.address();
    ring.remote = remote_.address();
    ring.local_key = kLocalKey;
    ring.remote_key = kRemoteKey;
  }

  // True when the kernel ended in time.
  bool ended() {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state == cudaSuccess) {
        return true;
      }
      if (state != cudaErrorNotReady) {
        check(state, "the kernel");
      }
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(kPatience)) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  cudaKernel_t kernel_ = {};
  cudaStream_t stream_;
  memory entries_{uint64_t{kMaxRings} * kMaxEntries * 128, false}, counters_{kMaxRings * 512, false},
      producers_{kMaxRings * sizeof(doorbell_command_producer), true},
      descriptors_{kMaxRings * sizeof(doorbell_command_queue), true},
      views_{kMaxRings * sizeof(doorbell_qp), true}, job_{sizeof(doorbell_job), true},
      errors_{4096, false}, background_{16, true}, status_{4 * 4096, true}, stamps_{16, true},
      samples_{2 * 8 * kMaxSamples * 8, true}, local_{kArea, false}, remote_{kArea, false},
      wqes_{uint64_t{kMaxQueues} * kDepth * 64, false}, words_{kMaxQueues * 1024, false},
      cqs_{kMaxQueues * 256, false};
};

struct row {
  std::string name;
  shape what;
};

std::vector<row> rows_of(const std::string &which) {
  std::vector<row> rows;
  const way all[] = {kBaseline, kTuned, kFull, kFifo, kWide};
  if (which == "cost" || which == "all") {
    for (const way &how : all) {
      shape s;
      s.how = how;
      s.timed = true;
      rows.push_back({"cost", s});
    }
  }
  if (which == "rate" || which == "all") {
    const auto rate = [&](const way &how, uint32_t workers, uint32_t rings, uint32_t batch, bool adaptive,
                          bool executes) {
      shape s;
      s.how = how;
      s.producers = how.operand == kTuned.operand ? rings : std::max(rings, 32u);
      s.rings = rings;
      s.queues = workers;
      s.workers = workers;
      s.batch = batch;
      s.adaptive = adaptive;
      s.executes = executes;
      s.iterations = 20'000;
      s.warmup = 5'000;
      rows.push_back({"rate", s});
    };
    for (uint32_t batch : {1u, 4u, 16u, 64u}) {
      rate(kTuned, 1, 32, batch, false, false);
    }
    rate(kTuned, 1, 32, 64, true, false);
    rate(kTuned, 1, 8, 16, false, false);
    rate(kTuned, 1, 64, 16, false, false);
    rate(kTuned, 2, 32, 16, false, false);
    rate(kTuned, 4, 32, 16, false, false);
    rate(kTuned, 1, 32, 16, false, true);
    for (const way &how : {kBaseline, kFull, kFifo, kWide}) {
      rate(how, 1, 32, 16, false, false);
      rate(how, 1, 1, 16, false, false);
    }
  }
  if (which == "probe" || which == "all") {
    for (const way &how : {kFifo, kTuned, kBaseline, kFull, kWide}) {
      for (uint32_t background : {1u, 8u, 64u}) {
        for (bool shared : {false, true}) {
          if ((shared && how.operand == kTuned.operand) ||
              (background == 8 && how.operand != kFifo.operand)) {
            continue;
          }
          shape s;
          s.how = how;
          s.timed = true;
          s.background = background;
          s.shared = shared;
          s.rings = shared ? 1 : 1 + background;
          s.queues = shared ? 1 : 2;
          s.batch = 16;
          s.adaptive = true;
          s.bulk = 65536;
          s.iterations = shared ? 40 : 400;
          s.warmup = 10;
          rows.push_back({"probe", s});
        }
      }
    }
    for (bool shared : {false, true}) {  // small messages: the worker is what the probe waits for
      shape s;
      s.how = kFifo;
      s.timed = true;
      s.background = 64;
      s.shared = shared;
      s.rings = shared ? 1 : 65;
      s.queues = shared ? 1 : 2;
      s.batch = 16;
      s.adaptive = true;
      s.executes = false;
      s.iterations = 2000;
      rows.push_back({"probe", s});
    }
  }
  return rows;
}

bool measure(rig &r, const std::vector<row> &rows, int repeat) {
  struct numbers {
    std::vector<double> rate, enqueue, done, done99, chain;
  };
  std::vector<numbers> all(rows.size());
  for (int i = 0; i < repeat; ++i) {
    for (size_t k = 0; k < rows.size(); ++k) {
      const result one = r.run(rows[k].what);
      if (!one.fault.empty()) {
        printf("FAULT %s %s: %s\n", rows[k].name.c_str(), rows[k].what.how.name, one.fault.c_str());
        return false;
      }
      all[k].chain.push_back(one.chain);
      if (rows[k].what.timed) {
        const size_t n = one.done.size();
        all[k].enqueue.push_back(static_cast<double>(one.enqueue[n / 2]));
        all[k].done.push_back(static_cast<double>(one.done[n / 2]));
        all[k].done99.push_back(static_cast<double>(one.done[n * 99 / 100]));
      } else {
        all[k].rate.push_back(one.rate);
      }
    }
  }
  const auto middle = [](std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
  };
  const auto spread = [](const std::vector<double> &of) {
    const auto ends = std::minmax_element(of.begin(), of.end());
    char text[64];
    snprintf(text, sizeof text, "[%.4g-%.4g]", *ends.first, *ends.second);
    return std::string(text);
  };
  for (size_t k = 0; k < rows.size(); ++k) {
    const shape &s = rows[k].what;
    const std::string batch = std::to_string(s.batch) + (s.adaptive ? " adaptive" : "");
    if (s.timed) {
      printf("%-6s %-14s %-6s ring, %2u blocks of %5u B, batch %-12s HCA %-9s enqueue p50 %6.0f %-14s "
             "done p50 %8.0f %-18s p99 %8.0f ns  n %llu x %d\n",
             rows[k].name.c_str(), s.how.name, s.shared ? "shared" : "own", s.background,
             s.background == 0 ? 0 : s.bulk, batch.c_str(), s.executes ? "executes" : "completes",
             middle(all[k].enqueue), spread(all[k].enqueue).c_str(), middle(all[k].done),
             spread(all[k].done).c_str(), middle(all[k].done99),
             static_cast<unsigned long long>(s.iterations), repeat);
    } else {
      printf("%-6s %-14s %u workers, %2u rings, %2u producers, batch %-12s HCA %-9s %7.3f M/s %-18s "
             "puts a doorbell %5.1f  n %llu x %d\n",
             rows[k].name.c_str(), s.how.name, s.workers, s.rings, s.producers, batch.c_str(),
             s.executes ? "executes" : "completes", middle(all[k].rate), spread(all[k].rate).c_str(),
             middle(all[k].chain), static_cast<unsigned long long>(s.iterations * s.producers), repeat);
    }
  }
  return true;
}

// What figures of a CPU thread depend on: clocks, and on which node what lies.
void machine() {
  const auto line = [](const std::string &path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    return text.empty() ? std::string("unknown") : text;
  };
  cudaDeviceProp properties;
  int driver;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  char bus[32];
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), "cudaDeviceGetPCIBusId");
  std::string low(bus);
  std::transform(low.begin(), low.end(), low.begin(), ::tolower);
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown", mhz, text;
  while (std::getline(info, text)) {
    if (text.rfind("model name", 0) == 0) {
      model = text.substr(text.find(':') + 2);
    }
    if (text.rfind("cpu MHz", 0) == 0) {
      mhz += " " + text.substr(text.find(':') + 2);
    }
  }
  printf("# %s, CUDA driver %d; CPU %s, %u threads, nodes online %s, GPU on node %s\n", properties.name,
         driver, model.c_str(), std::thread::hardware_concurrency(),
         line("/sys/devices/system/node/online").c_str(),
         line("/sys/bus/pci/devices/" + low + "/numa_node").c_str());
  printf("# governor %s, scaling %s..%s kHz, MHz now:%s\n",
         line("/sys/devices/system/cpu/cpu4/cpufreq/scaling_governor").c_str(),
         line("/sys/devices/system/cpu/cpu4/cpufreq/scaling_min_freq").c_str(),
         line("/sys/devices/system/cpu/cpu4/cpufreq/scaling_max_freq").c_str(), mhz.c_str());
}

}  // namespace bench

int main(int argc, char **argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const std::string which = argc == 4 ? argv[2] : "";
  const std::vector<bench::row> rows = bench::rows_of(which);
  if (rows.empty()) {
    fprintf(stderr, "usage: proxy PTX_DIRECTORY cost|rate|probe|all REPETITIONS\n");
    return 2;
  }
  bench::machine();
  bench::rig rig(argv[1]);
  const bool good = bench::measure(rig, rows, std::max(1, atoi(argv[3])));
  bench::machine();
  return good ? 0 : 1;
}
