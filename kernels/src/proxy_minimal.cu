// proxy_minimal: puts that a CPU thread posts, handed over by the fewest accesses that it takes.
//
// It measures what a handoff to the CPU costs apart from what the device library adds: one put an entry
// (doorbell/handoff.cuh, doorbell/handoff_family.cuh).
//
//   baseline  16 bytes. Reserve by an atomic; read the CPU's progress from host memory; publish by a
//             release of system scope. Any number of producers a ring, as of all but one of the others.
//   tuned     16 bytes. One 16-byte store; the progress is cached. One producer a ring.
//   full      64 bytes. Fence of system scope; an atomic; the progress is cached; four 16-byte stores.
//   fifo      16 bytes. An atomic; the progress is cached; one 16-byte store.
//   wide      128 bytes. Fence of system scope; an atomic; the progress from host memory; eight stores.
//
// Launch     any grid. Without samples and inbox every thread is a producer: producer t uses ring t %
//            qp_count. Otherwise thread 0 is a probe on ring 0, and all threads of blocks 1 and up are
//            its background: they enqueue messages of chunk_bytes until the probe has ended. Ping-pong:
//            launched twice at once, role 0 and 1, the latter without background.
// Job        local, remote, bytes, stride, iterations, warmup, opcode (PUT, or PUT_INLINE of a payload
//            in host memory), qp_count, role, inbox, samples, stamps. local and remote are where the
//            regions begin that the CPU knows, and local_key and remote_key theirs; producer t, or
//            thread t of the background at t + 1, puts the bytes at t * stride. Of a ping-pong, every other
//            message lies behind these.
//            operand      0: baseline, 1: tuned, 2: full, 3: fifo, 4: wide
//            compare      1: the background shares the probe's ring, thread t of it uses ring t %
//                         qp_count; else it has rings of its own, 1 + t % (qp_count - 1)
//            window       puts of a producer in flight; 0: as many as the ring takes
//            staging      with a background: uint64_t[2], zeroed: the probe has ended; threads of the
//                         background that have begun
// Queues     qps[r].commands describes ring r, with entries of that size; qps[r].number is the queue pair
//            that the CPU is to post to. Rings are new: tuned producers begin at index 0.
// Order      payload is not written during the run, but for the word of a ping-pong; between that and an
//            enqueue that orders nothing (tuned, fifo) stands a fence of system scope.
// Who else   the CPU thread that serves the rings; the HCA.
// Samples    uint64_t[iterations] nanoseconds from before the enqueue until it returned; behind those
//            uint64_t[iterations] from before the enqueue until the CPU's counter covered it. With an
//            inbox, uint64_t[iterations] of whole round trips, of role 0.
// Stamps     of producers: first enqueue after the warm-up, last completion.
#include "doorbell/handoff_family.cuh"
#include "protocol.cuh"

using namespace doorbell;

namespace {

// job.operand
constexpr uint64_t kTuned = 1;
constexpr uint64_t kFull = 2;
constexpr uint64_t kFifo = 3;
constexpr uint64_t kWide = 4;

template <class handoff>
__device__ __forceinline__ handoff handoff_of(const doorbell_command_queue *queue,
                                              const doorbell_job &) {
  return handoff(queue);
}

template <>
__device__ __forceinline__ full_handoff handoff_of<full_handoff>(
    const doorbell_command_queue *queue, const doorbell_job &job) {
  return full_handoff(queue, {job.remote, job.local, job.remote_key, job.local_key});
}

// A thread of the background ends after so many messages, whatever the probe does.
constexpr uint64_t kMostOfBackground = 1u << 24;

template <class handoff>
class minimal_proxy {
 public:
  __device__ __forceinline__ minimal_proxy(const doorbell_qp *qp, const doorbell_job &job)
      : qp_(qp),
        number_(qp->number),
        deadline_ns_(qp->deadline_ns),
        queue_(reinterpret_cast<const doorbell_command_queue *>(qp->commands)),
        handoff_(handoff_of<handoff>(queue_, job)) {}

