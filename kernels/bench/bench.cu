// bench: how many operations a second the committed kernels post on a GPU, how long one of them takes,
// and whether each arrived. See README.md.
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <thread>

#include "doorbell/abi.h"
#include "device_memory.cuh"
#include "fences.cuh"
#include "gpu_nic.cuh"
#include "nic.h"
#ifdef DOORBELL_BENCH_PEER
#include DOORBELL_BENCH_PEER

#include "peer.cuh"
#endif

namespace bench {

constexpr uint64_t kDeadline = 4'000'000'000ull;  // nanoseconds: of every wait in a kernel
constexpr uint64_t kBriefDeadline = 200'000'000;  // where a wait in vain is likely
constexpr int kPatience = 30;                     // seconds: of the host
constexpr double kRowSeconds = 0.5;               // of a rate's row in a round of a comparison, at most

// The committed kernels that the bench launches.
enum kernel_name : uint32_t { kRate, kPrice, kMinimal, kBatch, kLight, kExclusive, kKernels };
constexpr const char *kNames[kKernels] = {"put_rate", "put_price", "put_minimal", "put_batch",
                                           "put_light", "put_exclusive"};

// What is run.
struct shape {
  kernel_name kernel = kRate;
  uint32_t blocks = 1, threads = 1;
  uint32_t qps = 1, nics = 1;
  uint32_t depth = 1024;
  uint32_t scope = DOORBELL_SCOPE_THREAD;
  uint32_t flags = DOORBELL_QP_CQ_COLLAPSED;  // without SCOPE_SYSTEM, which follows from gpu_rings
  uint32_t cq_factor = 1;
  uint32_t batch = 256;
  uint32_t opcode = DOORBELL_OP_PUT;
  uint32_t bytes = 8;
  uint32_t window = 0;
  uint64_t iterations = 1000, warmup = 0;
  bool gpu_rings = false;
  bool far_doorbell = false;  // doorbells in host memory, beside rings in GPU memory
  bool noise = false;         // other blocks stream through GPU memory meanwhile

  uint64_t operand = 7;  // of put_minimal: the order of a post
  uint32_t wqes = 1;     // of put_minimal and put_exclusive: WQEs of a doorbell
  uint64_t deadline = kDeadline;
  bool peer = false;     // not the device library's
  bool timed = false;    // one operation at a time, each with its times
  uint64_t rest = 0;     // nanoseconds between a timed post and its wait

  uint64_t posters() const { return static_cast<uint64_t>(blocks) * threads; }
  uint64_t messages() const { return kernel == kBatch ? window : posters(); }
  bool is(uint32_t flag) const { return (flags & flag) != 0; }

  std::string text() const {
    char out[320];
    snprintf(out, sizeof out,
             "%ux%u, %u qp, %u nic, depth %u, scope %u, flags 0x%x, cq x%u, batch %u, op %u, %u B, "
             "window %u, %llu each, %s rings, operand 0x%llx%s",
             blocks, threads, qps, nics, depth, scope, flags, cq_factor, batch, opcode, bytes,
             window, static_cast<unsigned long long>(iterations), gpu_rings ? "gpu" : "host",
             static_cast<unsigned long long>(operand), far_doorbell ? ", doorbell in host memory" : "");
    return out;
  }
};

struct result {
  double rate = 0;       // million operations a second
  double doorbells = 0;    // a thousand operations
  double completions = 0;  // a thousand operations
  double busy = 0;         // ticks of an HCA's thread an operation
  double stalls = 0;       // of an HCA's thread, a thousand operations
  std::vector<uint64_t> stalled;  // where in its queue an HCA's thread was at each of them, if it has one queue
  std::vector<uint64_t> issue, done;  // nanoseconds of each operation, sorted
  std::vector<uint64_t> smooth;       // those of `done` during which the HCA's thread did not stand still
  std::vector<uint64_t> wait;         // behind a rest: nanoseconds of each wait, sorted
  std::string fault;
};

// Streams through memory until told to stop, so that parts of the L2 cache answer late.
__global__ void stream_through(uint4 *words, uint64_t count, const uint32_t *stop) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t at = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
  for (uint32_t turn = 0; turn < (1u << 20); ++turn) {
    for (int i = 0; i < 64; ++i) {
      uint4 value = __ldcv(words + at);
      value.x += 1;
      __stcs(words + at, value);
      at = at + step < count ? at + step : threadIdx.x;
    }
    if (__syncthreads_or(threadIdx.x == 0 && *reinterpret_cast<const volatile uint32_t *>(stop) != 0)) {
      return;
    }
  }
}

constexpr uint64_t kNoiseBytes = 256 << 20;  // five times the L2 cache
constexpr uint32_t kNoiseBlocks = 64;

constexpr uint32_t kMaxDepth = 4096, kMaxQueues = 32, kMaxPosters = 132 * 1024;
constexpr uint64_t kArea = 32 << 20;
constexpr uint64_t kMaxSamples = 1 << 16;

class rig {
 public:
  // Kernels are those of the first folder until choose() says another.
  explicit rig(const std::vector<std::string> &folders) {
    cudaDeviceProp properties;
    int driver;
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    printf("# %s, CUDA driver %d, %u CPUs\n", properties.name, driver,
           std::thread::hardware_concurrency());
    for (const std::string &folder : folders) {
      std::array<cudaKernel_t, kKernels> kernels = {};
      for (uint32_t i = 0; i < kKernels; ++i) {
        const std::string name = folder + "/" + kNames[i] + ".ptx";
        std::ifstream file(name);
        if (!file) {
          continue;  // a folder of an older version
        }
        std::stringstream ptx;
        ptx << file.rdbuf();
        cudaLibrary_t library;
        check(cudaLibraryLoadData(&library, ptx.str().c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                                  0),
              name.c_str());
        check(cudaLibraryGetKernel(&kernels[i], library, kNames[i]), kNames[i]);
      }
      folders_.push_back(kernels);
    }
    choose(0);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&nic_stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&noise_stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int where = 0; where < 2; ++where) {
      const bool gpu = where == 1;
      rings_[where] = std::make_unique<memory>(uint64_t{kMaxQueues} * kMaxDepth * 64, gpu);
      cqs_[where] = std::make_unique<memory>(uint64_t{kMaxQueues} * 2 * kMaxDepth * 64, gpu);
      words_[where] = std::make_unique<memory>(kMaxQueues * 512, gpu);
      local_[where] = std::make_unique<memory>(kArea, gpu);
      remote_[where] = std::make_unique<memory>(kArea, gpu);
    }
    for (uint32_t i = 0; i < kMaxQueues; ++i) {
      counters_.push_back(std::make_unique<memory>(512 + 8 * kMaxDepth, true));
    }
    counts_ = std::make_unique<memory>(4ull * kMaxPosters, true);
  }

  void choose(size_t folder) { kernels_ = folders_.at(folder); }

  bool has(kernel_name kernel) const { return kernels_[kernel] != nullptr; }

  result run(const shape &s, uint64_t seed) {
    if (!s.peer && !has(s.kernel)) {
      return refused(std::string("no ") + kNames[s.kernel] + ".ptx");
    }
    const int where = s.gpu_rings ? 1 : 0;
    // Messages of different queue pairs lie on different lines: their HCAs are different CPUs.
    const uint64_t least = std::max<uint64_t>(
        s.bytes + (s.opcode == DOORBELL_OP_PUT_SIGNAL ? 8 : 0),
        s.qps > 1 && s.scope == DOORBELL_SCOPE_THREAD ? 64 : 8);
    uint64_t step = 8;
    while (step < least) {
      step *= 2;
    }
    const uint64_t area = s.messages() * step;
    if (area > kArea || s.posters() > kMaxPosters || (s.timed && s.iterations > kMaxSamples)) {
      return refused("shape too large");
    }
    prepare(s, where, seed, area);

    std::vector<nic_queue> queues(s.qps);
    std::vector<doorbell_qp> views(s.qps);
    for (uint32_t i = 0; i < s.qps; ++i) {
      describe(s, where, i, views[i], queues[i]);
    }
    views_.put(0, views.data(), views.size() * sizeof(doorbell_qp));
#ifdef DOORBELL_BENCH_PEER
    std::vector<peer::queue> peers;
    for (const doorbell_qp &view : views) {
      peers.push_back(peer::describe(view, s.gpu_rings));
    }
    peers_.put(0, peers.data(), peers.size() * sizeof(peer::queue));
#endif
    doorbell_job job = {};
    job.local = local_[where]->address();
    job.remote = remote_[where]->address();
    job.bytes = s.bytes;
    job.iterations = s.iterations;
    job.warmup = s.warmup;
    job.status = status_.address();
    job.stamps = stamps_.address();
    job.stride = step;
    job.operand = s.kernel == kBatch ? 0 : s.operand;
    job.compare = s.kernel == kMinimal || s.kernel == kExclusive ? s.wqes : 0;
    job.chunk_bytes = s.rest;
    job.samples = s.timed ? samples_.address() : 0;
    job.local_key = kLocalKey;
    job.remote_key = kRemoteKey;
    job.scope = s.scope;
    job.window = s.window;
    job.qp_count = s.qps;
    job.opcode = s.opcode;
    job_.put(0, &job, sizeof job);
    status_.fill(0xee);
    stamps_.fill(0);
    if (s.peer) {
      if (s.gpu_rings) {
        // The first launch of a kernel with a larger stack waits for all that run: for the GPU's HCA, for ever.
        shown_ = job;
        shown_.iterations = 0;
        shown_.warmup = 0;
        launch(s);
        check(cudaDeviceSynchronize(), "a launch that posts nothing");
        status_.fill(0xee);
      }
      const uint64_t none[2] = {~uint64_t{0}, 0};
      stamps_.put(0, none, sizeof none);
    }
    shown_ = job;
    check(cudaDeviceSynchronize(), "preparing");

    const bool sum = s.opcode == DOORBELL_OP_PUT_SIGNAL;
    result out = s.gpu_rings ? answer_on_gpu(s, queues, area, step)
                             : answer_on_host(s, queues, area, step);
    if (!out.fault.empty()) {
      return out;
    }
    std::vector<uint32_t> status(s.posters());
    status_.get(status.data(), status.size() * 4);
    for (uint64_t i = 0; i < status.size(); ++i) {
      if (status[i] != DOORBELL_OK) {
        out.fault = "thread " + std::to_string(i) + " ended with " + std::to_string(status[i]);
        return out;
      }
    }
    const uint64_t expected = (s.iterations + s.warmup) * s.wqes * (sum ? 2 : 1);
    for (uint64_t i = 0; i < s.messages(); ++i) {
      if (tally_[i] != expected) {
        out.fault = "message " + std::to_string(i) + " was executed " +
                    std::to_string(tally_[i]) + " times";
        return out;
      }
    }
    out.fault = differences(s, where, area, step);
    uint64_t stamps[2];
    stamps_.get(stamps, sizeof stamps);
    uint64_t doorbells = 0, completions = 0;
    for (const nic_queue &queue : queues) {
      doorbells += queue.doorbells;
      completions += queue.completions;
    }
    out.completions = completions * 1e3 / (static_cast<double>(s.posters()) * (s.iterations + s.warmup));

    if (s.timed) {
      uint64_t from = 0;
      for (std::vector<uint64_t> *times : {&out.issue, &out.done, &out.wait}) {
        if (times == &out.wait && s.rest == 0) {
          continue;
        }
        times->resize(s.iterations);
        samples_.get(times->data(), from * 8, s.iterations * 8);
        if (times == &out.done) {
          out.smooth = beside_no_stall(s, out);
        }
        std::sort(times->begin(), times->end());
        from += s.iterations;
      }
    }
    const double operations = static_cast<double>(s.messages()) * s.iterations * s.wqes;
    out.rate = operations * 1e3 / static_cast<double>(stamps[1] - stamps[0]);
    out.doorbells = doorbells * 1e3 / (static_cast<double>(s.posters()) * (s.iterations + s.warmup));
    return out;
  }

 private:
  static result refused(const std::string &why) {
    result out;
    out.fault = why;
    return out;
  }

  // The HCA is at operation n while it awaits or executes it, and at n + 1 when it has.
  static std::vector<uint64_t> beside_no_stall(const shape &s, const result &from) {
    std::vector<bool> beside(s.warmup + s.iterations + 1);
    for (const uint64_t head : from.stalled) {
      for (const uint64_t at : {head, head - 1}) {
        if (at < beside.size()) {
          beside[at] = true;
        }
      }
    }
    std::vector<uint64_t> times;
    for (uint64_t i = 0; i < s.iterations; ++i) {
      if (!beside[s.warmup + i]) {
        times.push_back(from.done[i]);
      }
    }
    std::sort(times.begin(), times.end());
    return times;
  }

  void prepare(const shape &s, int where, uint64_t seed, uint64_t area) {
    std::mt19937_64 random(seed);
    payload_.resize(area / 8 + 1);
    target_.resize(area / 8 + 1);
    for (uint64_t i = 0; i < payload_.size(); ++i) {
      payload_[i] = random();
      target_[i] = s.opcode == DOORBELL_OP_PUT || s.opcode == DOORBELL_OP_PUT_INLINE ? ~payload_[i] : 0;
    }
    if (s.opcode == DOORBELL_OP_GET) {
      for (uint64_t &word : target_) {
        word = random();
      }
    }
    if (s.opcode == DOORBELL_OP_PUT_SIGNAL) {
      std::fill(target_.begin(), target_.end(), 0);
    }
    local_[where]->put(0, payload_.data(), area);
    remote_[where]->put(0, target_.data(), area);
    cqs_[where]->fill(0xff);
    words_[where]->fill(0);
    words_[0]->fill(0);
    rings_[where]->fill(0x5a);
    for (uint32_t i = 0; i < s.qps; ++i) {
      counters_[i]->fill(0);
    }
    errors_.fill(0);
  }

  void describe(const shape &s, int where, uint32_t i, doorbell_qp &view, nic_queue &queue) {
    const uint64_t ring = uint64_t{i} * kMaxDepth * 64;
    const uint64_t cq = uint64_t{i} * 2 * kMaxDepth * 64;
    const uint64_t words = uint64_t{i} * 512;
    view = {};
    view.sq_ring = rings_[where]->address() + ring;
    view.doorbell = words_[s.far_doorbell ? 0 : where]->address() + words;
    view.sq_record = words_[where]->address() + words + 128 + 4;
    view.cq_record = words_[where]->address() + words + 256;
    view.cq_ring = cqs_[where]->address() + cq;
    view.counters = counters_[i]->address();
    view.error = errors_.address() + i * sizeof(doorbell_error);
    view.deadline_ns = s.deadline;
    view.sq_blocks = s.depth;
    view.cq_entries = s.depth * s.cq_factor;
    view.qpn = 0x100 + i;
    view.flags = s.flags | (s.gpu_rings ? 0 : DOORBELL_QP_SCOPE_SYSTEM);
    view.batch = s.batch;
    view.max_inline = s.opcode == DOORBELL_OP_PUT_INLINE ? s.bytes : 0;
    view.number = i;
    queue = {};
    queue.ring = reinterpret_cast<uint8_t *>(view.sq_ring);
    queue.doorbell = reinterpret_cast<uint64_t *>(view.doorbell);
    queue.record = s.is(DOORBELL_QP_NO_RECORD) ? nullptr : reinterpret_cast<uint32_t *>(view.sq_record);
    queue.record_first = !s.is(DOORBELL_QP_NO_RECORD) && !s.is(DOORBELL_QP_RECORD_LAST);
    queue.cq = reinterpret_cast<uint8_t *>(view.cq_ring);
    queue.blocks = s.depth;
    queue.entries = view.cq_entries;
    queue.collapsed = s.is(DOORBELL_QP_CQ_COLLAPSED);
    queue.qpn = view.qpn;
    queue.foreign = s.peer;
    if (s.peer) {
      queue.record_first = false;
    }
  }

  void launch(const shape &s) {
#ifdef DOORBELL_BENCH_PEER
    if (s.peer) {
      auto *queues = reinterpret_cast<peer::queue *>(peers_.address());
      const bool alone = s.is(DOORBELL_QP_EXCLUSIVE);
      auto *kernel = s.timed ? (alone ? peer_price<true> : peer_price<false>)
                             : (alone ? peer_rate<true> : peer_rate<false>);
      kernel<<<s.blocks, s.threads, 0, stream_>>>(queues, shown_);
      check(cudaGetLastError(), "launch of the peer");
      return;
    }
#endif
    uint64_t views = views_.address(), job = job_.address();
    void *arguments[] = {&views, &job};
    check(cudaLaunchKernel(reinterpret_cast<const void *>(kernels_[s.kernel]), s.blocks, s.threads, arguments,
                           0, stream_),
          "launch");
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

  result answer_on_host(const shape &s, std::vector<nic_queue> &queues, uint64_t area,
                        uint64_t step) {
    std::vector<std::unique_ptr<nic>> nics;
    for (uint32_t i = 0; i < s.nics; ++i) {
      nics.push_back(std::make_unique<nic>(window{local_[0]->host(), area},
                                           window{remote_[0]->host(), area}, step, s.messages()));
    }
    for (uint32_t i = 0; i < s.qps; ++i) {
      nics[i % s.nics]->add(&queues[i]);
    }
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < s.nics; ++i) {
      threads.emplace_back([&, i] {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        // Neighbours may be two threads of one core.
        const uint32_t all = std::thread::hardware_concurrency();
        CPU_SET(s.nics < all / 2 ? 2 * i + 2 : (i + 1) % all, &cpus);
        pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
        nics[i]->run(stop);
      });
    }
    launch(s);
    const bool in_time = ended();
    stop = true;
    for (std::thread &thread : threads) {
      thread.join();
    }
    result out;
    tally_.assign(s.messages(), 0);
    for (const auto &one : nics) {
      if (out.fault.empty()) {
        out.fault = one->fault;
      }
      for (uint64_t i = 0; i < s.messages(); ++i) {
        tally_[i] += one->counts()[i];
      }
      out.busy += static_cast<double>(one->busy) / static_cast<double>(s.posters() * (s.iterations + s.warmup));
      if (s.nics == 1) {
        out.stalled = one->stalled;
      }
      out.stalls += one->stalls * 1e3 / static_cast<double>(s.posters() * (s.iterations + s.warmup));
    }
    if (!in_time && out.fault.empty()) {
      out.fault = "the kernel does not end";
    }
    if (!in_time) {
      report(s, out);
    }
    return out;
  }

  result answer_on_gpu(const shape &s, std::vector<nic_queue> &queues, uint64_t area,
                       uint64_t step) {
    std::vector<gpu_queue> described;
    for (const nic_queue &queue : queues) {
      described.push_back({queue.ring, queue.doorbell, queue.record_first ? queue.record : nullptr,
                           queue.cq, queue.blocks, queue.entries, queue.collapsed ? 1u : 0u,
                           queue.qpn, 0, 0, 0, 0, queue.foreign ? 1u : 0u});
    }
    gpu_queues_.put(0, described.data(), described.size() * sizeof(gpu_queue));
    if (s.noise) {
      noise_.fill(0);
    }
    counts_->fill(0);
    stop_.fill(0);
    check(cudaDeviceSynchronize(), "preparing the GPU's HCA");
    gpu_nic<<<s.qps, 32, 0, nic_stream_>>>(
        reinterpret_cast<gpu_queue *>(gpu_queues_.address()), local_[1]->address(),
        remote_[1]->address(), area, step, reinterpret_cast<uint32_t *>(counts_->address()),
        reinterpret_cast<uint32_t *>(stop_.address()), 2ull * kDeadline);
    if (s.noise) {
      stream_through<<<kNoiseBlocks, 256, 0, noise_stream_>>>(
          reinterpret_cast<uint4 *>(noise_.address()), kNoiseBytes / sizeof(uint4),
          reinterpret_cast<uint32_t *>(stop_.address()));
    }
    launch(s);
    const bool in_time = ended();
    *reinterpret_cast<volatile uint32_t *>(stop_.host()) = 1;
    result out;
    if (!in_time) {
      out.fault = "the kernel does not end";
      report(s, out);
    }
    check(cudaStreamSynchronize(nic_stream_), "the GPU's HCA");
    check(cudaStreamSynchronize(noise_stream_), "what streams beside it");
    gpu_queues_.get(described.data(), described.size() * sizeof(gpu_queue));
    for (uint32_t i = 0; i < s.qps; ++i) {
      queues[i].doorbells = described[i].doorbells;
      queues[i].completions = described[i].completions;
      if (described[i].fault != 0) {
        char text[120];
        snprintf(text, sizeof text, "the GPU's HCA refused at line %u, block %llu: %x",
                 described[i].fault, static_cast<unsigned long long>(described[i].completions),
                 described[i].seen);
        out.fault = text;
      }
    }
    tally_.assign(s.messages(), 0);
    counts_->get(tally_.data(), tally_.size() * 4);
    return out;
  }

  // Nothing more can be done with a GPU whose kernel does not end.
  [[noreturn]] void report(const shape &s, const result &out) {
    printf("FAULT %s: %s\n", s.text().c_str(), out.fault.c_str());
    fflush(stdout);
    _exit(1);
  }

  std::string differences(const shape &s, int where, uint64_t area, uint64_t step) {
    std::vector<uint64_t> near(area / 8 + 1), far(area / 8 + 1);
    local_[where]->get(near.data(), area);
    remote_[where]->get(far.data(), area);
    const uint64_t total = s.iterations + s.warmup;
    const uint64_t behind = (s.bytes + 7) / 8;
    for (uint64_t poster = 0; poster < s.messages(); ++poster) {
      const uint64_t at = poster * step / 8;
      bool right = true;
      switch (s.opcode) {
        case DOORBELL_OP_PUT:
        case DOORBELL_OP_PUT_INLINE:
          right = memcmp(&far[at], &payload_[at], s.bytes) == 0;
          break;
        case DOORBELL_OP_PUT_SIGNAL:
          right = memcmp(&far[at], &payload_[at], s.bytes) == 0 && far[at + behind] == 7 * total &&
                  near[at + behind] == 7 * (total - 1);
          break;
        case DOORBELL_OP_GET:
          right = memcmp(&near[at], &target_[at], s.bytes) == 0;
          break;
        case DOORBELL_OP_FETCH_ADD:
          right = far[at] == 7 * total && near[at] == 7 * (total - 1);
          break;
        default:
          right = far[at] == 7;
      }
      if (!right) {
        return "message " + std::to_string(poster) + " has other bytes than it should";
      }
    }
    return "";
  }

  std::vector<std::array<cudaKernel_t, kKernels>> folders_;
  std::array<cudaKernel_t, kKernels> kernels_ = {};
  cudaStream_t stream_, nic_stream_, noise_stream_;
  std::unique_ptr<memory> rings_[2], cqs_[2], words_[2], local_[2], remote_[2], counts_;
  std::vector<std::unique_ptr<memory>> counters_;
  struct lazily {
    lazily(uint64_t bytes, bool gpu) : bytes(bytes), gpu(gpu) {}
    memory &of() {
      if (!held) {
        held = std::make_unique<memory>(bytes, gpu);
      }
      return *held;
    }
    void put(uint64_t offset, const void *from, uint64_t size) { of().put(offset, from, size); }
    void get(void *to, uint64_t size) { of().get(to, size); }
    void get(void *to, uint64_t offset, uint64_t size) { of().get(to, offset, size); }
    void fill(uint8_t value) { of().fill(value); }
    uint64_t address() { return of().address(); }
    uint8_t *host() { return of().host(); }
    uint64_t bytes;
    bool gpu;
    std::unique_ptr<memory> held;
  };
  lazily views_{kMaxQueues * sizeof(doorbell_qp), true}, job_{sizeof(doorbell_job), true},
      status_{4ull * kMaxPosters, true}, stamps_{16, true},
      errors_{kMaxQueues * sizeof(doorbell_error), false}, stop_{64, false},
      gpu_queues_{kMaxQueues * sizeof(gpu_queue), true}, samples_{3 * 8 * kMaxSamples, true},
      noise_{kNoiseBytes, true};