  __device__ __forceinline__ command_ticket enqueue(const doorbell_job &job, uint64_t offset,
                                                    uint32_t bytes) {
    return enqueue(job, offset, offset, bytes);
  }

  __device__ __forceinline__ command_ticket enqueue(const doorbell_job &job, uint64_t remote,
                                                    uint64_t local, uint32_t bytes) {
    return handoff_.put({remote, local, job.opcode, number_, bytes}, deadline_ns_);
  }

  __device__ __forceinline__ uint32_t await(uint64_t index) const {
    return command_wait(qp_, queue_, index, deadline_ns_);
  }

 private:
  const doorbell_qp *qp_;
  const uint32_t number_;
  const uint64_t deadline_ns_;
  const doorbell_command_queue *queue_;
  handoff handoff_;
};

// Puts with at most job.window of them in flight, in two halves.
template <class handoff>
__device__ __forceinline__ uint32_t stream(const doorbell_qp *qp, const doorbell_job &job,
                                           uint64_t offset) {
  minimal_proxy<handoff> proxy(qp, job);
  const bool two = job.window > 1;
  const uint32_t half = two ? job.window / 2 : job.window;
  const uint64_t total = job.warmup + job.iterations;
  uint64_t previous = 0;
  uint32_t left = half;
  command_ticket sent{0, DOORBELL_OK};
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    if (turn == job.warmup) {
      protocol::stamp_start(job, global_time());
    }
    sent = proxy.enqueue(job, offset, static_cast<uint32_t>(job.bytes));
    status = sent.status;
    if (status == DOORBELL_OK && half != 0 && --left == 0) {
      const bool first = two && turn + 1 == half;
      status = first ? DOORBELL_OK : proxy.await(two ? previous : sent.index);
      previous = sent.index;
      left = half;
    }
  }
  if (status == DOORBELL_OK && total != 0) {
    status = proxy.await(sent.index);
  }
  protocol::stamp_end(job, global_time());
  return status;
}

// One put at a time, timed.
template <class handoff>
__device__ __forceinline__ uint32_t probe(const doorbell_qp *qp, const doorbell_job &job) {
  minimal_proxy<handoff> proxy(qp, job);
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const uint64_t total = job.warmup + job.iterations;
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    const command_ticket sent = proxy.enqueue(job, 0, static_cast<uint32_t>(job.bytes));
    const uint64_t enqueued = global_time();
    status = sent.status == DOORBELL_OK ? proxy.await(sent.index) : sent.status;
    if (turn >= job.warmup) {
      samples[turn - job.warmup] = enqueued - start;
      samples[turn - job.warmup + job.iterations] = global_time() - start;
    }
  }
  return status;
}

// Round trips of one word with a peer that runs the same; the word is the message's last. Messages of odd turns lie
// `odd` bytes behind local.
template <class handoff>
__device__ __forceinline__ uint32_t bounce(const doorbell_qp *qp, const doorbell_job &job, uint64_t odd) {
  minimal_proxy<handoff> proxy(qp, job);
  const queue_pair waiting(qp);
  const uint64_t last_word = job.bytes - 8;
  const uint64_t *inbox = reinterpret_cast<const uint64_t *>(job.inbox + last_word);
  // The next word is stored, and fenced, while the answer to this one is under way. The answer to the word before this one
  // says that its place is free.
  const auto prepare = [&](uint64_t turn) {
    store_relaxed_system(reinterpret_cast<uint64_t *>(job.local + (turn & 1) * odd + last_word), turn + 1);
    if (!handoff::kOrders) {
      fence(true);
    }
  };
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const uint64_t total = job.warmup + job.iterations;
  command_ticket sent{0, DOORBELL_OK};
  uint32_t status = DOORBELL_OK;
  prepare(0);
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    if (job.role == 1) {
      status = wait_for_word(waiting, inbox, turn + 1);
    }
    if (status == DOORBELL_OK) {
      sent = proxy.enqueue(job, 0, (turn & 1) * odd, static_cast<uint32_t>(job.bytes));
      status = sent.status;
      prepare(turn + 1);
    }
    if (job.role == 0 && status == DOORBELL_OK) {
      status = wait_for_word(waiting, inbox, turn + 1);
      if (turn >= job.warmup && samples != nullptr) {
        samples[turn - job.warmup] = global_time() - start;
      }
    }
  }
  return status == DOORBELL_OK && total != 0 ? proxy.await(sent.index) : status;
}