#ifdef DOORBELL_BENCH_PEER
  lazily peers_{kMaxQueues * sizeof(peer::queue), true};
#endif
  doorbell_job shown_ = {};
  std::vector<uint64_t> payload_, target_;
  std::vector<uint32_t> tally_;
};

// Medians of `repeat` runs, each of about `operations` operations.
bool measure(rig &r, const char *name, shape s, uint64_t operations, int repeat) {
  s.iterations = std::max<uint64_t>(1, operations / s.posters());
  s.warmup = std::max<uint64_t>(1, s.iterations / 10);
  std::vector<double> rates;
  double doorbells = 0, completions = 0, busy = 0;
  for (int i = 0; i < repeat; ++i) {
    const result one = r.run(s, 1000 + i);
    if (!one.fault.empty()) {
      printf("FAULT %s %s: %s\n", name, s.text().c_str(), one.fault.c_str());
      return false;
    }
    rates.push_back(one.rate);
    doorbells = one.doorbells;
    completions = one.completions;
    busy = one.busy;
  }
  std::sort(rates.begin(), rates.end());
  printf("%-28s %5ux%-5u %2u qp %2u nic  median %8.3f  min %8.3f  max %8.3f  M/s  doorbells/1000 %7.1f  cqes/1000 %7.1f  ticks/op %6.1f  (%llu ops)\n",
         name, s.blocks, s.threads, s.qps, s.nics, rates[rates.size() / 2], rates.front(),
         rates.back(), doorbells, completions, busy, static_cast<unsigned long long>(s.posters() * s.iterations));
  fflush(stdout);
  return true;
}