// Bulk messages until the probe has ended.
template <class handoff>
__device__ __forceinline__ uint32_t background(const doorbell_qp *qp, const doorbell_job &job,
                                               uint64_t offset) {
  minimal_proxy<handoff> proxy(qp, job);
  uint64_t *words = reinterpret_cast<uint64_t *>(job.staging);
  command_ticket sent{0, DOORBELL_OK};
  for (uint64_t n = 0; n < kMostOfBackground && load_relaxed_device(words) == 0; ++n) {
    sent = proxy.enqueue(job, offset, job.chunk_bytes);
    if (n == 0) {
      detail::device_counter(words[1]).fetch_add(1, cuda::memory_order_relaxed);
    }
    if (sent.status != DOORBELL_OK) {
      return sent.status;
    }
  }
  return proxy.await(sent.index);
}

// Waits until every thread of the background has enqueued something.
__device__ __forceinline__ uint32_t await_background(const doorbell_qp *qp,
                                                     const doorbell_job &job, uint64_t threads) {
  const uint64_t *words = reinterpret_cast<const uint64_t *>(job.staging);
  deadline limit(qp->deadline_ns);
  while (load_relaxed_device(words + 1) < threads) {
    if (limit.due() && limit.passed()) {
      return DOORBELL_ERROR_DEADLINE;
    }
  }
  return DOORBELL_OK;
}

template <class handoff>
__device__ __forceinline__ uint32_t minimal(const doorbell_qp *qps, const doorbell_job &job) {
  const uint64_t thread = thread_index();
  const uint32_t rings = job.qp_count == 0 ? 1 : job.qp_count;
  if (job.samples == 0 && job.inbox == 0) {
    return stream<handoff>(&qps[thread % rings], job, thread * job.stride);
  }
  const uint64_t of_block = blockDim.x * blockDim.y * static_cast<uint64_t>(blockDim.z);
  const uint64_t company = gridDim.x * of_block - of_block;
  if (thread >= of_block) {
    const uint64_t mine = thread - of_block;
    const uint64_t ring = job.compare == 1 || rings == 1 ? mine % rings : 1 + mine % (rings - 1);
    return background<handoff>(&qps[ring], job, (mine + 1) * job.stride);
  }
  if (thread != 0) {
    return DOORBELL_OK;
  }
  uint32_t status = company == 0 ? DOORBELL_OK : await_background(qps, job, company);
  if (status == DOORBELL_OK) {
    status = job.inbox != 0 ? bounce<handoff>(qps, job, (1 + company) * job.stride) : probe<handoff>(qps, job);
  }
  if (company != 0) {
    store_relaxed_device(reinterpret_cast<uint64_t *>(job.staging), 1);
  }
  return status;
}

}  // namespace

extern "C" __global__ void proxy_minimal(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  uint32_t status;
  switch (job.operand) {
    case kTuned:
      status = minimal<private_handoff>(qps, job);
      break;
    case kFull:
      status = minimal<full_handoff>(qps, job);
      break;
    case kFifo:
      status = minimal<fifo_handoff>(qps, job);
      break;
    case kWide:
      status = minimal<wide_handoff>(qps, job);
      break;
    default:
      status = minimal<shared_handoff>(qps, job);
  }
  protocol::report(job, status);
}