// One shape of the kernels of several folders, turn about, with the same memory.
bool versions(rig &r, const std::vector<std::string> &folders, shape s, uint64_t operations, int rounds) {
  s.iterations = std::max<uint64_t>(1, operations / s.posters());
  s.warmup = std::max<uint64_t>(1, s.iterations / 10);
  std::vector<std::vector<double>> rates(folders.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < folders.size(); ++i) {
      r.choose(i);
      const result one = r.run(s, 1000 + round);
      if (!one.fault.empty()) {
        printf("FAULT %s %s: %s\n", folders[i].c_str(), s.text().c_str(), one.fault.c_str());
        return false;
      }
      rates[i].push_back(one.rate);
    }
  }
  for (size_t i = 0; i < folders.size(); ++i) {
    std::sort(rates[i].begin(), rates[i].end());
    printf("%-40s %5ux%-5u %2u qp  median %8.3f  min %8.3f  max %8.3f  M/s  %d rounds\n", folders[i].c_str(),
           s.blocks, s.threads, s.qps, rates[i][rates[i].size() / 2], rates[i].front(), rates[i].back(), rounds);
  }
  fflush(stdout);
  return true;
}

bool table(rig &r, const std::string &which, int repeat) {
  struct variant {
    const char *name;
    uint32_t flags;
  };
  const variant variants[] = {{"no record", DOORBELL_QP_NO_RECORD},
                              {"record first", 0},
                              {"record last", DOORBELL_QP_RECORD_LAST}};
  const uint32_t shapes[][2] = {{1, 1}, {1, 32}, {1, 128}, {4, 128}, {16, 128}};
  bool good = true;
  const auto post = [&](const std::string &name, uint32_t flags, uint32_t blocks, uint32_t threads,
                        uint32_t qps, uint32_t nics, uint32_t scope, bool gpu, uint32_t batch) {
    shape s;
    s.blocks = blocks;
    s.threads = threads;
    s.qps = qps;
    s.nics = nics;
    s.scope = scope;
    s.flags = flags;
    s.gpu_rings = gpu;
    s.batch = batch;
    const uint64_t operations =
        s.posters() == 1                            ? 200'000
        : s.posters() == 32 || s.posters() > 16'384 ? 2'000'000
                                                    : 8'000'000ull * std::min(qps, 4u);
    good = measure(r, name.c_str(), s, operations, repeat) && good;
  };
  if (which == "host" || which == "all") {
    for (const variant &v : variants) {
      for (const auto &grid : shapes) {
        post(v.name, DOORBELL_QP_CQ_COLLAPSED | v.flags, grid[0], grid[1], 1, 1, DOORBELL_SCOPE_THREAD, false, 256);
      }
      post(std::string(v.name) + ", exclusive", DOORBELL_QP_CQ_COLLAPSED | DOORBELL_QP_EXCLUSIVE | v.flags, 1, 1, 1, 1, DOORBELL_SCOPE_THREAD, false, 256);
      post(std::string(v.name) + ", warp scope", DOORBELL_QP_CQ_COLLAPSED | v.flags, 4, 128, 1, 1, DOORBELL_SCOPE_WARP, false, 256);
      post(std::string(v.name) + ", ring CQ", v.flags, 4, 128, 1, 1, DOORBELL_SCOPE_THREAD, false, 256);
    }
  }
  if (which == "many" || which == "all") {
    for (int i = 0; i < 2; ++i) {
      const variant &v = variants[i];
      const uint32_t flags = DOORBELL_QP_CQ_COLLAPSED | v.flags;
      post(std::string(v.name) + ", warp", flags, 16, 128, 4, 4, DOORBELL_SCOPE_WARP, false, 256);
      post(std::string(v.name) + ", warp", flags, 32, 256, 4, 4, DOORBELL_SCOPE_WARP, false, 256);
      post(std::string(v.name) + ", thread", flags, 16, 128, 4, 4, DOORBELL_SCOPE_THREAD, false, 256);
      post(std::string(v.name) + ", thread", flags, 32, 256, 4, 4, DOORBELL_SCOPE_THREAD, false, 256);
      post(std::string(v.name) + ", warp", flags, 32, 256, 16, 12, DOORBELL_SCOPE_WARP, false, 256);
      post(std::string(v.name) + ", thread", flags, 32, 256, 16, 12, DOORBELL_SCOPE_THREAD, false, 256);
      post(std::string(v.name) + ", thread", flags, 132, 256, 32, 12, DOORBELL_SCOPE_THREAD, false, 256);
    }
  }
  if (which == "gpu" || which == "all") {
    for (int i = 0; i < 2; ++i) {
      const variant &v = variants[i];
      const uint32_t flags = DOORBELL_QP_CQ_COLLAPSED | v.flags;
      for (const auto &grid : shapes) {
        post(std::string(v.name) + ", GPU ring", flags, grid[0], grid[1], 1, 1, DOORBELL_SCOPE_THREAD, true, 256);
      }
      post(std::string(v.name) + ", GPU ring", flags, 32, 256, 4, 4, DOORBELL_SCOPE_WARP, true, 256);
      post(std::string(v.name) + ", GPU ring", flags, 32, 256, 16, 16, DOORBELL_SCOPE_WARP, true, 256);
      post(std::string(v.name) + ", GPU ring", flags, 32, 256, 16, 16, DOORBELL_SCOPE_THREAD, true, 256);
    }
  }
  return good;
}

// What one operation costs its thread and how long it takes, one thread, one operation at a time; and
// what the thread posts in a second. Puts of 8 bytes.
bool price(rig &r, bool gpu, int repeat) {
  struct row {
    const char *name;
    kernel_name kernel;
    uint32_t flags;
    uint32_t window;    // of put_batch and put_exclusive: puts of a doorbell
    uint64_t rest = 0;  // nanoseconds between a post and its wait
    uint32_t inlined = 0;  // bytes of a payload in the WQE
  };
  constexpr uint32_t kCollapsed = DOORBELL_QP_CQ_COLLAPSED;
  constexpr uint32_t kLast = DOORBELL_QP_RECORD_LAST;
  constexpr uint32_t kOwn = DOORBELL_QP_EXCLUSIVE;
  const row rows[] = {
      {"least, record first", kMinimal, 0, 1},
      {"record first", kPrice, kCollapsed, 0},
      {"record first, ring CQ", kPrice, 0, 0},
      {"record first, exclusive", kPrice, kCollapsed | kOwn, 0},
      {"record last", kPrice, kCollapsed | kLast, 0},
      {"record last, exclusive", kPrice, kCollapsed | kLast | kOwn, 0},
      {"no record", kPrice, kCollapsed | DOORBELL_QP_NO_RECORD, 0},
      {"no record, exclusive", kPrice, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, 0},
      {"light, record first", kLight, kCollapsed | kOwn, 0},
      {"light, no record", kLight, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, 0},
      {"poster, record first", kExclusive, kCollapsed | kOwn, 1},
      {"poster, record last", kExclusive, kCollapsed | kLast | kOwn, 1},
      {"poster, no record", kExclusive, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, 1},
      {"8 B in the WQE", kPrice, kCollapsed, 0, 0, 8},
      {"8 B in the WQE, exclusive", kPrice, kCollapsed | kOwn, 0, 0, 8},
      {"92 B in the WQE", kPrice, kCollapsed, 0, 0, 92},
      {"least, after 15 us", kMinimal, 0, 1, 15'000},
      {"record first, after 15 us", kPrice, kCollapsed, 0, 15'000},
      {"exclusive, after 15 us", kPrice, kCollapsed | kOwn, 0, 15'000},
      {"batch of 1", kBatch, kCollapsed, 1},
      {"batch of 1, exclusive", kBatch, kCollapsed | kOwn, 1},
      {"batch of 16", kBatch, kCollapsed, 16},
      {"batch of 16, exclusive", kBatch, kCollapsed | kOwn, 16},
      {"batch of 16, last, excl.", kBatch, kCollapsed | kLast | kOwn, 16},
      {"poster, first, 16 at once", kExclusive, kCollapsed | kOwn, 16},
      {"poster, last, 16 at once", kExclusive, kCollapsed | kLast | kOwn, 16},
      {"poster, after 15 us", kExclusive, kCollapsed | kOwn, 1, 15'000},
      {"poster, last, after 15 us", kExclusive, kCollapsed | kLast | kOwn, 1, 15'000},
  };
  bool good = true;
  for (const row &one : rows) {
    if (!r.has(one.kernel)) {
      printf("%-28s not in this folder\n", one.name);
      continue;
    }
    if (gpu && one.inlined != 0) {
      continue;  // gpu_nic.cuh reads WQEs with a pointer alone
    }
    shape s;
    s.kernel = one.kernel;
    s.flags = one.flags;
    s.window = one.window;
    if (one.kernel == kExclusive) {
      s.wqes = one.window;
    }
    s.rest = one.rest;
    if (one.inlined != 0) {
      s.opcode = DOORBELL_OP_PUT_INLINE;
      s.bytes = one.inlined;
    }
    s.gpu_rings = gpu;
    s.operand = one.kernel == kMinimal ? (gpu ? 3 : 6) : 7;
    std::vector<double> issue50, done50, done99, wait50, rates;
    for (int i = 0; i < repeat && good; ++i) {
      for (bool timed : {true, false}) {
        if (!timed && one.kernel != kBatch && one.kernel != kLight && one.kernel != kExclusive) {
          continue;
        }
        s.timed = timed;
        s.iterations = timed ? 4000 : 100'000 / std::max(1u, s.window);
        s.warmup = s.iterations / 10;
        const result got = r.run(s, 1000 + i);
        if (!got.fault.empty()) {
          printf("FAULT %s %s: %s\n", one.name, s.text().c_str(), got.fault.c_str());
          good = false;
          break;
        }
        if (timed) {
          issue50.push_back(static_cast<double>(got.issue[s.iterations / 2]));
          done50.push_back(static_cast<double>(got.done[s.iterations / 2]));
          done99.push_back(static_cast<double>(got.done[s.iterations * 99 / 100]));
          if (s.rest != 0) {
            wait50.push_back(static_cast<double>(got.wait[s.iterations / 2]));
          }
        } else {
          rates.push_back(got.rate);
        }
      }
    }
    if (!good) {
      return false;
    }
    const auto median = [](std::vector<double> of) {
      std::sort(of.begin(), of.end());
      return of.empty() ? 0.0 : of[of.size() / 2];
    };
    const auto spread = std::minmax_element(done50.begin(), done50.end());
    printf("%-28s %s rings  issue p50 %6.0f ns  done p50 %6.0f [%.0f-%.0f] p99 %6.0f ns", one.name,
           gpu ? "gpu " : "host", median(issue50), median(done50), *spread.first, *spread.second,
           median(done99));
    if (!wait50.empty()) {
      const auto waits = std::minmax_element(wait50.begin(), wait50.end());
      printf("  wait p50 %6.0f [%.0f-%.0f] ns", median(wait50), *waits.first, *waits.second);
    }
    if (!rates.empty()) {
      printf("  rate %7.3f M/s", median(rates));
    }
    printf("\n");
    fflush(stdout);
  }
  return good;
}

// A row of a comparison.
struct row {
  std::string name;
  shape what;
  std::vector<double> issue50, issue99, done50, done99, done999, stalls, smooth99, rates;
  int voids = 0;
  std::string reason;
};

bool turn_about(rig &r, std::vector<row> &rows, int rounds);

// Whether the HCA may refuse what it finds: a peer's, and the order without a fence.
bool may_fail(const shape &s) { return s.peer || (s.kernel == kMinimal && (s.operand & 0xff) == 0); }

// The device library, the least that is correct, and the peer that the bench was built with, turn about.
bool compare(rig &r, bool gpu, int rounds) {
  std::vector<row> rows;
  constexpr uint32_t kCollapsed = DOORBELL_QP_CQ_COLLAPSED;
  constexpr uint32_t kOwn = DOORBELL_QP_EXCLUSIVE;
  const auto price = [&](const char *name, kernel_name kernel, uint32_t flags, bool peer) {
    shape s;
    s.kernel = kernel;
    s.flags = flags;
    s.peer = peer;
    s.timed = true;
    s.window = kernel == kMinimal ? 1 : 0;
    s.operand = kernel == kMinimal ? (gpu ? 3 : 6) : 7;
    s.gpu_rings = gpu;
    s.iterations = 4000;
    s.warmup = 400;
    rows.push_back({std::string("put+completion ") + name, s});
  };
  const auto rate = [&](const char *name, kernel_name kernel, uint32_t flags, bool peer, uint32_t blocks,
                        uint32_t threads, uint32_t qps, uint32_t nics, uint32_t window) {
    shape s;
    s.kernel = kernel;
    s.flags = flags;
    s.peer = peer;
    s.blocks = blocks;
    s.threads = threads;
    s.qps = qps;
    s.nics = nics;
    s.window = window;
    if (kernel == kExclusive) {
      s.wqes = std::max(1u, window);
    }
    s.gpu_rings = gpu;
    s.scope = (peer && threads >= 32) || qps > 1 ? DOORBELL_SCOPE_WARP : DOORBELL_SCOPE_THREAD;
    const uint64_t operations = s.posters() == 1 ? 200'000 : s.posters() == 32 ? 2'000'000 : 8'000'000;
    s.iterations = std::max<uint64_t>(1, operations / s.posters() / std::max(1u, window));
    s.warmup = std::max<uint64_t>(1, s.iterations / 10);
    rows.push_back({std::string("rate ") + name, s});
  };
  price("least, record first", kMinimal, 0, false);
  price("record first", kPrice, kCollapsed, false);
  price("record first, exclusive", kPrice, kCollapsed | kOwn, false);
  price("record last", kPrice, kCollapsed | DOORBELL_QP_RECORD_LAST, false);
  price("record last, exclusive", kPrice, kCollapsed | DOORBELL_QP_RECORD_LAST | kOwn, false);
  price("no record, exclusive", kPrice, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, false);
  price("light, record first", kLight, kCollapsed | kOwn, false);
  price("light, no record", kLight, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, false);
  price("poster, record first", kExclusive, kCollapsed | kOwn, false);
  price("poster, record last", kExclusive, kCollapsed | DOORBELL_QP_RECORD_LAST | kOwn, false);
  price("poster, no record", kExclusive, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, false);
  rate("one thread, exclusive", kRate, kCollapsed | kOwn, false, 1, 1, 1, 1, 0);
  rate("record last, exclusive", kRate, kCollapsed | DOORBELL_QP_RECORD_LAST | kOwn, false, 1, 1, 1, 1, 0);
  rate("no record, exclusive", kRate, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, false, 1, 1, 1, 1, 0);
  rate("light, record first", kLight, kCollapsed | kOwn, false, 1, 1, 1, 1, 0);
  rate("light, no record", kLight, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, false, 1, 1, 1, 1, 0);
  for (const uint32_t puts : {1u, 16u}) {
    const std::string at_once = puts == 1 ? "" : ", " + std::to_string(puts) + " a doorbell";
    rate(("poster, record first" + at_once).c_str(), kExclusive, kCollapsed | kOwn, false, 1, 1, 1, 1, puts);
    rate(("poster, record last" + at_once).c_str(), kExclusive, kCollapsed | DOORBELL_QP_RECORD_LAST | kOwn, false, 1,
         1, 1, 1, puts);
    rate(("poster, no record" + at_once).c_str(), kExclusive, kCollapsed | DOORBELL_QP_NO_RECORD | kOwn, false, 1, 1, 1,
         1, puts);
  }
  rate("batch of 1", kBatch, kCollapsed, false, 1, 1, 1, 1, 1);
  rate("batch of 16", kBatch, kCollapsed, false, 1, 1, 1, 1, 16);
  rate("batch of 1, exclusive", kBatch, kCollapsed | kOwn, false, 1, 1, 1, 1, 1);
  rate("batch of 16, exclusive", kBatch, kCollapsed | kOwn, false, 1, 1, 1, 1, 16);
#ifdef DOORBELL_BENCH_PEER
  const std::string name = peer::kName;
  price(name.c_str(), kPrice, peer::kFlags, true);
  price((name + ", exclusive").c_str(), kPrice, peer::kFlags | kOwn, true);
#endif
  const uint32_t grids[][4] = {{1, 1, 1, 1},     {1, 32, 1, 1},  {1, 128, 1, 1}, {4, 128, 1, 1},
                               {16, 128, 1, 1}, {16, 128, 4, 4}, {32, 256, 16, gpu ? 16u : 12u}};
  for (const auto &grid : grids) {
    rate("record first", kRate, kCollapsed, false, grid[0], grid[1], grid[2], grid[3], 0);
#ifdef DOORBELL_BENCH_PEER
    rate(peer::kName, kRate, peer::kFlags, true, grid[0], grid[1], grid[2], grid[3], 0);
#endif
  }
  return turn_about(r, rows, rounds);
}

// Puts of put_minimal, one thread, by what stands between WQE, record and doorbell, and beside them the library's. `far`:
// rings in GPU memory and doorbells in host memory, as a NIC's are elsewhere.
bool orders(rig &r, bool gpu, bool far, int rounds) {
  constexpr uint64_t kRegisters = 1 << 18;
  constexpr uint32_t kOwn = DOORBELL_QP_CQ_COLLAPSED | DOORBELL_QP_EXCLUSIVE;
  struct order {
    const char *name;
    kernel_name kernel;
    uint32_t flags;
    uint64_t operand;
  };
  const order all[] = {
      {"none", kMinimal, 0, kRegisters | 0},
      {"fence", kMinimal, 0, kRegisters | 1},
      {"fenced-record", kMinimal, 0, kRegisters | 3},
      {"system", kMinimal, 0, kRegisters | 6},
      {"no-record", kMinimal, DOORBELL_QP_NO_RECORD, kRegisters | 7},
      {"read-back", kMinimal, 0, kRegisters | 9},
      {"library, record first", kPrice, kOwn, 0},
      {"library, record last", kPrice, kOwn | DOORBELL_QP_RECORD_LAST, 0},
      {"library, no record", kPrice, kOwn | DOORBELL_QP_NO_RECORD, 0},
      {"light, no record", kLight, kOwn | DOORBELL_QP_NO_RECORD, 0},
      {"poster, record first", kExclusive, kOwn, 0},
      {"poster, record last", kExclusive, kOwn | DOORBELL_QP_RECORD_LAST, 0},
      {"poster, no record", kExclusive, kOwn | DOORBELL_QP_NO_RECORD, 0},
  };
  std::vector<row> rows;
  for (const order &one : all) {
    shape s;
    s.kernel = one.kernel;
    s.flags = one.flags;
    s.operand = one.operand;
    s.gpu_rings = gpu;
    s.far_doorbell = far;
    s.timed = true;
    s.window = one.kernel == kMinimal ? 1 : 0;
    s.iterations = 20'000;
    s.warmup = 400;
    s.deadline = may_fail(s) ? kBriefDeadline : kDeadline;
    if (one.operand == kRegisters && !gpu) {
      continue;  // its WQEs come late to host memory, and the HCA refuses them
    }
    rows.push_back({std::string("put+completion ") + one.name, s});
    s.timed = false;
    s.kernel = one.kernel == kPrice ? kRate : one.kernel;
    s.window = one.kernel == kMinimal ? 512 : 0;
    s.iterations = 200'000;
    s.warmup = 20'000;
    rows.push_back({std::string("rate ") + one.name, s});
    if (one.operand == (kRegisters | 1) || one.operand == (kRegisters | 9)) {
      s.wqes = 16;
      s.window = 32;
      s.iterations /= 16;
      s.warmup /= 16;
      rows.push_back({std::string("rate ") + one.name + ", 16 a doorbell", s});
    }
  }
  return turn_about(r, rows, rounds);
}

// Rows turn about: a round is one run of each. A run in which a peer did what an HCA would not accept is void, and
// says why; so is one of the order `none`. Of any other it is the end.
bool turn_about(rig &r, std::vector<row> &rows, int rounds) {
  // A post path of a fast library takes a tenth of a second for what takes one with a lock minutes: so a first,
  // short run says how many operations are half a second's.
  for (row &one : rows) {
    shape &s = one.what;
    if (s.timed || (!s.peer && !r.has(s.kernel))) {
      continue;
    }
    shape pilot = s;
    const uint64_t each = s.kernel == kBatch ? std::max(1u, s.window) : s.wqes;
    pilot.iterations = std::max<uint64_t>(2, 20'000 / s.posters() / each);
    pilot.warmup = 1;
    const result got = r.run(pilot, 999);
    if (got.fault.empty()) {
      const auto most = static_cast<uint64_t>(got.rate * 1e6 * kRowSeconds) / s.posters() / each;
      s.iterations = std::max(pilot.iterations, std::min(s.iterations, most));
      s.warmup = std::max<uint64_t>(1, s.iterations / 10);
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (row &one : rows) {
      if (!one.what.peer && !r.has(one.what.kernel)) {
        continue;
      }
      const result got = r.run(one.what, 1000 + round);
      if (!got.fault.empty()) {
        if (!may_fail(one.what)) {
          printf("FAULT %s %s: %s\n", one.name.c_str(), one.what.text().c_str(), got.fault.c_str());
          return false;
        }
        ++one.voids;
        one.reason = got.fault;
        continue;
      }
      if (one.what.timed) {
        const auto at = [&](const std::vector<uint64_t> &of, uint64_t permille) {
          return static_cast<double>(of[one.what.iterations * permille / 1000]);
        };
        one.issue50.push_back(at(got.issue, 500));
        one.issue99.push_back(at(got.issue, 990));
        one.done50.push_back(at(got.done, 500));
        one.done99.push_back(at(got.done, 990));
        one.done999.push_back(at(got.done, 999));
        one.stalls.push_back(got.stalls);
        if (!got.smooth.empty()) {
          one.smooth99.push_back(static_cast<double>(got.smooth[got.smooth.size() * 99 / 100]));
        }
      } else {
        one.rates.push_back(got.rate);
      }
    }
    printf("# round %d of %d\n", round + 1, rounds);
    fflush(stdout);
  }
  const auto text = [](std::vector<double> of) {
    if (of.empty()) {
      return std::string("-");
    }
    std::sort(of.begin(), of.end());
    char out[80];
    snprintf(out, sizeof out, "%.4g [%.4g-%.4g]", of[of.size() / 2], of.front(), of.back());
    return std::string(out);
  };
  for (const row &one : rows) {
    const shape &s = one.what;
    printf("%-44s %s rings ", one.name.c_str(), s.gpu_rings ? "gpu " : "host");
    if (s.timed) {
      printf("issue p50 %-18s p99 %-18s done p50 %-18s p99 %-18s p99.9 %-18s ns", text(one.issue50).c_str(),
             text(one.issue99).c_str(), text(one.done50).c_str(), text(one.done99).c_str(),
             text(one.done999).c_str());
      if (!s.gpu_rings) {
        printf("  HCA stalls/1000 %s, p99 beside none %s", text(one.stalls).c_str(), text(one.smooth99).c_str());
      }
    } else {
      printf("%2ux%-3u %2u qp %2u nic  %-26s M/s", s.blocks, s.threads, s.qps, s.nics,
             text(one.rates).c_str());
    }
    printf("  n %llu x %zu", static_cast<unsigned long long>(s.iterations * s.posters() * std::max(1u, s.wqes)),
           (s.timed ? one.done50 : one.rates).size());
    if (one.voids != 0) {
      printf("  void: %d of %d runs, %s", one.voids, rounds, one.reason.c_str());
    }
    printf("\n");
  }
  return true;
}

// A random shape of put_exclusive.
shape draw_exclusive(std::mt19937_64 &random) {
  const auto draw = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  shape s;
  s.kernel = kExclusive;
  s.depth = 1u << draw(11);
  s.gpu_rings = draw(2) == 0;
  s.bytes = s.gpu_rings ? 8 : 8 * (1 + draw(8));
  s.qps = 1 + draw(8);
  s.nics = 1 + draw(4);
  s.threads = s.qps;
  s.wqes = draw(2) == 0 ? 1 : 1 + draw(40);
  const uint32_t records[] = {0, DOORBELL_QP_RECORD_LAST, DOORBELL_QP_RECORD_LAST, DOORBELL_QP_NO_RECORD};
  s.flags = DOORBELL_QP_CQ_COLLAPSED | DOORBELL_QP_EXCLUSIVE | records[draw(4)];
  s.timed = draw(4) == 0;
  s.warmup = draw(2);
  s.iterations = 1 + (2000 + draw(s.depth < 16 || s.timed ? 8000 : 60000)) / s.posters() / s.wqes;
  return s;
}

// Random shapes, small rings above all; every operation is checked by the HCA and by its effect.
bool verify(rig &r, uint64_t seed, int rounds) {
  std::mt19937_64 random(seed);
  std::mt19937_64 exclusive(seed + 1'000'000'007);
  const auto draw = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  uint64_t operations = 0;
  int faults = 0;
  for (int round = 0; round < rounds; ++round) {
    shape s;
    s.depth = 1u << draw(11);
    s.gpu_rings = draw(4) == 0;
    const uint32_t opcodes[] = {DOORBELL_OP_PUT,        DOORBELL_OP_PUT,        DOORBELL_OP_PUT,
                                DOORBELL_OP_PUT_INLINE, DOORBELL_OP_GET,        DOORBELL_OP_FETCH_ADD,
                                DOORBELL_OP_PUT_SIGNAL, DOORBELL_OP_COMPARE_SWAP};
    s.opcode = s.gpu_rings ? DOORBELL_OP_PUT : opcodes[draw(8)];
    s.bytes = s.gpu_rings ? 8 : 8 * (1 + draw(8));
    const uint32_t needed = s.opcode == DOORBELL_OP_PUT_SIGNAL   ? 2
                            : s.opcode == DOORBELL_OP_PUT_INLINE ? (36 + s.bytes + 63) / 64
                                                                 : 1;
    if (needed > s.depth) {
      s.depth = 2;
    }
    s.qps = 1 + draw(draw(2) == 0 ? 1 : 8);
    s.nics = 1 + draw(4);
    s.blocks = 1 + draw(draw(2) == 0 ? 2 : 32);
    s.threads = draw(2) == 0 ? 32 << draw(4) : 1 + draw(200);
    s.scope = draw(3) == 0 ? DOORBELL_SCOPE_WARP : DOORBELL_SCOPE_THREAD;
    s.batch = 1u << draw(9);
    s.window = draw(3) == 0 ? 1 + draw(8) : 0;
    s.cq_factor = 1 + draw(2);
    s.flags = draw(2) == 0 ? DOORBELL_QP_CQ_COLLAPSED : draw(2) == 0 ? DOORBELL_QP_CQ_RECORD : 0;
    const uint32_t records[] = {0, 0, DOORBELL_QP_NO_RECORD, DOORBELL_QP_RECORD_LAST};
    s.flags |= records[draw(4)];
    if (s.posters() == s.qps && draw(2) == 0) {
      s.flags |= DOORBELL_QP_EXCLUSIVE;
    }
    const uint32_t total = 2000 + draw(s.depth < 16 ? 8000 : 60000);
    s.iterations = 1 + total / s.posters();
    s.warmup = draw(2);
    const result one = r.run(s, random());
    if (!one.fault.empty()) {
      printf("FAULT seed %llu round %d, %s: %s\n", static_cast<unsigned long long>(seed), round,
             s.text().c_str(), one.fault.c_str());
      if (++faults == 5) {
        return false;
      }
    }
    operations += s.posters() * (s.iterations + s.warmup);
    if (!r.has(kExclusive)) {
      continue;
    }
    const shape held = draw_exclusive(exclusive);
    const result other = r.run(held, exclusive());
    if (!other.fault.empty()) {
      printf("FAULT seed %llu round %d, put_exclusive %s: %s\n", static_cast<unsigned long long>(seed), round,
             held.text().c_str(), other.fault.c_str());
      if (++faults == 5) {
        return false;
      }
    }
    operations += held.posters() * held.wqes * (held.iterations + held.warmup);
  }
  if (faults != 0) {
    return false;
  }
  printf("verified %d rounds, seed %llu, %llu operations: every one executed once, in order, with "
         "its bytes\n",
         rounds, static_cast<unsigned long long>(seed),
         static_cast<unsigned long long>(operations));
  fflush(stdout);
  return true;
}

// How often an order lets the GPU's HCA find a WQE that is not there yet: posters with a queue pair each, in blocks of
// their own, over rings that hold other bytes, so that each part of a WQE is told from what was there before. Other
// blocks stream through memory in half of the runs.
bool torn(rig &r, uint64_t seed, int runs) {
  struct order {
    const char *name;
    kernel_name kernel;
    uint32_t flags;
    uint64_t number;
    uint64_t puts = 0;
    int refused = 0;
    std::string reason;
  };
  constexpr uint32_t kOwn = DOORBELL_QP_CQ_COLLAPSED | DOORBELL_QP_EXCLUSIVE;
  order all[] = {{"none", kMinimal, 0, 0},
                 {"fence", kMinimal, 0, 1},
                 {"fenced-record", kMinimal, 0, 3},
                 {"read-back", kMinimal, 0, 9},
                 {"poster, first", kExclusive, kOwn, 3},
                 {"poster, last", kExclusive, kOwn | DOORBELL_QP_RECORD_LAST, 8},
                 {"poster, no record", kExclusive, kOwn | DOORBELL_QP_NO_RECORD, 7}};
  std::mt19937_64 random(seed);
  for (int run = 0; run < runs; ++run) {
    shape s;
    s.gpu_rings = true;
    s.depth = kMaxDepth;
    s.qps = 1 + random() % kMaxQueues;
    s.blocks = s.qps;
    s.noise = run % 2 != 0;
    s.far_doorbell = random() % 4 == 0;
    s.wqes = 1u << random() % 5;
    s.window = 1 + random() % (s.depth / s.wqes);
    s.iterations = s.depth / s.wqes * (random() % 4 == 0 ? 2 : 1);
    s.deadline = kBriefDeadline;
    const uint64_t each = random();
    for (order &one : all) {
      if (!r.has(one.kernel)) {
        continue;
      }
      s.kernel = one.kernel;
      s.flags = one.flags;
      s.operand = 1 << 18 | one.number;
      const result got = r.run(s, each);
      if (got.fault.empty()) {
        one.puts += s.posters() * s.iterations * s.wqes;
        continue;
      }
      ++one.refused;
      if (one.reason.empty()) {
        one.reason = got.fault + "; " + s.text();
      }
    }
  }
  bool good = true;
  for (const order &one : all) {
    printf("order %-17s %4d runs, seed %llu: %4d refused, %llu puts in the others%s%s\n", one.name, runs,
           static_cast<unsigned long long>(seed), one.refused, static_cast<unsigned long long>(one.puts),
           one.reason.empty() ? "" : "; first: ", one.reason.c_str());
    good = good && (one.number == 0 || one.refused == 0);
  }
  fflush(stdout);
  return good;
}

}  // namespace bench

int main(int argc, char **argv) {
  // Code that is loaded at its first launch waits for kernels that run: for the GPU's HCA, for ever.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const std::string command = argc > 1 ? argv[1] : "";
  const bool rates = command == "table" && argc == 5;
  const bool rounds = command == "verify" && argc == 5;
  const bool row = command == "row" && argc == 10;
  const bool prices = command == "price" && argc == 5;
  const bool compares = command == "compare" && argc == 5;
  const bool posts = command == "orders" && argc == 5;
  const bool tears = command == "torn" && argc == 5;
  const bool fences = command == "fences" && argc == 4;
  if (!rates && !rounds && !row && !prices && !compares && !posts && !tears && !fences) {
    fprintf(stderr,
            "usage: bench table PTX_DIRECTORY host|many|gpu|all REPETITIONS\n"
            "       bench price PTX_DIRECTORY host|gpu REPETITIONS\n"
            "       bench compare PTX_DIRECTORY host|gpu ROUNDS\n"
            "       bench orders PTX_DIRECTORY host|gpu|far ROUNDS\n"
            "       bench torn PTX_DIRECTORY SEED RUNS\n"
            "       bench fences PTX_DIRECTORY REPETITIONS\n"
            "       bench row PTX_DIRECTORY[,PTX_DIRECTORY...] BLOCKS THREADS QPS HCA_THREADS DEPTH OPERATIONS "
            "REPETITIONS\n"
            "       bench verify PTX_DIRECTORY SEED ROUNDS\n");
    return 2;
  }
  std::vector<std::string> folders = {argv[2]};
  if (row) {
    folders.clear();
    std::stringstream names(argv[2]);
    for (std::string name; std::getline(names, name, ',');) {
      folders.push_back(name);
    }
  }
  bench::rig rig(folders);
  bool good;
  if (row) {
    bench::shape s;
    s.blocks = atoi(argv[3]);
    s.threads = atoi(argv[4]);
    s.qps = atoi(argv[5]);
    s.nics = atoi(argv[6]);
    s.depth = atoi(argv[7]);
    const std::string name = "record first, depth " + std::to_string(s.depth);
    const uint64_t operations = strtoull(argv[8], nullptr, 0);
    good = folders.size() == 1 ? bench::measure(rig, name.c_str(), s, operations, atoi(argv[9]))
                               : bench::versions(rig, folders, s, operations, atoi(argv[9]));
  } else if (compares) {
    good = bench::compare(rig, argv[3] == std::string("gpu"), atoi(argv[4]));
  } else if (posts) {
    const std::string where = argv[3];
    good = bench::orders(rig, where != "host", where == "far", atoi(argv[4]));
  } else if (fences) {
    good = bench::fences(std::max(1, atoi(argv[3])));
  } else if (tears) {
    good = bench::torn(rig, strtoull(argv[3], nullptr, 0), atoi(argv[4]));
  } else if (prices) {
    good = bench::price(rig, argv[3] == std::string("gpu"), atoi(argv[4]));
  } else {
    good = rates ? bench::table(rig, argv[3], atoi(argv[4]))
                 : bench::verify(rig, strtoull(argv[3], nullptr, 0), atoi(argv[4]));
  }
  fflush(stdout);
  return good ? 0 : 1;
}
